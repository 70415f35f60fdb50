/**
 * Devices whose feeds together come near what they take (SPEC D29.8). A device is a row of `weir device ls`: a key, an address and a name of
 * the client; what it has pulled within a day counts, each feed in each format and family by itself.
 */
import { documentKey } from '../../account/device.ts';
import { TARGETS } from '../../account/target.ts';
import { DAY } from '../../clock.ts';
import { FORMATS, formatOf } from '../../feed/formats/table.ts';
import type { WatchedFeed } from '../../feed/monitor/feed-watch.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';

/** A device that has 90% or more of the entries that it takes for all its feeds. */
export interface FullDevice {
  readonly id: string;
  readonly user_agent: string;
  readonly address: string;
  readonly key_id: string;
  readonly workspace: string;
  /** The kind of device that its feeds are made for. */
  readonly target: string;
  /** Of its feeds together, as they were built last. */
  readonly entries: number;
  readonly limit: number;
  readonly feeds: readonly string[];
}

const NEAR = 0.9;
/** Devices that are read at once, and that are told. */
const PAGE = 500;
const MOST_TOLD = 100;

/** What a device of this kind takes for all its feeds; undefined where it takes a number for each, or its maker tells none. */
function deviceLimit(target: string | null | undefined): number | undefined {
  const row = target == null ? undefined : TARGETS[target];
  return row?.counts === 'device' ? (row.maxEntries ?? undefined) : undefined;
}

/** The devices of a workspace that are nearly full, by its feeds as they were built last; `now` in ms. */
export async function fullDevices(
  store: Pick<StoreReads, 'devices'>,
  { workspaceId, name, feeds, now }: { workspaceId: string; name: string; feeds: readonly WatchedFeed[]; now: number },
): Promise<FullDevice[]> {
  const own = feeds.filter((feed) => feed.workspaceId === workspaceId);
  // Most workspaces have no such feed: nothing is read for them.
  if (!own.some(({ target }) => deviceLimit(target) !== undefined)) return [];
  const found: FullDevice[] = [];
  for (let after: string | undefined = ''; after !== undefined && found.length < MOST_TOLD; ) {
    const page: Device[] = await store.devices(workspaceId, { since: now - DAY, limit: PAGE, after });
    found.push(...page.flatMap((device) => fullDevice(device, own, name, now) ?? []));
    after = page.length === PAGE ? page.at(-1)!.id : undefined;
  }
  return found.slice(0, MOST_TOLD);
}

/** One device, if it has more than one feed, one of them made for devices that take a number for all, and little room for them. */
export function fullDevice(device: Device, feeds: readonly WatchedFeed[], workspace: string, now: number): FullDevice | undefined {
  const pulled = new Map(device.documents.filter(({ at }) => at > now - DAY).map((document) => [documentKey(document), document]));
  const held = [...pulled.values()].flatMap(({ feedId, format, family, action }) => {
    const of = formatOf(format);
    const built = feeds.filter(
      (feed) =>
        feed.feedId === feedId && feed.family === family && feed.action === action && of !== undefined && feed.rated === FORMATS[of].rated,
    );
    const [newest] = built.toSorted((a, b) => b.builtAt - a.builtAt);
    return newest ?? [];
  });
  const limits = held.flatMap(({ target }) => deviceLimit(target) ?? []);
  const limit = Math.min(...limits);
  const entries = held.reduce((sum, feed) => sum + feed.facts.entryCount, 0);
  if (held.length < 2 || limits.length === 0 || entries < limit * NEAR) return undefined;
  const { id, userAgent: user_agent, address, keyId: key_id } = device;
  const target = held.find((feed) => deviceLimit(feed.target) === limit)!.target!;
  return { id, user_agent, address, key_id, workspace, target, entries, limit, feeds: [...new Set(held.map(({ name }) => name))] };
}
