/** Who has used a key, or pulled a feed, in the last ten minutes: devices, agents and bouncers, as far as they are written (SPEC D16.12). */

import { isoTime } from '../../clock.ts';
import { type Fields, listOf, nullable, Type } from '../../json/schema.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import { inWords } from '../../text/duration.ts';

/** Who has pulled within this time uses what he pulls, ms. */
export const LATELY = 600_000;
export const LATELY_WORDS = `in the last ${inWords(LATELY)}`;
/** Devices or bouncers that one read asks for, and those that are told. */
const PAGE = 1000;
const TOLD = 20;

/** One that has pulled. */
export interface RecentUse {
  /** `device`: a feed, rules, or the configuration of agents; `bouncer`: decisions. */
  readonly kind: 'device' | 'bouncer';
  readonly key_id: string;
  readonly key_name: string | null;
  readonly user_agent: string;
  readonly address: string;
  readonly last_pull: string | null;
}

export interface RecentUses {
  readonly pulled: readonly RecentUse[];
  /** How many more there are. */
  readonly pulled_left_out: number;
}

/** `RecentUses` in API documents. */
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
    { description: `Who has pulled with it ${LATELY_WORDS}, as far as that is written: once a minute, newcomers within seconds.` },
  ),
  pulled_left_out: 0,
} as const satisfies Fields;

type Reads = Pick<StoreReads, 'devices' | 'bouncerPage' | 'ping'>;

/** Which pulls are meant: those with one of these keys, and those of this feed's documents. */
export interface Used {
  readonly keyIds: ReadonlySet<string>;
  /** The UUID of a list or a composed feed. */
  readonly feedId?: string;
}

/** Who has pulled lately; `names` are those of keys by their id. */
export async function recentUses(
  store: Reads,
  workspaceId: string,
  { keyIds, feedId }: Used,
  names: ReadonlyMap<string, string | null>,
): Promise<RecentUses> {
  const since = (await store.ping()) - LATELY;
  const isRecent = (at: number) => at >= since;
  const isDevice = ({ keyId, documents, refusals }: Device) =>
    keyIds.has(keyId) || (feedId !== undefined && [...documents, ...refusals].some((each) => each.feedId === feedId && isRecent(each.at)));
  const isBouncer = (each: Bouncer) =>
    isRecent(each.lastPull) && (keyIds.has(each.keyId) || (feedId !== undefined && each.feedId === feedId));
  const found: (Pick<Device, 'keyId' | 'userAgent' | 'address' | 'lastPull'> & { readonly kind: RecentUse['kind'] })[] = [];
  for await (const device of devicesSince(store, workspaceId, since)) if (isDevice(device)) found.push({ ...device, kind: 'device' });
  for await (const bouncer of allBouncers(store, workspaceId)) if (isBouncer(bouncer)) found.push({ ...bouncer, kind: 'bouncer' });
  found.sort((a, b) => b.lastPull - a.lastPull);
  const pulled = found.slice(0, TOLD).map(({ kind, keyId, userAgent, address, lastPull }) => ({
    kind,
    key_id: keyId,
    key_name: names.get(keyId) ?? null,
    user_agent: userAgent,
    address,
    last_pull: isoTime(lastPull),
  }));
  return { pulled, pulled_left_out: found.length - pulled.length };
}

async function* devicesSince(store: Pick<StoreReads, 'devices'>, workspaceId: string, since: number): AsyncGenerator<Device> {
  for (let after: string | undefined; ; ) {
    const page: Device[] = await store.devices(workspaceId, { since, limit: PAGE, ...(after !== undefined && { after }) });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.id;
  }
}

/** The bouncers of a workspace. */
const allBouncers = (store: Pick<StoreReads, 'bouncerPage'>, workspaceId: string): AsyncGenerator<Bouncer> =>
  everyItem((page) => store.bouncerPage(workspaceId, page));
