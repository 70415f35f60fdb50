import { type Clock, type Instant, instantOf, within } from '../../clock.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import { SingleFlight } from '../../schedule/single-flight.ts';
import type { DocumentBuilder } from '../builder.ts';
import type { FeedWatch } from '../monitor/feed-watch.ts';
import type { ReadStamp } from '../read-stamp.ts';
import { BodyCache } from './body-cache.ts';

export interface DocumentCacheOptions {
  readonly store: Pick<StoreReads, 'findNamed'> & Pick<StoreWrites, 'recordDocument'>;
  readonly builder: DocumentBuilder;
  readonly clock: Clock;
  /** Seconds; 0: every request reads. */
  readonly rebuildSeconds: number;
  readonly bodyBytes: number;
  readonly geoVersion: () => string;
  /** Compressor version and machine: part of the tags of compressed bodies. */
  readonly zlib: string;
  /** undefined: this process does not land. */
  readonly caughtUp: ((workspaceId: string) => Promise<void>) | undefined;
  /** Is at most two seconds old under traffic. Changes on deletion of a list or feed (SPEC D5.24). */
  readonly keyRevision: () => number | undefined;
  readonly watch: FeedWatch;
  /** The error behind a stale or failed response. */
  readonly report: (error: Error) => void;
}

/** ms: normally, and right after a failure. */
export const STORE_TIMEOUT = 10_000;
export const FAILING_STORE_TIMEOUT = 1_000;
/** Longest pause after a store failure, ms. */
const LONGEST_PAUSE = 1_000;

export class ServeContext {
  readonly options: DocumentCacheOptions;
  readonly bodies: BodyCache;
  readonly interval: number;
  readonly pause: number;
  #sequence = 0;

  constructor(options: DocumentCacheOptions) {
    this.options = options;
    this.bodies = new BodyCache(options.bodyBytes);
    this.interval = options.rebuildSeconds * 1000;
    this.pause = Math.min(this.interval, LONGEST_PAUSE);
  }

  now(): Instant {
    return instantOf(this.options.clock);
  }

  monotonic(): number {
    return this.options.clock.monotonic();
  }

  /** Now, with a new, highest sequence. */
  moment(): ReadStamp {
    this.#sequence += 1;
    return { ...this.now(), sequence: this.#sequence };
  }

  /** Shares results among requests accepting the age of their read. */
  singleFlight<T>(): SingleFlight<T> {
    return new SingleFlight(() => this.moment(), this.interval);
  }

  limited<T>(work: Promise<T>, ms: number): Promise<T> {
    const { clock, report } = this.options;
    return within(work, ms, 'the store', clock).catch((error: Error) => {
      report(error);
      throw error;
    });
  }
}
