import { blockGuards, warningsOf } from '../account/guard-rails.ts';
import { systemClock } from '../clock.ts';
import type { FeedForecast } from '../feed/monitor/forecast.ts';
import { isCountry } from '../geo/iso3166.ts';
import { rateLimiter } from '../http/auth/rate-limit.ts';
import { countBatch } from '../http/counts.ts';
import { inRestingSlices, inSlices } from '../http/signals/slices.ts';
import { type SubmitSignals, signalSubmission } from '../http/signals/submit.ts';
import { type ApprovalGate, approvalGate } from '../manage/approvals/gate.ts';
import type { ActivityCounter } from '../ports/activity.ts';
import type { Stream } from '../ports/stream.ts';
import { sampleThread } from '../runtime/jobs/calls.ts';
import { type Accept, acceptance, type Outcome } from '../signal/accept.ts';
import { landingList } from '../signal/landing-list.ts';
import { ruleQuota } from '../signal/rule-quota.ts';
import { sampleTrials } from '../signal/trial.ts';
import type { Base } from './base.ts';
import type { Feeds } from './feeds.ts';
import type { Seen } from './usage.ts';

const { now, monotonic } = systemClock;

/** Empty if the roles manage and sources are absent too. */
export interface Signals {
  readonly accept?: Accept;
  /** With `accept`. */
  readonly gate?: ApprovalGate;
  readonly submitSignals?: SubmitSignals;
}

export function startSignals(
  base: Base,
  seen: Pick<Seen, 'counts' | 'activity'>,
  { forecast }: Feeds,
  stream: Pick<Stream, 'draft'>,
): Signals {
  const { roles } = base.config;
  const acceptsSignals = roles.includes('signals');
  if (!acceptsSignals && !roles.includes('manage') && !roles.includes('sources')) return {};
  const gate = approvalGate({ store: base.store, now });
  const accept = acceptBatches(base, seen, forecast, stream, gate);
  return { accept, gate, ...(acceptsSignals && { submitSignals: signalSubmission({ accept, forecast }) }) };
}

function acceptBatches(
  { config, store, schemes, geo, guardRails, logger, onStop }: Base,
  { counts, activity }: Pick<Seen, 'counts' | 'activity'>,
  forecast: FeedForecast | undefined,
  stream: Pick<Stream, 'draft'>,
  gate: ApprovalGate,
): Accept {
  const samples = sampleThread(config);
  onStop(() => samples.close());
  const guardOf = blockGuards(guardRails);
  const entryLimit = rateLimiter(config.rateLimitEntries);
  const logFailure = (err: unknown, what: string) => logger.error({ err }, what);
  return acceptance({
    landingList: landingList(store, logFailure),
    stream,
    takeEntries: (keyId, entries) => entryLimit.take(keyId, monotonic(), entries),
    meter: gate.meter,
    ruleQuota: ruleQuota(config.maxRules, store, monotonic),
    check(caller) {
      const guard = guardOf(caller.guardRails);
      const hasAsn = (asn: number) => geo.database().hasAsn(asn);
      return { schemes, hasAsn, isCountry, blockFaults: guard.faults, blockWarnings: warningsOf(guard) };
    },
    trials: sampleTrials(samples.tryRules, (target) => geo.database().ranges(target)),
    run: { usual: inSlices, large: inRestingSlices },
    foresee: forecast?.accepted,
    count(outcome) {
      countBatch(counts, outcome);
      if (activity !== undefined) noteBatch(activity.entries, outcome);
    },
    now,
    logFailure,
  });
}

/** If publishing failed, all entries of the batch failed. Refused batches and dry runs do not count. */
function noteBatch(note: ActivityCounter['entries'], { became, workspaceId, entries, accepted }: Outcome): void {
  if (became !== 'accepted' && became !== 'not_published') return;
  const acceptedCount = became === 'accepted' ? accepted.values().reduce((sum, count) => sum + count, 0) : 0;
  note(workspaceId, acceptedCount, entries - acceptedCount);
}
