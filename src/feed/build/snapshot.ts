import type { ProposedFeed } from '../../account/feed.ts';
import { type Instant, secondOf } from '../../clock.ts';
import type { ChangeSink, SnapshotHead, SnapshotMark, StoredRule } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Kind, RuleRole, Target } from '../../rule.ts';
import type { BuildRequest } from '../builder.ts';
import { DOCUMENTS, type DocumentKind } from '../document.ts';
import type { GeoTarget } from '../geo-cost.ts';
import { DEFAULT_ENTRY_LIMIT } from '../variant.ts';
import { KeptRanges } from './kept-ranges.ts';
import { ListNumbers, RuleTable, type RuleTables } from './rule-table.ts';

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
export interface Snapshot extends RuleTables {
  readonly head: SnapshotHead;
  /** `BuildRequest.generation` of the build for which it was read. */
  readonly generation: number;
  /** When its read began; rules that had expired by then are not in it. */
  readonly readAt: Instant;
  /** The store's clock when it was read or last confirmed, ms. */
  takenAt: number;
  /** Whole rules, of the kinds that the document shows. */
  readonly stored: ReadonlyMap<Kind, StoredRules>;
  /** What the builds of its variants share. */
  readonly kept: KeptRanges;
  /** Whole seconds: the store was asked for every rule that expires up to here. One that still has such an expiry was not renewed. */
  renewalsAskedThrough: number;
}

/** Takes the rules of a read into tables. */
class RuleColumns implements ChangeSink {
  readonly changed = new Set<number>();
  readonly tableV4 = new RuleTable(1);
  readonly tableV6 = new RuleTable(4);
  readonly tableGeo = new RuleTable(0);
  readonly geoTargets: GeoTarget[] = [];
  readonly list: ((id: string) => void) | undefined;
  readonly #lists: ListNumbers | undefined;
  #list = 0;

  /** With `lists` it notes the list of each rule. */
  constructor(lists: ListNumbers | undefined) {
    this.#lists = lists;
    this.list =
      lists &&
      ((id) => {
        this.#list = lists.numberOf(id);
      });
  }

  gone(id: number): void {
    this.changed.add(id);
  }

  v4(id: number, role: RuleRole, address: number, prefix: number, expires: number, levels: number): void {
    const row = this.tableV4.add(id, role, prefix, expires, levels, this.#list);
    this.tableV4.words[row] = address;
  }

  v6(id: number, role: RuleRole, bytes: Uint8Array, at: number, prefix: number, expires: number, levels: number): void {
    let word = this.tableV6.add(id, role, prefix, expires, levels, this.#list) * 4;
    const { words } = this.tableV6;
    for (let byte = at; byte < at + 16; byte += 4) {
      words[word++] = (bytes[byte] << 24) | (bytes[byte + 1] << 16) | (bytes[byte + 2] << 8) | bytes[byte + 3];
    }
  }

  geo(id: number, role: RuleRole, target: GeoTarget, expires: number, levels: number): void {
    this.tableGeo.add(id, role, 0, expires, levels, this.#list);
    this.geoTargets.push(target);
  }

  /** All that was taken, without the memory beyond the last rows. */
  tables(): RuleTables {
    const { tableV4: v4, tableV6: v6, tableGeo: geo, geoTargets } = this;
    for (const table of [v4, v6, geo]) table.trim();
    return { v4, v6, geo, geoTargets, lists: this.#lists };
  }
}

/** A rule as a snapshot has it; `expires` in whole seconds, 0 = none. */
export interface SnapshotRule {
  readonly id: number;
  readonly role: RuleRole;
  readonly target: Target;
  readonly expires: number;
}

/** The tables of a few rules, levels aside. */
export function ruleTables(rules: readonly SnapshotRule[]): RuleTables {
  const columns = new RuleColumns(undefined);
  for (const { id, role, target, expires } of rules) {
    if (target.kind !== 'ip') columns.geo(id, role, target, expires, 0);
    else if (target.network.family === 4) columns.v4(id, role, target.network.address, target.network.prefix, expires, 0);
    else {
      const row = columns.tableV6.add(id, role, target.network.prefix, expires, 0);
      columns.tableV6.words.set(target.network.address, row * 4);
    }
  }
  return columns.tables();
}

/** Rows of removed rules that a snapshot may carry along, and as a part of all. */
const REMOVED = 1000;
const REMOVED_PART = 0.25;

/**
 * The snapshot as the store has its rules now: what has changed is taken into its tables, so that work is in proportion to the change.
 * `too_far` when it has to be read anew. Rejects, with the snapshot as it was, when `read` does, which asks the store.
 */
export async function followSnapshot(
  snapshot: Snapshot,
  generation: number,
  now: Instant,
  read: (since: SnapshotMark, sink: ChangeSink) => ReturnType<StoreReads['follow']>,
): Promise<Snapshot | 'too_far' | undefined> {
  const { v4, v6, geo, geoTargets } = snapshot;
  const tables = [v4, v6, geo];
  if (tables.some(({ removed, length }) => removed > REMOVED && removed > length * REMOVED_PART)) return 'too_far';
  const changes = new RuleColumns(snapshot.lists);
  const head = await read(snapshot.head.mark, changes);
  if (head === undefined || head === 'too_far') return head;
  for (const table of tables) table.remove(changes.changed, secondOf(now.wall));
  v4.addAll(changes.tableV4);
  v6.addAll(changes.tableV6);
  geo.addAll(changes.tableGeo);
  geoTargets.push(...changes.geoTargets);
  snapshot.kept.forgetUnused();
  return { ...snapshot, head, generation, readAt: now, takenAt: head.takenAt, renewalsAskedThrough: secondOf(now.wall) };
}

/**
 * Reads the rules of a feed, or of another document, that are active at `now`; undefined when workspace or list is gone. Rejects when the
 * store does.
 */
export async function readSnapshot(
  store: Pick<StoreReads, 'snapshot'>,
  { workspaceId, feedId, generation }: Pick<BuildRequest, 'workspaceId' | 'generation'> & { readonly feedId: string | null | ProposedFeed },
  now: Instant,
  document: DocumentKind = 'feed',
): Promise<Snapshot | undefined> {
  const { networks, kinds, lists } = DOCUMENTS[document];
  const columns = new RuleColumns(lists ? new ListNumbers() : undefined);
  const stored = new Map(kinds.map((kind): [Kind, StoredRules] => [kind, { rules: [], count: 0 }]));
  const take = (rule: StoredRule) => {
    const of = stored.get(rule.kind)!;
    of.count += 1;
    if (of.count <= MOST_RULES) of.rules.push(rule);
  };
  const head = await store.snapshot(workspaceId, feedId, now.wall, networks ? columns : undefined, { kinds, take });
  if (head === undefined) return undefined;
  const kept = new KeptRanges();
  return {
    head,
    generation,
    readAt: now,
    takenAt: head.takenAt,
    ...columns.tables(),
    stored,
    kept,
    renewalsAskedThrough: secondOf(now.wall),
  };
}
