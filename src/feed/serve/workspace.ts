import { within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { Variant } from '../variant.ts';
import { FAILING_STORE_TIMEOUT, type ServeContext, STORE_TIMEOUT } from './context.ts';
import type { Resolution } from './directory.ts';
import { type DirectoryRead, failedRead, goodRead, NEVER_READ } from './directory-read.ts';
import { ServedFeed } from './feed.ts';
import type { Moment } from './moment.ts';
import type { Representation, TooLarge } from './representation.ts';
import type { SingleFlight } from './single-flight.ts';

/** How long a read of the directory waits for landing to catch up, ms. */
const CAUGHT_UP_LIMIT = 2_000;

/** One workspace on the main thread: which feeds it has, as its directory was last read, and those that are asked for. */
export class ServedWorkspace {
  readonly id: string;
  readonly #context: ServeContext;
  readonly #feeds = new Map<string | null, ServedFeed>();
  readonly #reading: SingleFlight<void>;
  #lastRead = NEVER_READ;

  constructor(id: string, context: ServeContext) {
    this.id = id;
    this.#context = context;
    this.#reading = context.singleFlight();
  }

  /** How the directory was last read. */
  get lastRead(): DirectoryRead {
    return this.#lastRead;
  }

  /** Whether none of its feeds is remembered. */
  get isEmpty(): boolean {
    return this.#feeds.size === 0;
  }

  /** What can be served of a feed at once, or undefined; `monotonic` in ms. */
  ready(listId: string | null, variant: Variant, monotonic: number): Representation | TooLarge | undefined {
    return this.#feeds.get(listId)?.ready(variant, monotonic);
  }

  /**
   * The feed behind a list's UUID or name, in a directory that is fresh for the arrival; undefined when there is no such workspace.
   * Falls back on the last good directory; rejects with FEED_UNAVAILABLE when there is none.
   */
  async resolve(list: string | null, arrival: Moment): Promise<Resolution | undefined> {
    const last = this.#lastRead;
    if (last.directory === undefined || arrival.monotonic >= last.freshUntil) await this.#refresh(arrival);
    const { directory, began, failed } = this.#lastRead;
    if (directory?.resolve(list).kind !== 'named' && began.sequence < arrival.sequence && !failed) {
      // The name may be younger than this read, which began before the request: only a read that began after it can turn it away.
      await this.#refresh({ ...arrival, monotonic: Number.POSITIVE_INFINITY });
    }
    return this.#lastRead.directory?.resolve(list);
  }

  /** The feed of a list that the directory holds, or the workspace's own (null). */
  feed(listId: string | null): ServedFeed {
    let feed = this.#feeds.get(listId);
    if (feed === undefined) {
      feed = new ServedFeed(this.id, listId, () => this.#lastRead, this.#context);
      this.#feeds.set(listId, feed);
    }
    return feed;
  }

  /** Forgets the feeds that were last asked for before `time` (ms, monotonic). */
  prune(time: number): void {
    this.#forget((feed) => feed.usedAt < time);
  }

  async #refresh(arrival: Moment): Promise<void> {
    try {
      const timeout = this.#lastRead.failed ? FAILING_STORE_TIMEOUT : STORE_TIMEOUT;
      await this.#reading.join(arrival, (began) => this.#context.limited(this.#read(began), timeout));
    } catch (cause) {
      this.#lastRead = failedRead(this.#lastRead, this.#context.monotonic() + this.#context.pause);
      if (this.#lastRead.directory === undefined) throw new WeirError('FEED_UNAVAILABLE', 'the store does not answer', { cause });
    }
  }

  async #read(began: Moment): Promise<void> {
    const { store, clock, caughtUp } = this.#context.options;
    if (caughtUp !== undefined) await within(caughtUp(), CAUGHT_UP_LIMIT, 'landing', clock).catch(() => undefined);
    const readAt = this.#context.now();
    const found = await store.directory(this.id);
    // The answer to a read that timed out may come after that to a later read, and must not replace it.
    if (began.sequence < this.#lastRead.began.sequence) return;
    const read = goodRead(found, began, readAt, this.#context.interval);
    this.#lastRead = read;
    this.#forget((feed) => read.directory?.feed(feed.listId) === undefined);
  }

  #forget(which: (feed: ServedFeed) => boolean): void {
    for (const [listId, feed] of this.#feeds) {
      if (!which(feed)) continue;
      feed.forget();
      this.#feeds.delete(listId);
    }
  }
}
