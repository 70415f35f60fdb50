import type { Worker } from 'node:worker_threads';
import type { ServiceGuardRails } from '../../account/guard-rails.ts';
import type { DecisionAnswers } from '../../decisions/build/decision-builder.ts';
import type { DroppedDecisions } from '../../decisions/decisions.ts';
import type { DocumentBuilder, FeedCounter, FeedMeasurer, FeedPreviewer } from '../../feed/builder.ts';
import type { FeedExplainer } from '../../feed/whatif/explain/explain.ts';
import type { GeoData } from '../../geo/data.ts';
import type { FeedSource } from '../engines.ts';
import type { ClockBase } from '../store-clock.ts';
import { methodsOf, remoteCalls } from './rpc.ts';
import { startWaiting, type WaitingThread } from './waiting-thread.ts';

/** The methods that the feed thread serves. */
export interface FeedThreadMethods extends DocumentBuilder, FeedPreviewer, FeedExplainer, FeedMeasurer, FeedCounter, DecisionAnswers {
  /** Uses these geo data from now on. */
  useGeo(data: GeoData): Promise<void>;
  /** Answers when the thread has time. */
  ping(): Promise<void>;
  /** Closes the store and ends the thread. */
  shutdown(): Promise<void>;
}

/** What the feed thread tells unasked: a feed whose bouncers' state had to go for another's (SPEC D14.16). */
export interface FeedNews {
  readonly dropped: DroppedDecisions;
}

/** What the feed thread works with. */
export interface FeedThreadData {
  readonly source: FeedSource;
  readonly geo: GeoData;
  readonly rules: FeedRules;
}

/** What decides what feeds and documents hold. */
export interface FeedRules {
  readonly guardRails: ServiceGuardRails;
  /** SCHEMES_FILE. */
  readonly schemesFile: string | undefined;
  /** What is known of the clock of a store that other processes share. */
  readonly clock?: ClockBase | undefined;
}

/** The feed thread as the main thread sees it; `ping` rejects when it cannot be started. */
export type FeedThread = Omit<FeedThreadMethods, 'shutdown'> & { close(): Promise<void> };

/** Starts a feed thread that loads its part. */
export const loadFeedThread = (): WaitingThread<FeedThreadData> =>
  startWaiting(new URL('./feeds.thread.ts', import.meta.url), {
    name: 'feeds',
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });

/**
 * Starts the feed thread, or lets `loaded` begin. If it dies, the builds under way reject, and the next build starts another thread, which reads its
 * snapshots anew.
 */
export function startFeedThread(
  newSource: () => FeedSource,
  geo: GeoData,
  rules: FeedRules,
  onDropped: (dropped: DroppedDecisions) => void,
  loaded?: WaitingThread<FeedThreadData>,
): FeedThread {
  let data = geo;
  let waiting = loaded;
  let running: { readonly worker: Worker; readonly methods: FeedThreadMethods } | undefined;

  function thread(): { readonly worker: Worker; readonly methods: FeedThreadMethods } {
    if (running !== undefined) return running;
    const source = newSource();
    const { begin } = waiting ?? loadFeedThread();
    waiting = undefined;
    const worker = begin({ source, geo: data, rules }, 'writes' in source ? [source.writes] : []);
    running = { worker, methods: remoteCalls<FeedThreadMethods>(worker) };
    const ended = () => {
      if (running?.worker === worker) running = undefined;
    };
    worker.on('error', ended).on('exit', ended);
    worker.on('message', (message: FeedNews | object) => {
      if ('dropped' in message) onDropped(message.dropped);
    });
    return running;
  }

  thread();
  return methodsOf<Omit<FeedThreadMethods, 'useGeo' | 'shutdown'>, Pick<FeedThread, 'useGeo' | 'close'>>(
    // The thread that answers may be another one at each call.
    (method, args) => (thread().methods[method] as (...args: unknown[]) => unknown)(...args),
    {
      async useGeo(next) {
        data = next;
        await thread().methods.useGeo(next);
      },
      async close() {
        await running?.methods.shutdown();
        await running?.worker.terminate();
      },
    },
  );
}
