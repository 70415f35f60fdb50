/** The role `signals`: what a batch is judged with. */

import type { Schemes } from '@weir/expression/scheme.ts';
import type { Logger } from 'pino';
import { blockGuards, type ServiceGuardRails } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { FeedForecast } from '../document/watch/forecast.ts';
import { isCountry } from '../geo/iso3166.ts';
import { rateLimiter } from '../http/auth/rate-limit.ts';
import { countBatch } from '../http/counts.ts';
import { inRestingSlices, inSlices } from '../http/signals/slices.ts';
import type { ActivityCounter } from '../ports/activity.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import type { Store } from '../ports/store.ts';
import type { Stream } from '../ports/stream.ts';
import type { GeoInUse } from '../runtime/geo.ts';
import type { TryRules } from '../sample/judge.ts';
import { type Accept, acceptance, type Outcome } from '../signal/accept.ts';
import { landingList } from '../signal/landing-list.ts';
import { ruleQuota } from '../signal/rule-quota.ts';
import { sampleTrials } from '../signal/trial.ts';

const { now, monotonic } = systemClock;

/** What a batch is judged by, and who is told of it. */
export interface SignalJudges {
  readonly schemes: Schemes;
  readonly geo: GeoInUse;
  readonly guardRails: ServiceGuardRails;
  readonly forecast: FeedForecast | undefined;
  readonly tryRules: TryRules;
  readonly counts: HttpCounts;
  readonly noteEntries: ActivityCounter['entries'] | undefined;
}

/** What takes the batches of this process, those of signals and of management; `stream` takes what is good. */
export function acceptBatches(store: Store, stream: Pick<Stream, 'draft'>, config: Config, parts: SignalJudges, logger: Logger): Accept {
  const { schemes, geo, guardRails, forecast, tryRules, counts, noteEntries } = parts;
  const guardOf = blockGuards(guardRails);
  const entryLimit = rateLimiter(config.rateLimitEntries);
  const logFailure = (err: unknown, what: string) => logger.error({ err }, what);
  return acceptance({
    landingList: landingList(store, logFailure),
    stream,
    takeEntries: (keyId, entries) => entryLimit.take(keyId, monotonic(), entries),
    ruleQuota: ruleQuota(config.maxRules, store, monotonic),
    check: (caller) => ({
      schemes,
      hasAsn: (asn) => geo.database().hasAsn(asn),
      isCountry,
      blockFaults: guardOf(caller.guardRails).faults,
    }),
    trials: sampleTrials(tryRules, (target) => geo.database().ranges(target)),
    run: { usual: inSlices, large: inRestingSlices },
    foresee: forecast?.accepted,
    count(outcome) {
      countBatch(counts, outcome);
      if (noteEntries !== undefined) noteBatch(noteEntries, outcome);
    },
    now,
    logFailure,
  });
}

/** Notes what a workspace has sent. Of a batch that could not be published all entries failed; a refused one, or a trial, is none. */
function noteBatch(note: ActivityCounter['entries'], { became, workspaceId, entries, accepted }: Outcome): void {
  if (became !== 'accepted' && became !== 'not_published') return;
  const taken = became === 'accepted' ? accepted.values().reduce((sum, count) => sum + count, 0) : 0;
  note(workspaceId, taken, entries - taken);
}
