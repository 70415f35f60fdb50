/** Compares a feed at two points in time (SPEC D32.6), from its rules and settings then. */
import { type AddressSet, difference } from '@weir/network/address-set.ts';
import { type CidrsV4, type CidrsV6, coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { BlockGuard, GuardRails } from '../../../account/guard-rails.ts';
import { type Clock, instantOf, secondOf } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import { EXCEPTIONS_KEY, type RuleSink, type SnapshotHead, type WorkspaceDirectory } from '../../../ports/snapshot.ts';
import type { StoreReads } from '../../../ports/store.ts';
import type { AccessAction } from '../../../rule.ts';
import { addressesIn } from '../../build/content.ts';
import { contentAsked } from '../../build/render-feed.ts';
import { FeedRanges } from '../../index/feed-ranges.ts';
import { ListColumns, type Snapshot } from '../../index/snapshot.ts';
import { storedVariant, type Variant, variantOf } from '../../variant.ts';
import { needsLists } from '../../widening.ts';
import { headThen, type Replaced } from './settings-then.ts';

/** Rules of both moments together: they are in memory. */
const MOST_RULES = 4_000_000;

export interface DifferenceOptions {
  readonly store: Pick<StoreReads, 'snapshot' | 'directory' | 'placeAt' | 'rulesAt'>;
  readonly geo: GeoDatabase;
  readonly guard: (own: GuardRails) => BlockGuard;
  readonly clock: Clock;
}

export interface DifferenceAsked {
  readonly feedId: string | null;
  readonly since: number;
  readonly until: number;
  /** Newest first. */
  readonly replaced: readonly Replaced[];
  readonly family?: Variant['family'] | undefined;
  readonly action?: AccessAction | undefined;
  readonly limit: number;
}

/** A frozen feed compared with its current rules; null: the workspace's feed. */
export interface ThawAsked {
  readonly thawed: string | null;
  readonly limit: number;
}

interface FeedAt {
  readonly entries: number;
  /** HTTP 413 at the time. */
  readonly overCap: boolean;
}

interface Networks {
  readonly count: number;
  readonly first: readonly string[];
}

export interface FeedDifference {
  readonly family: Variant['family'];
  readonly action: AccessAction;
  readonly before: FeedAt;
  readonly after: FeedAt;
  readonly added: Networks;
  readonly removed: Networks;
}

/** Runs outside the main thread. Rejects with LIMITED if the queue is full. */
export type FeedDiffer = (workspaceId: string, asked: DifferenceAsked | ThawAsked) => Promise<FeedDifference>;

/** Rejects with NOT_FOUND for a deleted feed, TOO_LARGE for too many rules, and REFUSED if the earlier state is unknown. */
export async function feedDifference(workspaceId: string, asked: DifferenceAsked, options: DifferenceOptions): Promise<FeedDifference> {
  const { store, clock } = options;
  const head = await store.snapshot(workspaceId, asked.feedId, clock.now(), undefined);
  if (head === undefined) throw new WeirError('NOT_FOUND', 'the feed was deleted');
  const variant = variantAsked(head, asked);
  const directory = (await store.directory(workspaceId)) ?? { lists: [] };
  const at = (moment: number) =>
    feedAt(workspaceId, headThen(head, directory, asked.replaced, moment), directory, variant, moment, options);
  return compared(variant, [await at(asked.since), await at(asked.until)], asked.limit);
}

export interface FeedContent {
  readonly addresses: AddressSet;
  readonly size: FeedAt;
}

export const compared = (
  { family, action }: Pick<Variant, 'family' | 'action'>,
  [before, after]: readonly [FeedContent, FeedContent],
  limit: number,
): FeedDifference => ({
  ...{ family, action, before: before.size, after: after.size },
  added: networksOf(difference(after.addresses, before.addresses), limit),
  removed: networksOf(difference(before.addresses, after.addresses), limit),
});

/** Of the variant in requests without parameters; levels and bare addresses do not change the set of addresses. */
export function variantAsked({ profile }: SnapshotHead, { family, action }: Pick<DifferenceAsked, 'family' | 'action'>): Variant {
  const stored = storedVariant(profile);
  return variantOf({ format: 'plain', family: family ?? stored.family, action: action ?? stored.action }, stored);
}

/** Rejects with TOO_LARGE for too many rules. */
export async function feedAt(
  workspaceId: string,
  head: SnapshotHead,
  { lists: all }: Pick<WorkspaceDirectory, 'lists'>,
  variant: Variant,
  at: number,
  { store, geo, guard, clock }: Omit<DifferenceOptions, 'store'> & { readonly store: Pick<StoreReads, 'placeAt' | 'rulesAt'> },
): Promise<FeedContent> {
  const place = await store.placeAt(workspaceId, at);
  const second = secondOf(at);
  const columns = new ListColumns();
  const read = async (listId: string, key: string, sink: RuleSink) => {
    if (needsLists(head)) columns.list(key);
    await store.rulesAt(workspaceId, listId, place, sink);
    if (columns.length > MOST_RULES) throw new WeirError('TOO_LARGE', `the feed had more than ${MOST_RULES} rules`);
  };
  for (const { id, key } of head.lists) await read(id, key, columns);
  if (head.profile.subtractAllow === 'workspace') for (const { id } of all) await read(id, EXCEPTIONS_KEY, onlyExceptions(columns));
  const parts = columns.parts(head, second);
  const moment = { ...instantOf(clock), sequence: 0 };
  const snapshot: Snapshot = { head, at: moment, parts, stored: new Map(), ranges: new FeedRanges() };
  const { content, facts } = contentAsked(snapshot, variant, second, geo, guard);
  return { addresses: addressesIn(content), size: { entries: facts.entryCount, overCap: facts.entryCount > facts.entryLimit } };
}

const onlyExceptions = (sink: RuleSink): RuleSink => ({
  v4(id, role, ...rest) {
    if (role === 'allow') sink.v4(id, 'exception', ...rest);
  },
  v6(id, role, ...rest) {
    if (role === 'allow') sink.v6(id, 'exception', ...rest);
  },
  geo(id, role, ...rest) {
    if (role === 'allow') sink.geo(id, 'exception', ...rest);
  },
});

/** In the order of their addresses, IPv4 first. Merges the set in place. */
export function networksOf(set: AddressSet, limit: number): Networks {
  const [v4, v6] = [coalesceV4(set.v4), coalesceV6(set.v6)];
  const first = Array.from({ length: Math.min(limit, v4.length + v6.length) }, (_, i) =>
    i < v4.length ? textV4(v4, i) : textV6(v6, i - v4.length),
  );
  return { count: v4.length + v6.length, first };
}

const textV4 = ({ addresses, prefixes }: CidrsV4, i: number) => formatNetwork({ family: 4, address: addresses[i]!, prefix: prefixes[i]! });
const textV6 = ({ words, prefixes }: CidrsV6, i: number) => {
  const [a, b, c, d] = words.subarray(4 * i, 4 * i + 4);
  return formatNetwork({ family: 6, address: [a!, b!, c!, d!], prefix: prefixes[i]! });
};
