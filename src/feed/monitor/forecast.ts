/**
 * Predicts the effect of signals on feeds (SPEC D10.13, D10.14): for dry runs, and as a warning if an accepted country or ASN will exceed a
 * cap.
 */
import { type Clock, within } from '../../clock.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { Log } from '../../ports/log.ts';
import type { GeoTarget } from '../../rule.ts';
import type { Foreseen } from '../../signal/accept.ts';
import { accessChangeOf, blockedPlace } from '../access-change.ts';
import { type FeedPreview, type FeedPreviewer, PREVIEW_LIMIT, type Preview } from '../builder.ts';
import { countNetworks, type GeoCost, geoName } from '../geo-cost.ts';
import { willExceedEvent, willLeaveOutEvent } from './feed-events.ts';
import type { FeedWatch } from './feed-watch.ts';

export interface ForecastFeed extends FeedPreview {
  readonly warning: string | undefined;
}

/** The result of a dry run; `unknown` gives the reason for having none. */
export type Forecast = { readonly feeds: readonly ForecastFeed[]; readonly leftOut: number } | { readonly unknown: string };

export interface FeedForecast {
  /** With `listOnly` the list's own feed. Never rejects; takes up to 5 seconds. */
  dryRun(signals: Foreseen, listOnly: boolean): Promise<Forecast>;
  /** Runs in the background. */
  accepted(signals: Foreseen): void;
}

export interface ForecastOptions {
  readonly previewer: FeedPreviewer;
  readonly watch: FeedWatch;
  readonly geo: () => GeoDatabase;
  readonly caughtUp: ((workspaceId: string) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const MOST_AT_ONCE = 4;

/** Concurrent previews of the process: each reads up to 20 feeds. */
export function feedForecast({ previewer, watch, geo, caughtUp, clock, log }: ForecastOptions): FeedForecast {
  let running = 0;
  const looking = new Set<string>();
  const networksOf = countOnce(geo);

  async function preview({ listId, ...signals }: Foreseen, listOnly: boolean): Promise<Preview | { unknown: string }> {
    if (listId === undefined) return { unknown: 'the store does not answer' };
    if (running >= MOST_AT_ONCE) return { unknown: 'too many other dry runs are being counted' };
    running += 1;
    // Earlier signals should count, but stalled landing must not delay the forecast.
    const work = (caughtUp?.(signals.workspaceId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => previewer.preview({ ...signals, listId, listOnly }))
      .finally(() => {
        running -= 1;
      });
    return within(work, PREVIEW_LIMIT, 'the count of entries', clock).catch((error: Error) => {
      log('warn', `the effect of a batch could not be counted: ${error.message}`);
      return { unknown: 'the entries could not be counted in time' };
    });
  }

  const mayExceed = (workspaceId: string, networks: number): boolean => {
    for (const {
      size: { cap, facts },
    } of watch.blockSizes(workspaceId))
      if (cap !== 'over' && facts.entryCount + networks > facts.entryLimit) return true;
    return false;
  };

  async function warn(signals: Foreseen): Promise<void> {
    const found = await preview(signals, false);
    if ('unknown' in found || found.costliest === undefined) return;
    const known = [...watch.blockSizes(signals.workspaceId)];
    for (const { feedId, action, entriesAfter, entryLimit, ...left } of found.feeds) {
      // The signals may have landed by now; the build's size excludes them.
      const size = known.find((each) => each.feedId === feedId)?.size;
      if (action !== 'block' || size === undefined || size.cap === 'over') continue;
      const more = leavesMoreOut(left) ? left.leftOutAfter : undefined;
      if (more !== undefined) watch.expect({ workspaceId: signals.workspaceId, feedId }, willLeaveOutEvent(entryLimit, more));
      if (entriesAfter <= entryLimit) continue;
      watch.expect(
        { workspaceId: signals.workspaceId, feedId },
        willExceedEvent(size.facts.entryCount, entriesAfter, entryLimit, found.costliest),
      );
    }
  }

  return {
    async dryRun(signals, listOnly) {
      const found = await preview(signals, listOnly);
      if ('unknown' in found) return found;
      return { leftOut: found.leftOut, feeds: found.feeds.map((feed) => ({ ...feed, warning: warningOf(feed, found.costliest) })) };
    },
    accepted(signals) {
      const { workspaceId, messages } = signals;
      if (looking.has(workspaceId)) return;
      const places = messages.map(accessChangeOf).flatMap((change) => (change && blockedPlace(change)) ?? []);
      if (
        !mayExceed(
          workspaceId,
          places.reduce((sum, place) => sum + networksOf(place), 0),
        )
      )
        return;
      looking.add(workspaceId);
      void warn(signals).finally(() => looking.delete(workspaceId));
    },
  };
}

function leavesMoreOut({ leftOutBefore: before, leftOutAfter: after }: Pick<FeedPreview, 'leftOutBefore' | 'leftOutAfter'>): boolean {
  if (after === undefined || before === undefined) return after !== undefined;
  if (after.fit === 'lists') return before.fit !== 'lists' || after.lists.length > before.lists.length;
  if (after.fit === 'best') return before.fit !== 'best' || after.entries > before.entries;
  return before.fit !== 'sources' || after.minSources > before.minSources;
}

function warningOf(preview: FeedPreview, cost: GeoCost | undefined): string | undefined {
  const { action, entriesBefore, entriesAfter, entryLimit, leftOutAfter } = preview;
  if (leftOutAfter !== undefined && leavesMoreOut(preview)) return willLeaveOutEvent(entryLimit, leftOutAfter).text;
  if (action !== 'block' || cost === undefined || entriesBefore > entryLimit || entriesAfter <= entryLimit) return undefined;
  return willExceedEvent(entriesBefore, entriesAfter, entryLimit, cost).text;
}

/** Counts networks per target, cached for the current geo data. */
function countOnce(geo: () => GeoDatabase): (target: GeoTarget) => number {
  let version = '';
  const known = new Map<string, number>();
  return (target) => {
    const database = geo();
    if (database.version !== version) known.clear();
    version = database.version;
    const name = geoName(target);
    const networks = known.get(name) ?? countNetworks(database.ranges(target), 'both');
    known.set(name, networks);
    return networks;
  };
}
