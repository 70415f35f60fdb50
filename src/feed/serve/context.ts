import { type Clock, type Instant, instantOf, within } from '../../clock.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { SingleFlight } from '../../schedule/single-flight.ts';
import type { DocumentBuilder } from '../builder.ts';
import type { FeedWatch } from '../monitor/feed-watch.ts';
import type { ReadStamp } from '../read-stamp.ts';
import { BodyCache } from './body-cache.ts';

export interface DocumentCacheOptions {
  readonly store: Pick<StoreReads, 'findNamed'> & Pick<StoreWrites, 'recordDocument'>;
  /** Builds feeds on another thread. */
  readonly builder: DocumentBuilder;
  readonly clock: Clock;
  /** How old a read of the store may be that a feed is served from, seconds; 0: every request reads. */
  readonly rebuildSeconds: number;
  /** How many bytes of bodies are kept. */
  readonly bodyBytes: number;
  /** The version of the geo data in use now. */
  readonly geoVersion: () => string;
  /** The version and machine of the compressor: part of the tags of compressed bodies. */
  readonly zlib: string;
  /** Resolves when what a workspace has put on the stream has landed; undefined where this process does not land. */
  readonly caughtUp: ((workspaceId: string) => Promise<void>) | undefined;
  /**
   * The store's key revision as last read, less than two seconds ago while requests come. It moves when a list or feed is deleted, whose
   * name is then asked for again (SPEC D5.24).
   */
  readonly keyRevision: () => number | undefined;
  /** Is told what feeds are like. */
  readonly watch: FeedWatch;
  /** Takes the error for which a feed is served from memory or not at all. */
  readonly report: (error: Error) => void;
}

/** How long a request waits for the store, ms: as a rule, and after the store has just failed. */
export const STORE_TIMEOUT = 10_000;
export const FAILING_STORE_TIMEOUT = 1_000;
/** The longest time for which a store that has failed is not asked again, ms. */
const LONGEST_PAUSE = 1_000;

/** What all parts of the cache share: the options, the bodies, and how work is timed and shared. */
export class ServeContext {
  readonly options: DocumentCacheOptions;
  readonly bodies: BodyCache;
  /** How old a read may be, ms. */
  readonly interval: number;
  /** How long a store that has failed is not asked again, ms. */
  readonly pause: number;
  #sequence = 0;

  constructor(options: DocumentCacheOptions) {
    this.options = options;
    this.bodies = new BodyCache(options.bodyBytes);
    this.interval = options.rebuildSeconds * 1000;
    this.pause = Math.min(this.interval, LONGEST_PAUSE);
  }

  /** The present instant. */
  now(): Instant {
    return instantOf(this.options.clock);
  }

  /** ms of the monotonic clock. */
  monotonic(): number {
    return this.options.clock.monotonic();
  }

  /** The present moment, later in sequence than every one before. */
  moment(): ReadStamp {
    this.#sequence += 1;
    return { ...this.now(), sequence: this.#sequence };
  }

  /** Work whose result is shared by all requests that may be served from a read of its age. */
  singleFlight<T>(): SingleFlight<T> {
    return new SingleFlight(() => this.moment(), this.interval);
  }

  /** The work, or a rejection with TIMEOUT after `ms`. Its error is reported once, however many requests wait for it. */
  limited<T>(work: Promise<T>, ms: number): Promise<T> {
    const { clock, report } = this.options;
    return within(work, ms, 'the store', clock).catch((error: Error) => {
      report(error);
      throw error;
    });
  }
}
