import type { ServiceGuardRails } from '../../account/guard-rails.ts';
import type { DecisionAnswers } from '../../decisions/build/decision-builder.ts';
import type { DroppedDecisions } from '../../decisions/decisions.ts';
import type { AddressMapper, DocumentBuilder, FeedCounter, FeedMeasurer, FeedPreviewer } from '../../feed/builder.ts';
import type { FeedExplainer } from '../../feed/whatif/explain/explain.ts';
import type { GeoData } from '../../geo/data.ts';
import type { FeedSource } from '../engines.ts';
import type { ClockBase } from '../store-clock.ts';
import { methodsOf, reviving } from './rpc.ts';
import { startWaiting, type WaitingThread } from './waiting-thread.ts';

export interface FeedThreadMethods
  extends DocumentBuilder,
    AddressMapper,
    FeedPreviewer,
    FeedExplainer,
    FeedMeasurer,
    FeedCounter,
    DecisionAnswers {
  useGeo(data: GeoData): Promise<void>;
  /** Resolves when the thread is free. */
  ping(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Its decision log was dropped for another's (SPEC D14.16). */
export interface FeedNews {
  readonly dropped: DroppedDecisions;
}

export interface FeedThreadData {
  readonly source: FeedSource;
  readonly geo: GeoData;
  readonly rules: FeedRules;
}

export interface FeedRules {
  readonly guardRails: ServiceGuardRails;
  readonly schemesFile: string | undefined;
  /** For a store shared with other processes. */
  readonly clock?: ClockBase | undefined;
}

/** `ping` rejects if the thread cannot start. */
export type FeedThread = Omit<FeedThreadMethods, 'shutdown'> & { close(): Promise<void> };

export const loadFeedThread = (): WaitingThread<FeedThreadData> =>
  startWaiting(new URL('./feeds.thread.ts', import.meta.url), {
    name: 'feeds',
    resourceLimits: { maxYoungGenerationSizeMb: 24 },
  });

/** `loaded`: a thread started earlier. If it dies, running builds reject, and the next one starts another, without caches. */
export function startFeedThread(
  newSource: () => FeedSource,
  geo: GeoData,
  rules: FeedRules,
  onDropped: (dropped: DroppedDecisions) => void,
  loaded?: WaitingThread<FeedThreadData>,
): FeedThread {
  let data = geo;
  let waiting = loaded;
  const { thread, end } = reviving<FeedThreadMethods>(() => {
    const source = newSource();
    const { begin } = waiting ?? loadFeedThread();
    waiting = undefined;
    return begin({ source, geo: data, rules }, 'writes' in source ? [source.writes] : []).on('message', (message: FeedNews | object) => {
      if ('dropped' in message) onDropped(message.dropped);
    });
  });

  thread();
  return methodsOf<Omit<FeedThreadMethods, 'useGeo' | 'shutdown'>, Pick<FeedThread, 'useGeo' | 'close'>>(
    // The thread may change between calls.
    (method, args) => (thread().methods[method] as (...args: unknown[]) => unknown)(...args),
    {
      async useGeo(next) {
        data = next;
        await thread().methods.useGeo(next);
      },
      close: end,
    },
  );
}
