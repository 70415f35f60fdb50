import { type AddressSet, overlaps } from '@weir/network/address-set.ts';
import { firstAddressV4, lastAddressV4, lastAddressV6, maskHostBits } from '@weir/network/bounds.ts';
import { readV6 } from '@weir/network/words.ts';
import { workspaceProfile } from '../../../account/feed.ts';
import type { BlockGuard, GuardRails } from '../../../account/guard-rails.ts';
import type { AccessList } from '../../../account/list.ts';
import type { Workspace } from '../../../account/workspace.ts';
import type { Instant } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { RuleSink } from '../../../ports/snapshot.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { RuleMatch } from '../../../ports/stored/rule-queries.ts';
import type { GeoTarget, RuleRole, Target } from '../../../rule.ts';
import { inChunks } from '../../../schedule/chunks.ts';
import { formatTarget } from '../../../signal/target.ts';
import type { SnapshotSource } from '../../build/document-builder.ts';
import { trimKey } from '../../build/render-feed.ts';
import { storedCut } from '../../build/trim.ts';
import { isBare, storedVariant } from '../../variant.ts';
import { type HostPrefixes, hostPrefixes, networkAround, Widening } from '../../widening.ts';
import { addressesOf, touches } from './explain-feed.ts';
import type { FeedSource, StoredAccessRule } from './explanation.ts';

export interface ExplainOptions {
  readonly store: Pick<StoreReads, 'rules' | 'rulesById' | 'directory' | 'feeds' | 'origins' | 'snapshot'>;
  readonly geo: GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly now: Instant;
  /** Snapshots that this thread caches; undefined: they are read from the store. */
  readonly cached?: SnapshotSource | undefined;
  /** Maximum rules examined per target; above it, rejects with REFUSED. Undefined: no limit. */
  readonly mostRules?: number | undefined;
  /** undefined: all. */
  readonly mostReturned?: number | undefined;
  readonly mostUntouched?: number | undefined;
  /** Called often. Rejects after the time limit. undefined: never yields. */
  readonly pause?: (() => Promise<void> | undefined) | undefined;
}

export const isHost = (target: Target): boolean =>
  target.kind === 'ip' && target.network.prefix === (target.network.family === 4 ? 32 : 128);

/** Hosts of a list near the target that are enough to explain it, for each way to widen them: all are served as the same network. */
const ENOUGH_HOSTS = 100;

const widestHosts = (feeds: readonly FeedSource[]): HostPrefixes =>
  feeds
    .flatMap(({ hosts }) => [...(hosts?.values() ?? [])])
    .reduce((widest, { v4, v6 }) => ({ v4: Math.min(widest.v4, v4), v6: Math.min(widest.v6, v6) }), { v4: 32, v6: 128 });

/**
 * The workspace's active access rules overlapping the target, or networks as which `feeds` serve hosts, or having it as target; with
 * `since` (ms), also stored ones expired since.
 */
export async function touchingRules(
  workspaceId: string,
  target: Target,
  feeds: readonly FeedSource[],
  { store, geo, now, mostRules, pause }: ExplainOptions,
  since: number = now.wall,
): Promise<StoredAccessRule[]> {
  let looked = 0;
  const asked = addressesOf(target, 'both', geo);
  const name = formatTarget(target);
  const widest = widestHosts(feeds);
  const find = async (match: RuleMatch, accepts: (rule: StoredAccessRule) => boolean = () => true, most = mostRules) => {
    const found: StoredAccessRule[] = [];
    for await (const rule of store.rules(workspaceId, { kind: 'access_rule', now: since, match })) {
      looked += 1;
      if (looked % TURN === 0) await pause?.();
      if (looked > (most ?? Number.POSITIVE_INFINITY)) throw tooManyRules(`${looked - 1} rules must be examined`);
      if (accepts(rule as StoredAccessRule)) found.push(rule as StoredAccessRule);
    }
    return found;
  };
  const isTouching = ({ rule }: StoredAccessRule) => formatTarget(rule.target) === name || touches(rule.target, asked, geo);
  if (target.kind !== 'ip') {
    const sink = new TouchingIds(asked, widest, (other) => formatTarget(other) === name || touches(other, asked, geo));
    await store.snapshot(workspaceId, null, now.wall, sink);
    if (sink.ids.size > (mostRules ?? Number.POSITIVE_INFINITY)) throw tooManyRules(`${mostRules} rules have addresses of ${name}`);
    const touching: StoredAccessRule[] = [];
    for (const ids of inChunks(
      [...sink.ids].sort((a, b) => a - b),
      TURN,
    )) {
      await pause?.();
      touching.push(...((await store.rulesById(workspaceId, 'access_rule', ids)) as StoredAccessRule[]));
    }
    return touching;
  }
  const { network } = target;
  const found = [
    ...(await find({ how: 'covering', network })),
    ...(isHost(target) ? [] : await find({ how: 'covered', network })),
    ...(await find({ how: 'geo' }, isTouching)),
    ...(await nearHosts()),
  ];
  // A rule on exactly this network both covers it and is inside it.
  return [...new Map(found.map((stored) => [stored.id, stored])).values()];

  async function nearHosts(): Promise<StoredAccessRule[]> {
    const prefix = network.family === 4 ? widest.v4 : widest.v6;
    if (prefix >= network.prefix) return [];
    const ways = new Map(
      feeds.flatMap(({ hosts = [] }) => [...hosts].map(([list, of]) => [`${list} ${of.v4} ${of.v6}`, { list, of, left: ENOUGH_HOSTS }])),
    );
    const byList = Map.groupBy(ways.values(), ({ list }) => list);
    const isNeeded = ({ listId, rule: { action, target: host } }: StoredAccessRule) => {
      if (action !== 'block' || host.kind !== 'ip' || !isHost(host)) return false;
      const near = byList.get(listId ?? '')?.filter(({ of }) => overlaps(asked, new Widening(of, undefined).served(host.network))) ?? [];
      const isFew = near.some(({ left }) => left > 0);
      for (const way of near) way.left -= 1;
      return isFew;
    };
    return find({ how: 'covered', network: networkAround(network, prefix) }, isNeeded, Number.POSITIVE_INFINITY);
  }
}

const TURN = 100;

const tooManyRules = (what: string) => new WeirError('REFUSED', `more than ${what}; ask about an address or a smaller network`);

/** Examines every rule of the workspace without creating objects. */
class TouchingIds implements RuleSink {
  readonly ids = new Set<number>();
  readonly #asked: AddressSet;
  readonly #widening: Widening;
  readonly #isTouching: (target: GeoTarget) => boolean;
  readonly #ends = new Uint32Array(8);

  constructor(asked: AddressSet, widest: HostPrefixes, isTouching: (target: GeoTarget) => boolean) {
    this.#asked = asked;
    this.#widening = new Widening(widest, undefined);
    this.#isTouching = isTouching;
  }

  v4(id: number, _role: RuleRole, address: number, prefix: number): void {
    const served = this.#widening.v4(address, prefix);
    if (this.#asked.v4.overlaps(firstAddressV4(address, served), lastAddressV4(address, served))) this.ids.add(id);
  }

  v6(id: number, _role: RuleRole, bytes: Uint8Array, at: number, prefix: number): void {
    readV6(bytes, at, this.#ends, 0);
    const served = this.#widening.v6(this.#ends, 0, prefix);
    maskHostBits(this.#ends, 0, served);
    lastAddressV6(this.#ends, 0, served, this.#ends, 4);
    if (this.#asked.v6.overlaps(this.#ends, 0)) this.ids.add(id);
  }

  geo(id: number, _role: RuleRole, target: GeoTarget): void {
    if (this.#isTouching(target)) this.ids.add(id);
  }
}

/** A feed's rules, in order: of its lists, and all never-block rules. Faster than comparing every rule with every feed. */
export function rulesByFeed(rules: readonly StoredAccessRule[]): (feed: FeedSource) => readonly StoredAccessRule[] {
  const places = new Map(rules.map((stored, place) => [stored, place]));
  const allows = rules.filter(({ rule }) => rule.action === 'allow');
  const blocks = Map.groupBy(
    rules.filter(({ rule }) => rule.action !== 'allow'),
    ({ listId }) => listId,
  );
  return ({ lists }) => {
    if (lists === null) return rules;
    const own = [...lists].flatMap((list) => blocks.get(list) ?? []);
    return [...own, ...allows].sort((a, b) => places.get(a)! - places.get(b)!);
  };
}

export async function feedSources({ store, now }: Pick<ExplainOptions, 'store' | 'now'>, workspace: Workspace): Promise<FeedSource[]> {
  const lists = (await store.directory(workspace.id))?.lists ?? [];
  const composed = await store.feeds(workspace.id);
  const managed = new Set(lists.filter(({ sourceId }) => sourceId !== null).map(({ id }) => id));
  const sources: FeedSource[] = [
    { kind: 'workspace', id: null, profile: workspaceProfile(workspace), lists: null },
    ...lists.map((list): FeedSource => ({ kind: 'list', id: list.id, profile: list, lists: new Set([list.id]) })),
    ...composed.map((feed): FeedSource => ({ kind: 'composed', id: feed.id, profile: feed, lists: feed.lists && new Set(feed.lists) })),
  ];
  const agreeing = new Map<string | null, FeedSource['agreeing']>();
  for (const { id, minSources, fit } of composed) {
    const head = (minSources ?? fit) === null ? undefined : await store.snapshot(workspace.id, id, now.wall, undefined);
    if (head?.quorum === undefined) continue;
    const { quorum, lists } = head;
    // The trim of the last build.
    const cut = storedCut(head, trimKey({ head }, storedVariant(head.profile))) ?? { left: [], least: quorum.minSources };
    agreeing.set(id, { quorum, lists, cut });
  }
  return sources.map((source) => ({ ...source, managed, agreeing: agreeing.get(source.id), hosts: hostsIn(source, lists) }));
}

function hostsIn({ profile, lists: own }: FeedSource, lists: readonly AccessList[]): NonNullable<FeedSource['hosts']> {
  if (isBare(profile, storedVariant(profile).format)) return new Map();
  return new Map(
    lists.flatMap((list) => {
      const hosts = own === null || own.has(list.id) ? hostPrefixes(list, profile) : undefined;
      return hosts === undefined ? [] : [[list.id, hosts] as const];
    }),
  );
}
