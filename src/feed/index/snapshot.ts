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
import type { ListRules } from './active-rules.ts';
import { type FeedPart, FeedRanges } from './feed-ranges.ts';
import { RangeIndex } from './range-index.ts';
import { RuleTable } from './rule-table.ts';

/** When a rule expires, whole seconds; 0 = never. */
export const expiryOf = ({ rule: { expiresAt } }: StoredRule): number => (expiresAt === null ? 0 : Math.ceil(expiresAt / 1000));

/** The rules of one kind as they are stored. More than a document may hold are only counted. */
export interface StoredRules {
  readonly rules: StoredRule[];
  count: number;
}

/** Rules of a kind that a document holds at most (SPEC D13.3). */
export const MOST_RULES = DEFAULT_ENTRY_LIMIT;

/** The rules of one feed, or of another document, as one read transaction found them, with the list's settings; held by the feed thread. */
export interface Snapshot {
  readonly head: SnapshotHead;
  /** When it was read; rules that had expired by then are not in it. Its `sequence`: the highest of the builds for which it was read. */
  readonly at: ReadStamp;
  /** The rules of its lists, in their order where they are apart; then never-block rules of other lists. */
  readonly parts: readonly SnapshotPart[];
  /** Whole rules, of the kinds that the document shows. */
  readonly stored: ReadonlyMap<Kind, StoredRules>;
  /** What the builds of its variants share. */
  readonly ranges: FeedRanges;
}

/** The rules of a list in a snapshot. The feed may share them with others, whose reads move them on. */
export interface SnapshotPart extends FeedPart {
  /** `SnapshotList.key`. */
  readonly key: string;
  readonly rules: SharedRules;
}

/** Rules of a list with what the builds of all its feeds share. */
export interface SharedRules extends ListRules {
  kept: RangeIndex;
  /** Whole seconds: what had expired by then when it was read is not in the tables. */
  readAt: number;
}

/** Takes the rules of a read into tables. */
export class RuleColumns implements RuleSink {
  readonly tableV4 = new RuleTable(1);
  readonly tableV6 = new RuleTable(4);
  readonly tableGeo = new RuleTable(0);
  readonly geoTargets: GeoTarget[] = [];

  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void {
    const row = this.tableV4.add(id, role, prefix, expires, levels);
    this.tableV4.words[row] = address;
  }

  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void {
    const row = this.tableV6.add(id, role, prefix, expires, levels);
    readV6(bytes, at, this.tableV6.words, 4 * row);
  }

  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void {
    this.tableGeo.add(id, role, 0, expires, levels);
    this.geoTargets.push(target);
  }

  /** All that was taken, without the memory beyond the last rows; read at this second. */
  rules(second: number): SharedRules {
    const { tableV4: v4, tableV6: v6, tableGeo: geo, geoTargets } = this;
    for (const table of [v4, v6, geo]) table.trim();
    return { v4, v6, geo, geoTargets, kept: new RangeIndex(), readAt: second, renewalsAskedThrough: second };
  }
}

/** Hands rules over to the columns that are in turn. */
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

/** The tables of a read, of each list where they come apart. */
class ListColumns extends IntoColumns implements SnapshotSink {
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

  /** One part, or those of the lists in their order and one of exceptions. */
  parts({ quorum, lists }: SnapshotHead, second: number): SnapshotPart[] {
    const keys = quorum === undefined ? [''] : [...lists.map(({ key }) => key), EXCEPTIONS_KEY];
    return keys.map((key) => ({ key, rules: this.#of(key).rules(second), levels: 0 }));
  }
}

/** The tables of a snapshot that have the rules of a list; where it has none of them, those of others. */
export function rulesOfList({ head, parts }: Pick<Snapshot, 'head' | 'parts'>, listId: string | null): SharedRules {
  const key = head.lists.find(({ id }) => id === (listId ?? ''))?.key;
  return (parts.find((part) => part.key === key) ?? parts.at(-1)!).rules;
}

/** A snapshot with one more list, which is empty, behind those of its feed where they have to agree; `rulesOfList` gives its tables for null. */
export function withNewList(snapshot: Snapshot, second: number): Snapshot {
  const { head, parts } = snapshot;
  const { quorum, lists } = head;
  if (quorum === undefined) return snapshot;
  const more = { ...quorum, always: [...quorum.always, false], copies: [...quorum.copies, []] };
  const list = { id: '', name: '', key: 'new', levels: 0 };
  const part = { key: list.key, rules: new RuleColumns().rules(second), levels: 0 };
  return {
    ...snapshot,
    head: { ...head, quorum: more, lists: [...lists, list] },
    parts: [...parts.slice(0, lists.length), part, ...parts.slice(lists.length)],
  };
}

/** Whole seconds: before it, after the clock was set back, the snapshot may lack rules: of the read of it, or of one that moved its tables on. */
export const completeSince = ({ at, parts }: Snapshot): number => Math.max(secondOf(at.wall), ...parts.map(({ rules }) => rules.readAt));

/** A rule as a snapshot has it; `expires` in whole seconds, 0 = none. */
export interface SnapshotRule {
  readonly id: number;
  readonly role: RuleRole;
  readonly target: Target;
  readonly expires: number;
}

/** The tables of a few rules at a second, levels aside. */
export function ruleTables(rules: readonly SnapshotRule[], second: number): SharedRules {
  const columns = new RuleColumns();
  for (const { id, role, target, expires } of rules) {
    if (target.kind !== 'ip') columns.geo(id, role, target, expires, 0);
    else if (target.network.family === 4) columns.v4(id, role, target.network.address, target.network.prefix, expires, 0);
    else {
      const row = columns.tableV6.add(id, role, target.network.prefix, expires, 0);
      columns.tableV6.words.set(target.network.address, row * 4);
    }
  }
  return columns.rules(second);
}

/**
 * Reads the rules of a feed, or of another document, that are active at `now`, its lists together; undefined when workspace or list is
 * gone. Rejects when the store does.
 */
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
