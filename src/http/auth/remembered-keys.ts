import type { Caller } from '../../account/caller.ts';
import { networks } from '../source.ts';

/** A key as the store last knew it. */
export interface RememberedKey {
  /** SHA-256 of the key text, a character for each byte. */
  readonly digest: string;
  readonly caller: Caller;
  /** The key revision before the caller was read: while the store has the same one, nothing has changed. */
  readonly revision: number;
  /** When the store last confirmed the key, ms of the monotonic clock. */
  confirmedAt: number;
  /** Whether an address is one of those that the key is good from (SPEC D24.2); undefined: all are. */
  readonly isGoodFrom: ((address: string) => boolean) | undefined;
}

/** Keys of one workspace that are remembered: those that were shown last. As many as it may have (MAX_KEYS, unless that was raised). */
const MOST_OF_WORKSPACE = 10_000;

/**
 * An empty memory of keys that the store knew, by SHA-256: a string with one character for each byte, the cheapest form to make. Unknown
 * keys are never kept.
 */
export function rememberedKeys(most = MOST_OF_WORKSPACE) {
  const keys = new Map<string, RememberedKey>();
  /** Where those of each workspace are kept, in the order in which they were confirmed. */
  const slots = new Map<string, Set<string>>();
  function forget(slot: string): void {
    const workspaceId = keys.get(slot)?.caller.workspaceId;
    keys.delete(slot);
    if (workspaceId === undefined) return;
    slots.get(workspaceId)?.delete(slot);
    if (slots.get(workspaceId)?.size === 0) slots.delete(workspaceId);
  }
  return {
    find(digest: string): RememberedKey | undefined {
      const key = keys.get(slotOf(digest));
      return key !== undefined && isSame(key.digest, digest) ? key : undefined;
    },
    remember(digest: string, { caller, revision, confirmedAt }: Omit<RememberedKey, 'digest' | 'isGoodFrom'>): RememberedKey {
      const isGoodFrom = caller.networks.length === 0 ? undefined : networks(caller.networks);
      const key = { digest, caller, revision, confirmedAt, isGoodFrom };
      const slot = slotOf(digest);
      forget(slot);
      keys.set(slot, key);
      const own = slots.get(caller.workspaceId) ?? new Set();
      slots.set(caller.workspaceId, own.add(slot));
      if (own.size > most) forget(own.values().next().value!);
      return key;
    },
    forget: (digest: string) => forget(slotOf(digest)),
  };
}

/** The bytes of a digest. */
export const bytesOf = (digest: string): Buffer => Buffer.from(digest, 'latin1');

/** Where a digest is kept: under its first half. The whole is compared in constant time. */
const slotOf = (digest: string) => digest.slice(0, 16);

/** Compares texts of one length in constant time, without the two copies that `timingSafeEqual` would need. */
function isSame(known: string, shown: string): boolean {
  let difference = 0;
  for (let i = 0; i < known.length; i += 1) difference |= known.charCodeAt(i) ^ shown.charCodeAt(i);
  return difference === 0;
}
