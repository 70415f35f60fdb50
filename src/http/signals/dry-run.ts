import type { Caller } from '../../account/caller.ts';
import type { Forecast } from '../../feed/serve/forecast.ts';
import type { SignalSummary } from './schema.ts';

type DryRunFields = Pick<SignalSummary, 'feeds' | 'feeds_left_out' | 'feeds_reason'>;

const unknown = (reason: string): DryRunFields => ({ feeds: 'unknown', feeds_reason: reason });

/** What the answer to a dry run says of feeds (D10.14). `ask` gives undefined where this process builds none. */
export async function dryRunFields(
  { permissions }: Pick<Caller, 'permissions'>,
  ask: () => Promise<Forecast> | undefined,
): Promise<DryRunFields> {
  if (!permissions.includes('feed:read')) return unknown('the API key does not have the permission feed:read');
  const forecast = await ask();
  if (forecast === undefined) return unknown('this process builds no feeds');
  if ('unknown' in forecast) return unknown(forecast.unknown);
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
