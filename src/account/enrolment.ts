/** Codes with which a Linux host gets its key (SPEC D52). */
import { createHash, randomBytes } from 'node:crypto';
import type { KeyInfo } from './key.ts';

/** A code that was not used yet. It creates a key with this name, these networks and this expiry. */
export interface Enrolment extends Pick<KeyInfo, 'id' | 'workspaceId' | 'listId' | 'feedId' | 'networks'> {
  readonly name: string;
  /** Of the key, ms; null: never. */
  readonly keyExpiresAt: number | null;
  readonly createdAt: number;
  /** Of the code, ms. */
  readonly expiresAt: number;
}

export type NewEnrolment = Omit<Enrolment, 'workspaceId' | 'createdAt' | 'expiresAt'> & { readonly hash: Uint8Array };

/** Lifetime of a code, ms. */
export const CODE_LIFETIME = 600_000;
/** Open codes of a workspace. */
export const MOST_CODES = 100;
/** Safe in a URL and in a shell. */
export const CODE = /^[A-Za-z0-9_-]{32}$/;

/** 192 random bits. */
export const newCode = (): string => randomBytes(24).toString('base64url');

/** Codes are stored as their SHA-256. */
export const codeHash = (code: string): Uint8Array => createHash('sha256').update(code).digest();

/** Drivers that need nothing but the follower and the kernel, or a program of the distribution. */
export const ENROLLED_DRIVERS = ['nftables', 'ipset'] as const;
export type EnrolledDriver = (typeof ENROLLED_DRIVERS)[number];

/** The line for the host. Without `--yes` the script only prints what it would do. */
export const enrolmentCommand = (origin: string, code: string, driver: EnrolledDriver): string => {
  const more = driver === 'nftables' ? '' : ` -s -- --driver ${driver}`;
  return `curl -fsS '${origin}/enroll/${code}' | sh${more}`;
};
