import { setTimeout as sleep } from 'node:timers/promises';
import { within } from '../../clock.ts';
import { shared } from '../../serial.ts';

/** How long a key revision counts as current, and how long the store may take to tell it, ms. */
const FRESH = 1000;
const STORE_LIMIT = 1000;
/** A change is effective within this time, ms: until then a slow store may be waited for later. */
const EFFECTIVE = 2000;
/** How long a request waits for a slow store where it need not, ms. */
const PATIENCE = 50;

/** The store's key revision as last read (SPEC D2.8): while it stands still, no key, permission or subscription has changed. */
export interface KeyRevision {
  /** undefined until the store was read once. */
  readonly current: number | undefined;
  /** Whether the store could be read when it was last asked. */
  readonly readable: boolean;
  /** Whether the store was asked less than a second before `at` (ms, monotonic). */
  isFresh(at: number): boolean;
  /**
   * Reads the revision when it is due. Never rejects. While the store is known to be down it does not wait for the answer, and
   * while the last answer is less than two seconds old it does not wait for long.
   */
  refresh(): Promise<void>;
}

/** Watches the revision that `read` gets from the store. Callers that refresh at once share one read. `now`: ms, monotonic. */
export function watchKeyRevision(read: () => Promise<number>, now: () => number): KeyRevision {
  /** When the last finished read began. */
  let readAt = Number.NEGATIVE_INFINITY;
  const reading = shared<void>();
  /** The same, but for PATIENCE at most. */
  let briefly: Promise<void> | undefined;

  const revision = {
    current: undefined as number | undefined,
    readable: true,
    isFresh: (at: number) => Math.abs(at - readAt) < FRESH,
    async refresh() {
      if (revision.isFresh(now())) return;
      const read = reading(() => {
        const done = readNow();
        briefly = Promise.race([done, sleep(PATIENCE, undefined, { ref: false })]);
        return done;
      });
      if (revision.readable) await (now() - readAt < EFFECTIVE ? briefly : read);
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
