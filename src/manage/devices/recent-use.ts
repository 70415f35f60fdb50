/** Clients of the last ten minutes, as far as stored (SPEC D16.12). */

import { isoTime } from '../../clock.ts';
import { type Fields, listOf, nullable, Type } from '../../json/schema.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { devicePage, everyItem } from '../../ports/stored/paginate.ts';
import { inWords } from '../../text/duration.ts';

/** ms */
export const RECENTLY = 600_000;
export const RECENTLY_WORDS = `in the last ${inWords(RECENTLY)}`;
/** Clients returned. */
const MOST_RETURNED = 20;

export interface RecentUse {
  /** `device`: feeds, rules or agent configuration; `bouncer`: decisions. */
  readonly kind: 'device' | 'bouncer';
  readonly key_id: string;
  readonly key_name: string | null;
  readonly user_agent: string;
  readonly address: string;
  readonly last_pull: string | null;
}

export interface RecentUses {
  readonly pulled: readonly RecentUse[];
  readonly pulled_left_out: number;
}

export const RECENT_USES = {
  pulled: listOf(
    {
      kind: ['device', Type.Enum(['device', 'bouncer'])],
      key_id: ['0195a3c0-0000-7000-8000-000000000002', Type.String()],
      key_name: ['edge firewall', nullable(Type.String())],
      user_agent: 'PAN-OS',
      address: '198.51.100.8',
      last_pull: ['2026-11-22T09:59:01.000Z', nullable(Type.String())],
    },
    {
      description: `Clients that fetched with it ${RECENTLY_WORDS}. Fetches are stored once a minute, those of new clients within seconds.`,
    },
  ),
  pulled_left_out: 0,
} as const satisfies Fields;

type Reads = Pick<StoreReads, 'devices' | 'bouncerPage' | 'ping'>;

export interface Used {
  readonly keyIds: ReadonlySet<string>;
  readonly feedId?: string;
}

export async function recentUses(
  store: Reads,
  workspaceId: string,
  { keyIds, feedId }: Used,
  names: ReadonlyMap<string, string | null>,
): Promise<RecentUses> {
  const since = (await store.ping()) - RECENTLY;
  const isRecent = (at: number) => at >= since;
  const isDevice = ({ keyId, documents, refusals }: Device) =>
    keyIds.has(keyId) || (feedId !== undefined && [...documents, ...refusals].some((each) => each.feedId === feedId && isRecent(each.at)));
  const isBouncer = (each: Bouncer) =>
    isRecent(each.lastPull) && (keyIds.has(each.keyId) || (feedId !== undefined && each.feedId === feedId));
  const found: (Pick<Device, 'keyId' | 'userAgent' | 'address' | 'lastPull'> & { readonly kind: RecentUse['kind'] })[] = [];
  for await (const device of everyItem((page) => devicePage(store, workspaceId, page, { since })))
    if (isDevice(device)) found.push({ ...device, kind: 'device' });
  for await (const bouncer of everyItem((page) => store.bouncerPage(workspaceId, page)))
    if (isBouncer(bouncer)) found.push({ ...bouncer, kind: 'bouncer' });
  found.sort((a, b) => b.lastPull - a.lastPull);
  const pulled = found.slice(0, MOST_RETURNED).map(({ kind, keyId, userAgent, address, lastPull }) => ({
    kind,
    key_id: keyId,
    key_name: names.get(keyId) ?? null,
    user_agent: userAgent,
    address,
    last_pull: isoTime(lastPull),
  }));
  return { pulled, pulled_left_out: found.length - pulled.length };
}
