import { within } from '../../clock.ts';

/** How long a key revision counts as current, and how long the store may take to tell it, ms. */
const FRESH = 1000;
const STORE_LIMIT = 1000;

/** The store's key revision as last read (decisions 2): while it stands still, no key, permission or subscription has changed. */
export interface KeyRevision {
  /** undefined until the store was read once. */
  readonly current: number | undefined;
  /** Whether the store could be read when it was last asked. */
  readonly readable: boolean;
  /** Whether the store was asked less than a second before `at` (ms, monotonic). */
  isFresh(at: number): boolean;
  /** Reads the revision when it is due. Never rejects; while the store is known to be down it does not wait for the answer. */
  refresh(): Promise<void>;
}

/** Watches the revision that `read` gets from the store. Callers that refresh at once share one read. `now`: ms, monotonic. */
export function watchKeyRevision(read: () => Promise<number>, now: () => number): KeyRevision {
  /** When the last finished read began. */
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const revision = {
    current: undefined as number | undefined,
    readable: true,
    isFresh: (at: number) => Math.abs(at - readAt) < FRESH,
    async refresh() {
      if (revision.isFresh(now())) return;
      reading ??= readNow().finally(() => {
        reading = undefined;
      });
      if (revision.readable) await reading;
    },
  };
  return revision;

  async function readNow(): Promise<void> {
    const began = now();
    try {
      revision.current = await within(read(), STORE_LIMIT, 'the store');
      revision.readable = true;
    } catch {
      revision.readable = false;
    }
    readAt = began;
  }
}
