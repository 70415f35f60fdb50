/** From rule to device (SPEC D10.24 to D10.27). */
import { networksAround } from '@weir/network/sets/nesting.ts';
import { isoTime } from '../../clock.ts';
import type { Explained, ExplainedTarget } from '../../feed/whatif/explain/explain.ts';
import { nullable, Type } from '../../json/schema.ts';
import type { Locate } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import { devicePage, everyItem } from '../../ports/stored/paginate.ts';
import type { RuleVersion } from '../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { deviceNames, refusalsOf } from '../devices/device-json.ts';
import type { Names } from '../rules/rule-json.ts';
import { bouncersOf, type Compared, devicesOf, type Puller, type RefusedDevice, settledAt } from './enforcement.ts';
import { targetHistory } from './target-history.ts';

/** Limits: feeds, devices per feed, events. */
const FEEDS = 50;
const MOST_CLIENTS = 20;
const EVENTS = 50;
/** Small, so as not to delay polls. */
const PAGE = 250;

export interface Path {
  readonly feeds: ReadonlyMap<number, ReturnType<typeof feedJson>>;
  /** Feeds refused for their size, by index. */
  readonly overCap: ReadonlySet<number>;
  readonly summary: object;
}

type Reads = Pick<ManageContext, 'workspaceId' | 'locate' | 'now' | 'step'> & { readonly store: StoreReads };

export async function pathOf(
  { store, workspaceId, locate, now, step }: Reads,
  { target, action }: { readonly target: Target; readonly action: AccessAction },
  { feeds, origins }: ExplainedTarget,
  names: Names,
): Promise<Path> {
  const where = locate(target);
  const around = (await store.listCount(workspaceId)) <= LISTS ? targetsAround(target, where) : [formatTarget(target)];
  const versions = await store.ruleVersions(workspaceId, around, EVENTS);
  const concerned = feeds.map((feed, place) => ({ feed, place })).filter(({ feed }) => isConcerned(feed, versions));
  const first = concerned.toSorted((a, b) => RANK[a.feed.explanation.verdict] - RANK[b.feed.explanation.verdict]).slice(0, FEEDS);
  const { devices, bouncers } = await readPullers(store, workspaceId, step);
  const enforcing = new Map<string, boolean>();
  const explainedFeeds = new Map<number, ReturnType<typeof feedJson>>();
  const overCap = new Set<number>();
  for (const { feed, place } of first) {
    await step(async () => {
      const settled = settledAt(feed, versions, origins);
      const isIn = feed.explanation.verdict !== 'out';
      const compared: Compared = { target, action, feedId: feed.source.id, settledAt: settled, isIn };
      const pullers = [...devicesOf(devices, compared), ...bouncersOf(bouncers, compared)];
      if (isIn) {
        for (const puller of pullers) enforcing.set(idOf(puller), enforcing.get(idOf(puller)) === true || puller.state === 'has');
      }
      if (pullers.some(({ refused }) => refused === 413)) overCap.add(place);
      explainedFeeds.set(place, feedJson(feed, pullers, settled, names));
    });
  }
  return {
    feeds: explainedFeeds,
    overCap,
    summary: {
      where: whereJson(where),
      enforced: { by: [...enforcing.values()].filter(Boolean).length, of: enforcing.size },
      devices_left_out_feeds: concerned.length - first.length,
      history: targetHistory(versions, names, now()).slice(0, EVENTS),
    },
  };
}

export const whereJson = (where: Locate | null) =>
  where && { country: where.country, asn: where.asn, asn_name: where.asnName, attribution: where.attribution };

/** Above this, the history omits networks around the target: each list costs a look-up per network. */
const LISTS = 200;

/** Itself, the networks around it, its country and ASN. */
export function targetsAround(target: Target, where: Locate | null): string[] {
  if (target.kind !== 'ip') return [formatTarget(target)];
  const networks = networksAround(target.network).map((network) => formatTarget({ kind: 'ip', network }));
  return [...networks, ...(where?.country ? [where.country] : []), ...(where?.asn ? [`AS${where.asn}`] : [])];
}

const RANK = { in: 0, partly: 1, out: 2 } as const;

const isConcerned = ({ source, explanation, expired }: Explained, versions: readonly RuleVersion[]): boolean =>
  explanation.rules.length > 0 ||
  (expired !== undefined && (expired.in !== null || expired.out !== null)) ||
  versions.some(({ stored }) => source.lists === null || source.lists.has(stored.listId!));

const idOf = ({ kind, keyId, userAgent, address }: Puller): string => [kind, keyId, address, userAgent].join(' ');

export type Pulled = ReturnType<typeof feedJson>['pulled_by'];

function feedJson({ never }: Explained, pullers: readonly Puller[], settled: number | null, names: Names) {
  const sorted = pullers.toSorted(
    (a, b) => ORDER[a.state] - ORDER[b.state] || Number(b.refused !== null) - Number(a.refused !== null) || b.lastPull - a.lastPull,
  );
  const count = (state: Puller['state']) => pullers.filter((puller) => puller.state === state).length;
  return {
    settled_at: settled ? isoTime(settled) : null,
    never_block: never ?? null,
    pulled_by: {
      total: pullers.length,
      has: count('has'),
      behind: count('behind'),
      unknown: count('unknown'),
      refused: pullers.filter(({ refused }) => refused !== null).length,
      told: sorted.slice(0, MOST_CLIENTS).map((puller) => pullerJson(puller, names)),
    },
  };
}

/** Problems first. */
const ORDER = { behind: 0, unknown: 1, has: 2 } as const;

const pullerJson = (
  { kind, device, keyId, userAgent, address, state, contentAt, lastPull, stoppedAt, refused, verifiedAt }: Puller,
  { keys }: Names,
) => ({
  kind,
  id: device?.id ?? null,
  key_id: keyId,
  key_name: keys.get(keyId) ?? null,
  user_agent: userAgent,
  address,
  state,
  content_at: isoTime(contentAt),
  last_pull: isoTime(lastPull),
  stopped_at: isoTime(stoppedAt),
  refused,
  verified_at: isoTime(verifiedAt),
});

/** Their number is limited (SPEC D16.9, D14.14). */
async function readPullers(
  store: Reads['store'],
  workspaceId: string,
  step: Reads['step'],
): Promise<{ devices: RefusedDevice[]; bouncers: Bouncer[] }> {
  const devices = await Array.fromAsync(everyItem((page) => step(() => devicePage(store, workspaceId, page)), PAGE));
  const bouncers = await Array.fromAsync(everyItem((page) => step(() => store.bouncerPage(workspaceId, page)), PAGE));
  const names = await deviceNames(store, workspaceId, devices);
  return { devices: devices.map((device) => ({ ...device, refusals: refusalsOf(device, names) })), bouncers };
}

const free = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true });
const VERDICT = Type.Enum(['in', 'partly', 'out']);

export const FEED_PATH = {
  settled_at: Type.Optional(
    nullable(Type.String(), {
      description: 'With path: since when the feed has had this verdict; null: no known change.',
    }),
  ),
  never_block: Type.Optional(
    nullable(Type.Object({ verdict: VERDICT, subtract: nullable(free) }), {
      description: 'With path: the verdict if the target were allowed in the default list, and the subtract_allow that would be needed.',
    }),
  ),
  pulled_by: Type.Optional(
    Type.Object(
      {
        ...{ total: Type.Integer(), has: Type.Integer(), behind: Type.Integer(), unknown: Type.Integer(), refused: Type.Integer() },
        told: Type.Array(free),
      },
      {
        description:
          'With path: devices and bouncers that fetch the feed in a family of the target. has: already has the current verdict; behind: update not confirmed yet; unknown. refused: those that are currently refused the feed (4xx); they keep their previous content. At most 20 are listed, those behind first.',
      },
    ),
  ),
};

const WHERE = {
  country: nullable(Type.String()),
  asn: nullable(Type.Integer()),
  asn_name: nullable(Type.String()),
  attribution: nullable(Type.String()),
};

export const PATH_SCHEMA = {
  where: Type.Optional(
    nullable(Type.Object(WHERE), {
      description:
        'With path: country and ASN of an address, or of all addresses of a network, from the current geo data; null for a country. attribution: the credit that the licence of the data requires wherever it is displayed.',
    }),
  ),
  enforced: Type.Optional(
    Type.Object(
      { by: Type.Integer(), of: Type.Integer() },
      { description: 'With path: how many of the devices and bouncers whose feeds contain the target already have it.' },
    ),
  ),
  devices_left_out_feeds: Type.Optional(
    Type.Integer({ description: `With path: number of further feeds, beyond the first ${FEEDS}, for which devices are not listed.` }),
  ),
  history: Type.Optional(
    Type.Array(free, {
      description: `With path: changes of rules on this target and (in a workspace with at most 200 lists) on networks around it, newest first, at most ${EVENTS}.`,
    }),
  ),
};
