/** The role `signals`: what a batch is judged with. */

import type { Schemes } from '@weir/expression/scheme.ts';
import type { Logger } from 'pino';
import { blockGuards, type ServiceGuardRails } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { FeedForecast } from '../feed/serve/forecast.ts';
import { isCountry } from '../geo/iso3166.ts';
import { rateLimiter } from '../http/auth/rate-limit.ts';
import { ruleQuota } from '../http/signals/rule-quota.ts';
import type { SignalParts } from '../http/signals/submit.ts';
import type { ActivityCounter } from '../ports/activity.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { GeoInUse } from '../runtime/geo.ts';

const { now, monotonic } = systemClock;

/** What a batch is judged by, and what tells what it changes of feeds. */
export interface SignalJudges {
  readonly schemes: Schemes;
  readonly geo: GeoInUse;
  readonly guardRails: ServiceGuardRails;
  readonly forecast: FeedForecast | undefined;
  readonly counts: HttpCounts;
  readonly noteEntries: ActivityCounter['entries'] | undefined;
}

/** What submissions need; `stream` takes what is good. */
export function signalParts(store: Store, stream: Pick<Stream, 'draft'>, config: Config, parts: SignalJudges, logger: Logger): SignalParts {
  const { schemes, geo, guardRails, forecast, counts, noteEntries } = parts;
  const guardOf = blockGuards(guardRails);
  return {
    store,
    stream,
    entryLimit: rateLimiter(config.rateLimitEntries),
    ruleQuota: ruleQuota(config.maxRules, store, monotonic),
    check: (caller) => ({
      schemes,
      hasAsn: (asn) => geo.database().hasAsn(asn),
      isCountry,
      blockFaults: guardOf(caller.guardRails).faults,
    }),
    forecast,
    now,
    monotonic,
    counts,
    noteEntries,
    logFailure: (err, what) => logger.error({ err }, what),
  };
}
