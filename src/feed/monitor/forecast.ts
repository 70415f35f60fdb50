/**
 * What signals will change of feeds, before it hurts (SPEC D10.13, D10.14): the answer to a dry run, and a warning when a country or an ASN
 * was accepted that takes a feed over its cap.
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

/** A feed that signals would change, and a warning where they would take it over its cap. */
export interface ForecastFeed extends FeedPreview {
  readonly warning: string | undefined;
}

/** What a dry run learns; `unknown` says why when it learns nothing. */
export type Forecast = { readonly feeds: readonly ForecastFeed[]; readonly leftOut: number } | { readonly unknown: string };

/** Tells what signals will change of feeds. */
export interface FeedForecast {
  /** What these signals would change, of their list's own feed only with `listOnly`; never rejects, and takes 5 seconds at most. */
  dryRun(signals: Foreseen, listOnly: boolean): Promise<Forecast>;
  /** Looks at accepted signals that block countries or ASNs. Nobody waits for it. */
  accepted(signals: Foreseen): void;
}

export interface ForecastOptions {
  readonly previewer: FeedPreviewer;
  readonly watch: FeedWatch;
  /** The geo data in use now. */
  readonly geo: () => GeoDatabase;
  /** Resolves when what a workspace has put on the stream has landed; undefined where this process does not land. */
  readonly caughtUp: ((workspaceId: string) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Previews under way in this process at most: each reads the rules of up to 20 feeds. */
const MOST_AT_ONCE = 4;

/** Forecasts over the feeds of this process. */
export function feedForecast({ previewer, watch, geo, caughtUp, clock, log }: ForecastOptions): FeedForecast {
  let running = 0;
  const looking = new Set<string>();
  const networksOf = countOnce(geo);

  async function preview({ listId, ...signals }: Foreseen, listOnly: boolean): Promise<Preview | { unknown: string }> {
    if (listId === undefined) return { unknown: 'the store does not answer' };
    if (running >= MOST_AT_ONCE) return { unknown: 'too many other dry runs are being counted' };
    running += 1;
    // What was accepted before is in the numbers; landing that stands still is not waited for.
    const work = (caughtUp?.(signals.workspaceId) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => previewer.preview({ ...signals, listId, listOnly }))
      .finally(() => {
        running -= 1;
      });
    return within(work, PREVIEW_LIMIT, 'the count of entries', clock).catch((error: Error) => {
      log('warn', `what a batch changes could not be counted: ${error.message}`);
      return { unknown: 'the entries could not be counted in time' };
    });
  }

  /** Whether a feed that is known here has no room for the networks of a target. */
  const mayExceed = (workspaceId: string, networks: number): boolean => {
    for (const { size } of watch.blockSizes(workspaceId)) if (size.cap !== 'over' && size.entries + networks > size.limit) return true;
    return false;
  };

  async function warn(signals: Foreseen): Promise<void> {
    const found = await preview(signals, false);
    if ('unknown' in found || found.costliest === undefined) return;
    const known = [...watch.blockSizes(signals.workspaceId)];
    for (const { feedId, action, entriesAfter, entryLimit, ...left } of found.feeds) {
      // It may have landed by now: what the feed had before is what it was built with.
      const size = known.find((each) => each.feedId === feedId)?.size;
      if (action !== 'block' || size === undefined || size.cap === 'over') continue;
      const more = leavesMoreOut(left) ? left.leftOutAfter : undefined;
      if (more !== undefined) watch.expect({ workspaceId: signals.workspaceId, feedId }, willLeaveOutEvent(entryLimit, more));
      if (entriesAfter <= entryLimit) continue;
      watch.expect({ workspaceId: signals.workspaceId, feedId }, willExceedEvent(size.entries, entriesAfter, entryLimit, found.costliest));
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

/** Whether a feed does without more than before. */
function leavesMoreOut({ leftOutBefore: before, leftOutAfter: after }: Pick<FeedPreview, 'leftOutBefore' | 'leftOutAfter'>): boolean {
  if (after === undefined || before === undefined) return after !== undefined;
  if (after.fit === 'lists') return before.fit !== 'lists' || after.lists.length > before.lists.length;
  return before.fit !== 'sources' || after.minSources > before.minSources;
}

function warningOf(preview: FeedPreview, cost: GeoCost | undefined): string | undefined {
  const { action, entriesBefore, entriesAfter, entryLimit, leftOutAfter } = preview;
  if (leftOutAfter !== undefined && leavesMoreOut(preview)) return willLeaveOutEvent(entryLimit, leftOutAfter).text;
  if (action !== 'block' || cost === undefined || entriesBefore > entryLimit || entriesAfter <= entryLimit) return undefined;
  return willExceedEvent(entriesBefore, entriesAfter, entryLimit, cost).text;
}

/** The networks of countries and ASNs, each counted once while the geo data stay the same. */
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
