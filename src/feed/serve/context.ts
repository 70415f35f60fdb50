import { type Clock, within } from '../../clock.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { FeedBuilder } from '../builder.ts';
import { BodyCache } from './body-cache.ts';
import { type Moment, SingleFlight } from './single-flight.ts';

export interface FeedCacheOptions {
  readonly store: Pick<StoreReads, 'directory'> & Pick<StoreWrites, 'recordFeed'>;
  readonly builder: FeedBuilder;
  readonly clock: Clock;
  /** How old a read of the store may be that a feed is served from; 0: every request reads. */
  readonly rebuildSeconds: number;
  /** How many bytes of bodies are kept. */
  readonly bodyBytes: number;
  /** The version of the geo data in use now. */
  readonly geoVersion: () => string;
  /** Names the compressor's version and machine: part of the tags of compressed bodies. */
  readonly zlib: string;
  /** Resolves when landing has reached the end that the stream has now; undefined where this process does not land. */
  readonly caughtUp: (() => Promise<void>) | undefined;
  /** Told what went wrong when a feed is served from memory or not at all. */
  readonly report: (error: Error) => void;
}

/** How long a request waits for the store, ms: at first, and while it is known not to answer. */
export const PATIENCE = 10_000;
export const SHORT_PATIENCE = 1_000;
/** How long the store is left alone after it has failed, at most, ms. */
const PAUSE = 1_000;

/** What the parts of the cache share: the options, the bodies, and how work is timed and shared. */
export class ServeContext {
  readonly options: FeedCacheOptions;
  readonly bodies: BodyCache;
  /** How old a read may be, ms. */
  readonly interval: number;
  /** How long a store that fails is left alone, ms. */
  readonly pause: number;
  #sequence = 0;

  constructor(options: FeedCacheOptions) {
    this.options = options;
    this.bodies = new BodyCache(options.bodyBytes);
    this.interval = options.rebuildSeconds * 1000;
    this.pause = Math.min(this.interval, PAUSE);
  }

  now(): number {
    return this.options.clock.now();
  }

  /** This moment, later than every one before. */
  moment(): Moment {
    this.#sequence += 1;
    return { at: this.now(), sequence: this.#sequence };
  }

  /** Work that all share who may be served from a read of its age. */
  shared(): SingleFlight<void> {
    return new SingleFlight(() => this.moment(), this.interval);
  }

  /** Work that must not keep requests waiting; what goes wrong with it is reported once. */
  limited(work: Promise<void>, patience: number): Promise<void> {
    const { clock, report } = this.options;
    return within(work, patience, 'the store', clock).catch((error: Error) => {
      report(error);
      throw error;
    });
  }
}
