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
  /** The first characters of the key text, to recognise it by; empty for a text under 24 characters. */
  readonly prefix: string;
  readonly permissions: readonly Permission[];
  readonly listId: string | null;
  readonly feedId: string | null;
  /** The networks that it is good from, in their canonical form; none: from anywhere. */
  readonly networks: readonly string[];
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

/** A key that ends within this time, and was used within that, is told before it ends, ms. */
export const ENDS_SOON = 14 * DAY;
export const IN_USE = 30 * DAY;
export const ENDING_WORDS = `Keys that end within ${inWords(ENDS_SOON)} and were used within ${IN_USE / DAY}`;

/** Whether a key is valid and in use, and ends soon; `now` in ms. */
export const isEnding = ({ revokedAt, expiresAt, lastUsedAt }: KeyInfo, now: number): boolean =>
  revokedAt === null &&
  expiresAt !== null &&
  expiresAt > now &&
  expiresAt <= now + ENDS_SOON &&
  lastUsedAt !== null &&
  lastUsedAt > now - IN_USE;

export interface NewKey extends Pick<KeyInfo, 'name' | 'prefix' | 'permissions' | 'listId' | 'feedId' | 'expiresAt'> {
  readonly hash: Uint8Array;
  /** None, or absent: from anywhere. */
  readonly networks?: readonly string[];
}

/** What can be changed of a key; what it does not name stays as it is. */
export type KeyPatch = Partial<Pick<KeyInfo, 'name' | 'networks'>>;

/** What can be changed of a key, as JSON has it: its entity tag is made of this. */
export const keyState = ({ name, networks }: Pick<KeyInfo, 'name' | 'networks'>) => ({ name, from: networks });

/** Networks that a key may name. */
export const MOST_NETWORKS = 100;

/** A network that a key names, in its canonical form; undefined where the text is none. */
export function keyNetwork(text: string): string | undefined {
  const network = parseNetwork(text);
  return typeof network === 'string' ? undefined : formatNetwork(network);
}

/** Whether a key with these networks is good from nowhere but where one with `own` is; none: from anywhere. */
export function isWithin(networks: readonly string[], own: readonly string[]): boolean {
  const [wanted, allowed] = [networks, own].map((texts) => addressSet(texts.map(parseNetwork).filter((each) => typeof each !== 'string')));
  return own.length === 0 || (networks.length > 0 && isEmpty(difference(wanted!, allowed!)));
}

/** A key as a store holds it, for `weir export` and `weir import`. */
export interface SavedKey extends Omit<KeyInfo, 'workspaceId'> {
  /** SHA-256 of the key text. */
  readonly hash: Uint8Array;
}

/**
 * Why a key cannot have these permissions and be bound so, or null: a key that is bound to a list manages nothing (SPEC D2.4), one that
 * is bound to a composed feed only reads (SPEC D8.6).
 */
export function bindingFault({ permissions, listId, feedId }: Pick<NewKey, 'permissions' | 'listId' | 'feedId'>): string | null {
  if (feedId !== null && listId !== null) return 'a key is bound to a list or to a feed, not to both';
  if (feedId !== null && permissions.some((permission) => permission !== 'feed:read')) {
    return 'a key that is bound to a feed can only hold feed:read';
  }
  const whole = listId === null ? undefined : permissions.find((permission) => WORKSPACE_PERMISSIONS.includes(permission));
  return whole === undefined ? null : `a key that is bound to a list cannot hold ${whole}`;
}

/** What a new key is made of. */
export interface KeyRequest extends Omit<NewKey, 'hash' | 'prefix' | 'permissions'> {
  /** Without any, the key has the default ones; one that is bound to a feed may read. */
  readonly permissions?: readonly Permission[];
}

/** A new key with its text, which nobody keeps; or what is wrong with the request. */
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

/** A new API key: `weir_` and 43 URL-safe characters. Shown once; only its hash is stored. */
export function newKeyText(): string {
  return `weir_${randomBytes(32).toString('base64url')}`;
}

/** The name of a store's first key. */
export const BOOTSTRAP_KEY_NAME = 'bootstrap';
/** A key text that is shorter than this can be guessed, characters. */
export const SAFE_KEY_LENGTH = 24;

/** What the store keeps of a key text: its SHA-256 and a few first characters to recognise it by, none of a short one. */
export function keyParts(text: string): { hash: Uint8Array; prefix: string } {
  const shown = text.length < SAFE_KEY_LENGTH ? 0 : text.startsWith('weir_') ? 9 : 4;
  return { hash: createHash('sha256').update(text).digest(), prefix: text.slice(0, shown) };
}
