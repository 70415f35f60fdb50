import { createHash, randomBytes } from 'node:crypto';
import { addressSet, difference, isEmpty } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { DAY } from '../clock.ts';
import { inWords } from '../text/duration.ts';
import { nameFault } from './name.ts';
import { DEFAULT_PERMISSIONS, type Permission, WORKSPACE_PERMISSIONS } from './permission.ts';

export interface KeyInfo {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string | null;
  /** First characters of the key text; empty for a text under 24 characters. */
  readonly prefix: string;
  readonly permissions: readonly Permission[];
  readonly listId: string | null;
  readonly feedId: string | null;
  /** Canonical networks that the key is valid from; empty: everywhere. */
  readonly networks: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A key that expires within this time and was used within it is announced, ms. */
export const ENDS_SOON = 14 * DAY;
export const IN_USE = 30 * DAY;
export const ENDING_WORDS = `Keys that end within ${inWords(ENDS_SOON)} and were used within ${IN_USE / DAY}`;

export const isEnding = ({ revokedAt, expiresAt, lastUsedAt }: KeyInfo, now: number): boolean =>
  revokedAt === null &&
  expiresAt !== null &&
  expiresAt > now &&
  expiresAt <= now + ENDS_SOON &&
  lastUsedAt !== null &&
  lastUsedAt > now - IN_USE;

export interface NewKey extends Pick<KeyInfo, 'name' | 'prefix' | 'permissions' | 'listId' | 'feedId' | 'expiresAt'> {
  readonly hash: Uint8Array;
  /** Empty or absent: everywhere. */
  readonly networks?: readonly string[];
}

export type KeyPatch = Partial<Pick<KeyInfo, 'name' | 'networks'>>;

/** The editable fields as JSON; the entity tag covers them. */
export const keyState = ({ name, networks }: Pick<KeyInfo, 'name' | 'networks'>) => ({ name, from: networks });

export const MOST_NETWORKS = 100;

export function keyNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return typeof network === 'string' ? undefined : formatNetwork(network);
}

/** Whether `networks` is a subset of `own`; empty: everywhere. */
export function isWithin(networks: readonly string[], own: readonly string[]): boolean {
  const [wanted, allowed] = [networks, own].map((texts) => addressSet(texts.map(parseNetwork).filter((each) => typeof each !== 'string')));
  return own.length === 0 || (networks.length > 0 && isEmpty(difference(wanted!, allowed!)));
}

export interface SavedKey extends Omit<KeyInfo, 'workspaceId'> {
  readonly hash: Uint8Array;
}

/**
 * Why a key cannot combine these permissions and this binding, or null: a key bound to a list cannot manage (SPEC D2.4), one bound to a
 * composed feed can only read it (SPEC D8.6).
 */
export function bindingFault({ permissions, listId, feedId }: Pick<NewKey, 'permissions' | 'listId' | 'feedId'>): string | null {
  if (feedId !== null && listId !== null) return 'a key is bound to a list or to a feed, not to both';
  if (feedId !== null && permissions.some((permission) => permission !== 'feed:read')) {
    return 'a key bound to a feed can only have feed:read';
  }
  const unavailable = listId === null ? undefined : permissions.find((permission) => WORKSPACE_PERMISSIONS.includes(permission));
  return unavailable === undefined ? null : `a key bound to a list cannot have ${unavailable}`;
}

export interface KeyRequest extends Omit<NewKey, 'hash' | 'prefix' | 'permissions'> {
  /** Default: DEFAULT_PERMISSIONS; for a key bound to a feed, reading. */
  readonly permissions?: readonly Permission[];
}

/** Creates a key. The text is returned and not stored. */
export function makeKey({
  name,
  listId,
  feedId,
  permissions = feedId === null ? DEFAULT_PERMISSIONS : ['feed:read'],
  expiresAt,
  networks = [],
}: KeyRequest): { key: NewKey; text: string } | string {
  const fault = (name === null ? null : nameFault(name)) ?? bindingFault({ permissions, listId, feedId });
  if (fault !== null) return fault;
  const text = newKeyText();
  return { key: { name, permissions, listId, feedId, expiresAt, networks, ...keyParts(text) }, text };
}

/** `weir_` and 43 URL-safe characters. */
export function newKeyText(): string {
  return `weir_${randomBytes(32).toString('base64url')}`;
}

export const BOOTSTRAP_KEY_NAME = 'bootstrap';
/** Shorter key texts can be guessed, characters. */
export const SAFE_KEY_LENGTH = 24;

/** What is stored of a key text: SHA-256, and a recognizable prefix unless the text is short. */
export function keyParts(text: string): { hash: Uint8Array; prefix: string } {
  const visible = text.length < SAFE_KEY_LENGTH ? 0 : text.startsWith('weir_') ? 9 : 4;
  return { hash: createHash('sha256').update(text).digest(), prefix: text.slice(0, visible) };
}
