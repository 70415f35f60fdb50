import { readV6 } from '@weir/network/words.ts';
import type { ProposedFeed } from '../../account/feed.ts';
import { type Instant, secondOf } from '../../clock.ts';
import { EXCEPTIONS_KEY, type RuleSink, type SnapshotHead, type SnapshotSink } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { GeoTarget, Kind, RuleRole, Target } from '../../rule.ts';
import { DOCUMENTS, type DocumentKind } from '../document.ts';
import type { ReadStamp } from '../read-stamp.ts';
import { DEFAULT_ENTRY_LIMIT } from '../variant.ts';
import { hostPrefixes, needsLists } from '../widening.ts';
import type { ListRules } from './active-rules.ts';
import { type FeedPart, FeedRanges } from './feed-ranges.ts';
import { RangeIndex } from './range-index.ts';
import { addRule, newTables } from './rule-table.ts';

/** Whole seconds; 0 = never. */
export const expiryOf = ({ rule: { expiresAt } }: StoredRule): number => (expiresAt === null ? 0 : Math.ceil(expiresAt / 1000));

/** Rules beyond the maximum are only counted. */
interface StoredRules {
  readonly rules: StoredRule[];
  count: number;
}

/** Maximum of a document, per kind (SPEC D13.3). */
export const MOST_RULES = DEFAULT_ENTRY_LIMIT;

/** The rules and settings of a document from one read transaction; lives on the feed thread. */
export interface Snapshot {
  readonly head: SnapshotHead;
  /** Rules expired by then are excluded. `sequence`: the highest of its builds. */
  readonly at: ReadStamp;
  /** The rules per list in the feed's order (if needed separately), then never-block rules of other lists. */
  readonly parts: readonly SnapshotPart[];
  readonly stored: ReadonlyMap<Kind, StoredRules>;
  readonly ranges: FeedRanges;
}

/** Possibly shared with other feeds, whose reads update it. */
export interface SnapshotPart extends FeedPart {
  readonly key: string;
  readonly rules: SharedRules;
}

export interface SharedRules extends ListRules {
  rangeIndex: RangeIndex;
  /** Whole seconds: rules expired before this read are missing. */
  readAt: number;
}

export class RuleColumns implements RuleSink {
  readonly tables = newTables();

  get length(): number {
    return this.tables.v4.length + this.tables.v6.length + this.tables.geo.length;
  }

  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void {
    const { v4 } = this.tables;
    const row = v4.add(id, role, prefix, expires, levels);
    v4.words[row] = address;
  }

  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void {
    const { v6 } = this.tables;
    const row = v6.add(id, role, prefix, expires, levels);
    readV6(bytes, at, v6.words, 4 * row);
  }

  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void {
    addRule(this.tables, id, role, target, expires, levels);
  }

  rules(second: number): SharedRules {
    const { v4, v6, geo } = this.tables;
    for (const table of [v4, v6, geo]) table.trim();
    return { ...this.tables, rangeIndex: new RangeIndex(), readAt: second, renewalsAskedThrough: second };
  }
}

export class IntoColumns implements RuleSink {
  protected columns = new RuleColumns();

  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void {
    this.columns.v4(id, role, address, prefix, expires, levels);
  }

  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void {
    this.columns.v6(id, role, bytes, at, prefix, expires, levels);
  }

  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void {
    this.columns.geo(id, role, target, expires, levels);
  }
}

export class ListColumns extends IntoColumns implements SnapshotSink {
  readonly #lists = new Map<string, RuleColumns>();
  protected override columns = this.#of('');

  #of(key: string): RuleColumns {
    const columns = this.#lists.get(key) ?? new RuleColumns();
    this.#lists.set(key, columns);
    return columns;
  }

  list(key: string): void {
    this.columns = this.#of(key);
  }

  get length(): number {
    return this.#lists.values().reduce((sum, { length }) => sum + length, 0);
  }

  /** One part, or a part per list in order and one for exceptions. */
  parts(head: SnapshotHead, second: number): SnapshotPart[] {
    const others = { key: needsLists(head) ? EXCEPTIONS_KEY : '', hosts: hostPrefixes(head.profile) };
    const parts = needsLists(head) ? [...head.lists, others] : [others];
    return parts.map(({ key, hosts }) => ({ key, rules: this.#of(key).rules(second), levels: 0, hosts }));
  }
}

export function rulesOfList({ head, parts }: Pick<Snapshot, 'head' | 'parts'>, listId: string | null): SharedRules {
  const key = head.lists.find(({ id }) => id === (listId ?? ''))?.key;
  return (parts.find((part) => part.key === key) ?? parts.at(-1)!).rules;
}

/** Adds an empty list after the feed's lists with quorum; `rulesOfList` returns its tables for null. */
export function withNewList(snapshot: Snapshot, second: number): Snapshot {
  const { head, parts } = snapshot;
  const { quorum, lists } = head;
  if (quorum === undefined) return snapshot;
  const more = { ...quorum, always: [...quorum.always, false], own: [...quorum.own, false], copies: [...quorum.copies, []] };
  const list = { id: '', name: '', key: 'new', levels: 0, hosts: hostPrefixes(head.profile) };
  const part = { key: list.key, rules: new RuleColumns().rules(second), levels: 0, hosts: list.hosts };
  return {
    ...snapshot,
    head: { ...head, quorum: more, lists: [...lists, list] },
    parts: [...parts.slice(0, lists.length), part, ...parts.slice(lists.length)],
  };
}

/** Whole seconds: at earlier times (clock set back) rules may be missing. The latest read of any table. */
export const completeSince = ({ at, parts }: Snapshot): number => Math.max(secondOf(at.wall), ...parts.map(({ rules }) => rules.readAt));

/** Whole seconds, 0 = none. */
interface SnapshotRule {
  readonly id: number;
  readonly role: RuleRole;
  readonly target: Target;
  readonly expires: number;
}

export function ruleTables(rules: readonly SnapshotRule[], second: number): SharedRules {
  const columns = new RuleColumns();
  for (const { id, role, target, expires } of rules) addRule(columns.tables, id, role, target, expires);
  return columns.rules(second);
}

/** undefined: no such workspace or list. Rejects if the store does. */
export async function readSnapshot(
  store: Pick<StoreReads, 'snapshot'>,
  { workspaceId, feedId }: { readonly workspaceId: string; readonly feedId: string | null | ProposedFeed },
  now: Instant,
  document: DocumentKind = 'feed',
  sequence = 0,
): Promise<Snapshot | undefined> {
  const { networks, kinds } = DOCUMENTS[document];
  const columns = new ListColumns();
  const stored = new Map(kinds.map((kind): [Kind, StoredRules] => [kind, { rules: [], count: 0 }]));
  const take = (rule: StoredRule) => {
    const of = stored.get(rule.kind)!;
    of.count += 1;
    if (of.count <= MOST_RULES) of.rules.push(rule);
  };
  const head = await store.snapshot(workspaceId, feedId, now.wall, networks ? columns : undefined, { kinds, take });
  if (head === undefined) return undefined;
  const parts = columns.parts(head, secondOf(now.wall));
  return { head, at: { ...now, sequence }, parts, stored, ranges: new FeedRanges() };
}
