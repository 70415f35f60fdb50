/** SPEC D29.8. Fetches of the last day count, one per feed, format and family. */
import { documentKey } from '../../account/device.ts';
import { TARGETS } from '../../account/target.ts';
import { DAY } from '../../clock.ts';
import { FORMATS, formatOf } from '../../feed/formats/table.ts';
import type { WatchedFeed } from '../../feed/monitor/feed-watch.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import { devicePage, everyItem } from '../../ports/stored/paginate.ts';

/** At 90% or more of its overall limit. */
export interface FullDevice {
  readonly id: string;
  readonly user_agent: string;
  readonly address: string;
  readonly key_id: string;
  readonly workspace: string;
  readonly target: string;
  /** In all feeds as last built. */
  readonly entries: number;
  readonly limit: number;
  readonly feeds: readonly string[];
}

const NEAR = 0.9;
/** Per read, and in all. */
const PAGE = 500;
const MOST_RETURNED = 100;

/** undefined if the limit is per feed or unknown. */
function deviceLimit(target: string | null | undefined): number | undefined {
  const row = target == null ? undefined : TARGETS[target];
  return row?.counts === 'device' ? (row.maxEntries ?? undefined) : undefined;
}

/** `now` in ms. */
export async function fullDevices(
  store: Pick<StoreReads, 'devices'>,
  { workspaceId, name, feeds, now }: { workspaceId: string; name: string; feeds: readonly WatchedFeed[]; now: number },
): Promise<FullDevice[]> {
  const own = feeds.filter((feed) => feed.workspaceId === workspaceId);
  // Most workspaces have no such feed: read nothing.
  if (!own.some(({ target }) => deviceLimit(target) !== undefined)) return [];
  const found: FullDevice[] = [];
  for await (const device of everyItem((page) => devicePage(store, workspaceId, page, { since: now - DAY }), PAGE)) {
    const full = fullDevice(device, own, name, now);
    if (full !== undefined) found.push(full);
    if (found.length === MOST_RETURNED) break;
  }
  return found;
}

/** Only if it has several feeds, one of them with an overall limit. */
export function fullDevice(device: Device, feeds: readonly WatchedFeed[], workspace: string, now: number): FullDevice | undefined {
  const pulled = new Map(device.documents.filter(({ at }) => at > now - DAY).map((document) => [documentKey(document), document]));
  const current = [...pulled.values()].flatMap(({ feedId, format, family, action }) => {
    const of = formatOf(format);
    const built = feeds.filter(
      (feed) =>
        feed.feedId === feedId && feed.family === family && feed.action === action && of !== undefined && feed.rated === FORMATS[of].rated,
    );
    const [newest] = built.toSorted((a, b) => b.builtAt - a.builtAt);
    return newest ?? [];
  });
  const limits = current.flatMap(({ target }) => deviceLimit(target) ?? []);
  const limit = Math.min(...limits);
  const entries = current.reduce((sum, feed) => sum + feed.facts.entryCount, 0);
  if (current.length < 2 || limits.length === 0 || entries < limit * NEAR) return undefined;
  const { id, userAgent: user_agent, address, keyId: key_id } = device;
  const target = current.find((feed) => deviceLimit(feed.target) === limit)!.target!;
  return { id, user_agent, address, key_id, workspace, target, entries, limit, feeds: [...new Set(current.map(({ name }) => name))] };
}
