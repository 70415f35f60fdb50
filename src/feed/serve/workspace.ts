import { within } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { PATIENCE, type ServeContext, SHORT_PATIENCE } from './context.ts';
import { Directory } from './directory.ts';
import { type FeedOwner, ServedFeed } from './feed.ts';
import type { Moment, SingleFlight } from './single-flight.ts';

const CAUGHT_UP_LIMIT = 2_000;
const NEVER: Moment = { at: Number.NEGATIVE_INFINITY, sequence: -1 };

/** A workspace whose feeds are asked for: its directory as last read, and its feeds. */
export class ServedWorkspace implements FeedOwner {
  readonly id: string;
  readonly feeds = new Map<string | null, ServedFeed>();
  readonly #context: ServeContext;
  readonly #reading: SingleFlight<void>;
  #directory: Directory | undefined;
  #readBegan = NEVER;
  #readAt = NEVER.at;
  #freshUntil = NEVER.at;
  #failed = false;

  constructor(id: string, context: ServeContext) {
    this.id = id;
    this.#context = context;
    this.#reading = context.shared();
  }

  /** The directory as last read; undefined before the first read, and when the workspace is gone. */
  get directory(): Directory | undefined {
    return this.#directory;
  }

  /** When its read began, in the order of things. */
  get readBegan(): Moment {
    return this.#readBegan;
  }

  /** ms: when the store was asked for it. */
  get readAt(): number {
    return this.#readAt;
  }

  /** ms: until then it counts as current. */
  get freshUntil(): number {
    return this.#freshUntil;
  }

  /** Whether the last read failed. */
  get failed(): boolean {
    return this.#failed;
  }

  /** The feed of a list that the directory holds, or the workspace's own. */
  feed(listId: string | null): ServedFeed {
    let feed = this.feeds.get(listId);
    if (feed === undefined) {
      feed = new ServedFeed(this, listId, this.#context);
      this.feeds.set(listId, feed);
    }
    return feed;
  }

  /** Has a directory whose read began after the arrival, or is young enough for it. Falls back on the last one, if there is any. */
  async read(arrival: Moment): Promise<void> {
    try {
      const patience = this.#failed ? SHORT_PATIENCE : PATIENCE;
      await this.#reading.join(arrival, (began) => this.#context.limited(this.#read(began), patience));
    } catch (cause) {
      this.#failed = true;
      this.#freshUntil = this.#context.now() + this.#context.pause;
      if (this.#directory === undefined) throw new WeirError('FEED_UNAVAILABLE', 'the store does not answer', { cause });
    }
  }

  async #read(began: Moment): Promise<void> {
    const { store, clock, caughtUp } = this.#context.options;
    if (caughtUp !== undefined) await within(caughtUp(), CAUGHT_UP_LIMIT, 'landing', clock).catch(() => undefined);
    const readAt = clock.now();
    const read = await store.directory(this.id);
    // A read that was given up and answers late must not undo a later one.
    if (began.sequence < this.#readBegan.sequence) return;
    this.#directory = read === undefined ? undefined : new Directory(read);
    this.#readBegan = began;
    this.#readAt = readAt;
    this.#freshUntil = readAt + this.#context.interval;
    this.#failed = false;
    for (const feed of this.feeds.values()) if (this.#directory?.feed(feed.listId) === undefined) feed.forget();
  }
}
