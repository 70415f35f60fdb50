/** The way of a target from who blocked it to the boxes that enforce that, for one picture (SPEC D10.24 to D10.27). */
import { networksAround } from '@weir/network/sets/nesting.ts';
import { isoTime } from '../../clock.ts';
import type { Explained, ExplainedTarget } from '../../feed/whatif/explain/explain.ts';
import { nullable, Type } from '../../json/schema.ts';
import type { Device } from '../../ports/devices.ts';
import type { Locate } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import type { RuleVersion } from '../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import type { Names } from '../rules/rule-json.ts';
import { bouncersOf, type Compared, devicesOf, type Puller, settledAt } from './enforcement.ts';
import { targetHistory } from './target-history.ts';

/** Feeds of which devices are told, devices that are told of each, and events of the history, at most. */
const FEEDS = 50;
const TOLD = 20;
const EVENTS = 50;
/** Devices and bouncers of one read, which no poll should notice. */
const PAGE = 250;

/** What the path adds to what a look-up tells: of each feed by its place, and of the whole. */
export interface Path {
  readonly feeds: ReadonlyMap<number, ReturnType<typeof feedJson>>;
  readonly whole: object;
}

type Reads = Pick<ManageContext, 'workspaceId' | 'locate' | 'now' | 'step'> & { readonly store: StoreReads };

/** Makes the path of what was explained, in steps: the ledger of a workspace may have thousands of devices. */
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
  const told = new Map<number, ReturnType<typeof feedJson>>();
  for (const { feed, place } of first) {
    await step(async () => {
      const settled = settledAt(feed, versions, origins);
      const compared: Compared = { target, action, feedId: feed.source.id, settledAt: settled };
      const pullers = [...devicesOf(devices, compared), ...bouncersOf(bouncers, compared)];
      if (feed.explanation.verdict !== 'out') {
        for (const puller of pullers) enforcing.set(idOf(puller), enforcing.get(idOf(puller)) === true || puller.state === 'has');
      }
      told.set(place, feedJson(feed, pullers, settled, names));
    });
  }
  return {
    feeds: told,
    whole: {
      where: whereJson(where),
      enforced: { by: [...enforcing.values()].filter(Boolean).length, of: enforcing.size },
      devices_left_out_feeds: concerned.length - first.length,
      history: targetHistory(versions, names, now()).slice(0, EVENTS),
    },
  };
}

/** Where a target is, as it is told. */
export const whereJson = (where: Locate | null) =>
  where && { country: where.country, asn: where.asn, asn_name: where.asnName, attribution: where.attribution };

/** Lists of a workspace in which what was on the networks around a target is looked for, too: each is looked up for each of them. */
const LISTS = 200;

/** The targets whose rules concern all of a target: its own, the networks around it, its country and ASN. */
function targetsAround(target: Target, where: Locate | null): string[] {
  if (target.kind !== 'ip') return [formatTarget(target)];
  const networks = networksAround(target.network).map((network) => formatTarget({ kind: 'ip', network }));
  return [...networks, ...(where?.country ? [where.country] : []), ...(where?.asn ? [`AS${where.asn}`] : [])];
}

const RANK = { in: 0, partly: 1, out: 2 } as const;

/** Whether a rule, or one that was there lately, concerns it in a feed. */
const isConcerned = ({ source, explanation, expired }: Explained, versions: readonly RuleVersion[]): boolean =>
  explanation.rules.length > 0 ||
  (expired !== undefined && (expired.in !== null || expired.out !== null)) ||
  versions.some(({ stored }) => source.lists === null || source.lists.has(stored.listId!));

const idOf = ({ kind, keyId, userAgent, address }: Puller): string => [kind, keyId, address, userAgent].join(' ');

/** Who pulls a feed. */
export type Pulled = ReturnType<typeof feedJson>['pulled_by'];

function feedJson({ never }: Explained, pullers: readonly Puller[], settled: number | null, names: Names) {
  const sorted = pullers.toSorted((a, b) => ORDER[a.state] - ORDER[b.state] || b.lastPull - a.lastPull);
  const count = (state: Puller['state']) => pullers.filter((puller) => puller.state === state).length;
  return {
    settled_at: settled ? isoTime(settled) : null,
    never_block: never ?? null,
    pulled_by: {
      total: pullers.length,
      has: count('has'),
      behind: count('behind'),
      unknown: count('unknown'),
      told: sorted.slice(0, TOLD).map((puller) => pullerJson(puller, names)),
    },
  };
}

/** Those that need a look come first. */
const ORDER = { behind: 0, unknown: 1, has: 2 } as const;

const pullerJson = ({ kind, device, keyId, userAgent, address, state, contentAt, lastPull, stoppedAt }: Puller, { keys }: Names) => ({
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
});

/** All that pull something of a workspace: as many as are kept of one (SPEC D16.9, D14.14). */
async function readPullers(
  store: Reads['store'],
  workspaceId: string,
  step: Reads['step'],
): Promise<{ devices: Device[]; bouncers: Bouncer[] }> {
  const devices: Device[] = [];
  for (let page: Device[] | undefined; page === undefined || page.length === PAGE; devices.push(...page)) {
    const after = devices.at(-1)?.id;
    page = await step(() => store.devices(workspaceId, { limit: PAGE, ...(after !== undefined && { after }) }));
  }
  const bouncers: Bouncer[] = [];
  for (let after: string | null | undefined = null; after !== undefined; ) {
    const page: { items: readonly Bouncer[]; next: string | null } = await step(() =>
      store.bouncerPage(workspaceId, { after: after ?? null, limit: PAGE }),
    );
    bouncers.push(...page.items);
    after = page.next ?? undefined;
  }
  return { devices, bouncers };
}

const free = Type.Unsafe<unknown>({ type: 'object', additionalProperties: true });
const VERDICT = Type.Enum(['in', 'partly', 'out']);

/** The fields of a feed that `path` adds. */
export const FEED_PATH = {
  settled_at: Type.Optional(
    nullable(Type.String(), {
      description: 'With path: since when the feed says this of the target; null: nothing is known to have changed.',
    }),
  ),
  never_block: Type.Optional(
    nullable(Type.Object({ verdict: VERDICT, subtract: nullable(free) }), {
      description:
        'With path: what a never-block rule on the target, in the default list, would do, and which subtract_allow takes it out then.',
    }),
  ),
  pulled_by: Type.Optional(
    Type.Object(
      { total: Type.Integer(), has: Type.Integer(), behind: Type.Integer(), unknown: Type.Integer(), told: Type.Array(free) },
      {
        description:
          'With path: the devices and bouncers that pull the feed in a family of the target. has: what it got says of the target what the feed says now; behind: it is not seen to have got that yet; unknown. 20 are told, those that are behind first.',
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

/** The fields of the whole that `path` adds. */
export const WHOLE_PATH = {
  where: Type.Optional(
    nullable(Type.Object(WHERE), {
      description:
        'With path: the country and the ASN of an address, and what the ASN is called, by the geo data in use; null: of a country. attribution: whom the licence of these data asks to name where they are shown.',
    }),
  ),
  enforced: Type.Optional(
    Type.Object(
      { by: Type.Integer(), of: Type.Integer() },
      { description: 'With path: how many of the devices and bouncers that pull feeds which have the target have it.' },
    ),
  ),
  devices_left_out_feeds: Type.Optional(
    Type.Integer({ description: `With path: feeds that are concerned beyond the first ${FEEDS}, of which devices are not told.` }),
  ),
  history: Type.Optional(
    Type.Array(free, {
      description: `With path: what happened to rules on this target and (of a workspace with 200 lists at most) on networks around it, newest first, ${EVENTS} at most.`,
    }),
  ),
};
