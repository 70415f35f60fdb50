import type { Forecast } from '../../feed/serve/forecast.ts';
import type { SignalSummary } from './schema.ts';

/** What the answer to a dry run says of feeds (D10.14); `forecast` is undefined where this process builds none. */
export function forecastJson(forecast: Forecast | undefined): Pick<SignalSummary, 'feeds' | 'feeds_left_out' | 'feeds_reason'> {
  if (forecast === undefined) return { feeds: 'unknown', feeds_reason: 'this process builds no feeds' };
  if ('unknown' in forecast) return { feeds: 'unknown', feeds_reason: forecast.unknown };
  const feeds = forecast.feeds.map(({ feedId, kind, name, action, entriesBefore, entriesAfter, entryLimit, warning }) => ({
    id: feedId,
    kind,
    name,
    action,
    entries_before: entriesBefore,
    entries_after: entriesAfter,
    entry_limit: entryLimit,
    ...(warning !== undefined && { warning }),
  }));
  return { feeds, ...(forecast.leftOut > 0 && { feeds_left_out: forecast.leftOut }) };
}
