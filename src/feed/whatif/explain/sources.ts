import type { AddressSet } from '@weir/network/address-set.ts';
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { readV6 } from '@weir/network/words.ts';
import { workspaceProfile } from '../../../account/feed.ts';
import type { BlockGuard, GuardRails } from '../../../account/guard-rails.ts';
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
import { trimKey } from '../../build/render-feed.ts';
import { storedCut } from '../../build/trim.ts';
import { storedVariant } from '../../variant.ts';
import { addressesOf, touches } from './explain-feed.ts';
import type { FeedSource, StoredAccessRule } from './explanation.ts';

export interface ExplainOptions {
  readonly store: Pick<StoreReads, 'rules' | 'rulesById' | 'directory' | 'feeds' | 'origins' | 'snapshot'>;
  readonly geo: GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly now: Instant;
  /** Maximum rules examined per target; above it, rejects with REFUSED. Undefined: no limit. */
  readonly mostRules?: number | undefined;
  /** Maximum rules returned per feed. Undefined: all. */
  readonly mostReturned?: number | undefined;
  readonly mostUntouched?: number | undefined;
  /** Yields to other work; called often. Rejects after the time limit. Undefined: never yields. */
  readonly pause?: (() => Promise<void> | undefined) | undefined;
}

export const isHost = (target: Target): boolean =>
  target.kind === 'ip' && target.network.prefix === (target.network.family === 4 ? 32 : 128);

/** The workspace's active access rules overlapping the target or having it as target; with `since` (ms), also stored ones expired since. */
export async function touchingRules(
  workspaceId: string,
  target: Target,
  { store, geo, now, mostRules, pause }: ExplainOptions,
  since: number = now.wall,
): Promise<StoredAccessRule[]> {
  let looked = 0;
  const asked = addressesOf(target, 'both', geo);
  const name = formatTarget(target);
  const find = async (match: RuleMatch, accepts: (rule: StoredAccessRule) => boolean = () => true) => {
    const found: StoredAccessRule[] = [];
    for await (const rule of store.rules(workspaceId, { kind: 'access_rule', now: since, match })) {
      looked += 1;
      if (looked % TURN === 0) await pause?.();
      if (looked > (mostRules ?? Number.POSITIVE_INFINITY)) throw tooManyRules(`${looked - 1} rules must be examined`);
      if (accepts(rule as StoredAccessRule)) found.push(rule as StoredAccessRule);
    }
    return found;
  };
  const isTouching = ({ rule }: StoredAccessRule) => formatTarget(rule.target) === name || touches(rule.target, asked, geo);
  if (target.kind !== 'ip') {
    const sink = new TouchingIds(asked, (other) => formatTarget(other) === name || touches(other, asked, geo));
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
  ];
  // A rule on exactly this network both covers it and is inside it.
  return [...new Map(found.map((stored) => [stored.id, stored])).values()];
}

/** Rules examined per turn. */
const TURN = 100;

const tooManyRules = (what: string) => new WeirError('REFUSED', `more than ${what}; ask about an address or a smaller network`);

/** Collects ids of rules overlapping a set. Examines every rule of the workspace without creating objects. */
class TouchingIds implements RuleSink {
  readonly ids = new Set<number>();
  readonly #asked: AddressSet;
  readonly #isTouching: (target: GeoTarget) => boolean;
  readonly #ends = new Uint32Array(8);

  constructor(asked: AddressSet, isTouching: (target: GeoTarget) => boolean) {
    this.#asked = asked;
    this.#isTouching = isTouching;
  }

  v4(id: number, _role: RuleRole, address: number, prefix: number): void {
    if (this.#asked.v4.overlaps(address >>> 0, lastAddressV4(address, prefix))) this.ids.add(id);
  }

  v6(id: number, _role: RuleRole, bytes: Uint8Array, at: number, prefix: number): void {
    readV6(bytes, at, this.#ends, 0);
    lastAddressV6(this.#ends, 0, prefix, this.#ends, 4);
    if (this.#asked.v6.overlaps(this.#ends, 0)) this.ids.add(id);
  }

  geo(id: number, _role: RuleRole, target: GeoTarget): void {
    if (this.#isTouching(target)) this.ids.add(id);
  }
}

/** Selects a feed's rules, in order: those of its lists, and all never-block rules. Faster than comparing every rule with every feed. */
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
  return sources.map((source) => ({ ...source, managed, agreeing: agreeing.get(source.id) }));
}
