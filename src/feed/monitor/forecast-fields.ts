import { trimmedJson } from '../trim.ts';
import type { FeedForecast, Forecast } from './forecast.ts';

/** Response fields describing the effect of signals on feeds (SPEC D10.14). */
export interface ForecastFields {
  readonly feeds?: 'unknown' | readonly ForecastField[];
  readonly feeds_left_out?: number;
  readonly feeds_reason?: string;
}

export interface ForecastField {
  id: string | null;
  kind: 'workspace' | 'list' | 'composed';
  name: string;
  action: 'block' | 'allow';
  entries_before: number;
  entries_after: number;
  entry_limit: number;
  left_out?: NonNullable<ReturnType<typeof trimmedJson>>;
  widened?: { hosts: number; as_sent: number };
  frozen_since?: string;
  warning?: string;
}

export const unknownFeeds = (reason: string): ForecastFields => ({ feeds: 'unknown', feeds_reason: reason });

/** `forecast` is undefined if this process builds no feeds. */
export async function forecastFields(
  forecast: FeedForecast | undefined,
  ...signals: Parameters<FeedForecast['dryRun']>
): Promise<ForecastFields> {
  if (forecast === undefined) return unknownFeeds('this process builds no feeds');
  return fieldsOf(await forecast.dryRun(...signals));
}

function fieldsOf(forecast: Forecast): ForecastFields {
  if ('unknown' in forecast) return unknownFeeds(forecast.unknown);
  const feeds = forecast.feeds.map(
    ({ feedId, kind, name, action, entriesBefore, entriesAfter, entryLimit, leftOutAfter, widened, frozenSince, warning }) => ({
      id: feedId,
      kind,
      name,
      action,
      entries_before: entriesBefore,
      entries_after: entriesAfter,
      entry_limit: entryLimit,
      ...(leftOutAfter !== undefined && { left_out: trimmedJson(leftOutAfter)! }),
      ...(widened !== undefined && { widened: { hosts: widened.hosts, as_sent: widened.asSent } }),
      ...(frozenSince !== undefined && { frozen_since: new Date(frozenSince).toISOString() }),
      ...(warning !== undefined && { warning }),
    }),
  );
  return { feeds, ...(forecast.leftOut > 0 && { feeds_left_out: forecast.leftOut }) };
}
