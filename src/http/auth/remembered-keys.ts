import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../../account/caller.ts';
import type { GuardRails } from '../../account/guard-rails.ts';
import { networks } from '../source.ts';

export interface RememberedKey {
  /** SHA-256 of the key text, latin1. */
  readonly digest: string;
  readonly caller: Caller;
  /** Read before the caller. While the store has the same revision, the key is unchanged. */
  readonly revision: number;
  /** ms, monotonic. */
  confirmedAt: number;
  /** SPEC D24.2; undefined: every address. */
  readonly isGoodFrom: ((address: string) => boolean) | undefined;
}

/** The least recently confirmed is evicted. Default of MAX_KEYS. */
const MOST_OF_WORKSPACE = 10_000;

/** Keys by SHA-256, as latin1 strings: the cheapest form. */
export function rememberedKeys(most = MOST_OF_WORKSPACE) {
  const keys = new Map<string, RememberedKey>();
  /** Slots per workspace, in the order of confirmation. */
  const slots = new Map<string, Set<string>>();
  /** Last read per workspace, shared by its keys: peers can be large. */
  const rails = new Map<string, GuardRails>();
  function forget(slot: string): void {
    const workspaceId = keys.get(slot)?.caller.workspaceId;
    keys.delete(slot);
    if (workspaceId === undefined) return;
    slots.get(workspaceId)?.delete(slot);
    if (slots.get(workspaceId)?.size !== 0) return;
    slots.delete(workspaceId);
    rails.delete(workspaceId);
  }
  return {
    find(digest: string): RememberedKey | undefined {
      const key = keys.get(slotOf(digest));
      return key !== undefined && isSame(key.digest, digest) ? key : undefined;
    },
    remember(digest: string, { caller, revision, confirmedAt }: Omit<RememberedKey, 'digest' | 'isGoodFrom'>): RememberedKey {
      const isGoodFrom = caller.networks.length === 0 ? undefined : networks(caller.networks);
      const slot = slotOf(digest);
      forget(slot);
      const last = rails.get(caller.workspaceId);
      const guardRails = isDeepStrictEqual(last, caller.guardRails) ? last! : caller.guardRails;
      rails.set(caller.workspaceId, guardRails);
      const key = { digest, caller: { ...caller, guardRails }, revision, confirmedAt, isGoodFrom };
      keys.set(slot, key);
      const own = slots.get(caller.workspaceId) ?? new Set();
      slots.set(caller.workspaceId, own.add(slot));
      if (own.size > most) forget(own.values().next().value!);
      return key;
    },
    forget: (digest: string) => forget(slotOf(digest)),
  };
}

export const bytesOf = (digest: string): Buffer => Buffer.from(digest, 'latin1');

/** A lookup by half of the digest leaks no timing of the rest, which is compared in constant time. */
const slotOf = (digest: string) => digest.slice(0, 16);

/** Constant time for texts of equal length, without the copies of `timingSafeEqual`. */
function isSame(known: string, given: string): boolean {
  let difference = 0;
  for (let i = 0; i < known.length; i += 1) difference |= known.charCodeAt(i) ^ given.charCodeAt(i);
  return difference === 0;
}

/** Valid until the key revision changes; the oldest is evicted. */
export function unknownKeys(most: number) {
  const digests = new Set<string>();
  let known: number | undefined;

  return {
    has: (digest: string, revision: number) => revision === known && digests.has(digest),
    /** `revision`: read before the look-up. */
    add(digest: string, revision: number) {
      if (revision !== known) digests.clear();
      known = revision;
      digests.add(digest);
      if (digests.size > most) digests.delete(digests.values().next().value!);
    },
  };
}
