import { before, within } from '../../clock.ts';
import { shared } from '../../serial.ts';

/** Lifetime, and limit of its read, ms. */
const FRESH = 1000;
const STORE_LIMIT = 1000;
/** Delay of changes, ms. Until then requests need not wait for a slow store. */
const EFFECTIVE = 2000;
/** Wait for a slow store in that time, ms. */
const PATIENCE = 50;

/** The store's key revision (SPEC D2.8). Unchanged: no key, permission or subscription has changed. */
export interface KeyRevision {
  /** undefined until the first read. */
  readonly current: number | undefined;
  readonly readable: boolean;
  /** Whether the last read is less than a second older than `at` (ms, monotonic). */
  isFresh(at: number): boolean;
  /** Reads if due. Never rejects. Does not wait for a store that is down; waits briefly if the last read is less than two seconds old. */
  refresh(): Promise<void>;
}

/** Concurrent refreshes share one read. `now`: ms, monotonic. */
export function watchKeyRevision(read: () => Promise<number>, now: () => number): KeyRevision {
  let readAt = Number.NEGATIVE_INFINITY;
  const reading = shared<void>();
  let briefly: Promise<void> | undefined;

  const revision = {
    current: undefined as number | undefined,
    readable: true,
    isFresh: (at: number) => Math.abs(at - readAt) < FRESH,
    async refresh() {
      if (revision.isFresh(now())) return;
      const read = reading(() => {
        const done = readNow();
        briefly = before(done, PATIENCE);
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
