/**
 * The rules of a workspace's lists on the feed thread, shared by all feeds. All lists are at the same change; a read applies only later
 * changes.
 */
import { type Clock, type Instant, instantOf, secondOf, within } from '../../clock.ts';
import { EXCEPTIONS_KEY, type KnownRules, type ListSink, type SnapshotHead } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import { oneByOne } from '../../serial.ts';
import { RangeIndex } from './range-index.ts';
import { addTables } from './rule-table.ts';
import { IntoColumns, RuleColumns, type SharedRules, type SnapshotPart } from './snapshot.ts';

/** Removed rows per list, absolutely and as a fraction. */
const REMOVED = 1000;
const REMOVED_PART = 0.25;
/** Longest wait for an earlier read, ms. */
const PATIENCE = 5_000;

type ChangesSince = (now: Instant, known: KnownRules, sink: ListSink) => ReturnType<StoreReads['follow']>;

interface FeedRules {
  readonly head: SnapshotHead;
  readonly parts: readonly SnapshotPart[];
  readonly at: Instant;
}

export class WorkspaceRules {
  readonly #clock: Clock;
  readonly #lists = new Map<string, SharedRules>();
  readonly #users = new Map<SharedRules, number>();
  #change = 0;
  #latest = 0;
  readonly #inTurn: ReturnType<typeof oneByOne>;
  #reads = 0;
  #applied = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#inTurn = oneByOne((last) => within(last, PATIENCE, 'another read', clock).catch(() => undefined));
  }

  get change(): number {
    return this.#change;
  }

  get isIdle(): boolean {
    return this.#users.size + this.#reads === 0;
  }

  /**
   * Reads a feed's current rules for a snapshot replacing one with the parts `before`; undefined: the feed does not exist. Reads are
   * serialized unless one hangs. Rejects if `follow` does, leaving all rules unchanged.
   */
  async read(follow: ChangesSince, before: readonly SnapshotPart[]): Promise<FeedRules | undefined> {
    this.#reads += 1;
    return this.#inTurn(() => this.#read(follow, before)).finally(() => {
      this.#reads -= 1;
    });
  }

  release(parts: readonly SnapshotPart[]): void {
    for (const { key, rules } of parts) {
      const left = (this.#users.get(rules) ?? 0) - 1;
      if (left > 0) this.#users.set(rules, left);
      else {
        this.#users.delete(rules);
        if (this.#lists.get(key) === rules) this.#lists.delete(key);
      }
    }
  }

  async #read(follow: ChangesSince, before: readonly SnapshotPart[]): Promise<FeedRules | undefined> {
    const at = instantOf(this.#clock);
    // If the clock was set back, rules not yet expired are missing.
    if (at.wall < this.#latest) this.#lists.clear();
    const applied = this.#applied;
    const changes = new Changes();
    const head = await follow(at, { change: this.#change, lists: this.#lists }, changes);
    if (head === undefined) {
      this.release(before);
      return undefined;
    }
    if (applied !== this.#applied) return this.#read(follow, before);
    if (head === 'too_far') {
      this.#lists.clear();
      return this.#read(follow, before);
    }
    const second = secondOf(at.wall);
    const exceptions = this.#take(changes, second);
    this.#applied += 1;
    this.#change = head.change;
    this.#latest = at.wall;
    const parts = head.lists.map(({ key, levels, hosts }): SnapshotPart => ({ key, rules: this.#lists.get(key)!, levels, hosts }));
    for (const { rules } of parts) {
      rules.renewalsAskedThrough = second;
      rules.rangeIndex.forgetUnused(second);
    }
    for (const { rules } of parts) this.#users.set(rules, (this.#users.get(rules) ?? 0) + 1);
    this.release(before);
    return { head, parts: [...parts, ...exceptions], at };
  }

  /** A completely read list keeps its identity: other snapshots see the update. */
  #take(changes: Changes, second: number): SnapshotPart[] {
    const exceptions: SnapshotPart[] = [];
    for (const [key, { columns, removed, isComplete }] of changes.lists) {
      const known = this.#lists.get(key);
      if (key === EXCEPTIONS_KEY) exceptions.push({ key, rules: columns.rules(second), levels: 0 });
      else if (known === undefined) this.#lists.set(key, columns.rules(second));
      else if (isComplete) Object.assign(known, columns.rules(second));
      else takeChanges(known, columns, removed, second);
    }
    return exceptions;
  }
}

function takeChanges(rules: SharedRules, { tables }: RuleColumns, removed: ReadonlySet<number>, second: number): void {
  rules.readAt = second;
  for (const table of [rules.v4, rules.v6, rules.geo]) table.remove(removed, second);
  addTables(rules, tables);
  const isOvergrown = [rules.v4, rules.v6, rules.geo].some(({ removed, length }) => removed > REMOVED && removed > length * REMOVED_PART);
  if (!isOvergrown) return;
  const targets = rules.geoTargets.filter((_, row) => !rules.geo.isRemoved(row));
  const [v4, v6, geo] = [rules.v4.compacted(), rules.v6.compacted(), rules.geo.compacted()];
  Object.assign(rules, { v4, v6, geo, geoTargets: targets, rangeIndex: new RangeIndex() });
}

class Changes extends IntoColumns implements ListSink {
  readonly lists = new Map<string, { readonly columns: RuleColumns; readonly removed: Set<number>; readonly isComplete: boolean }>();
  #removed = new Set<number>();

  list(key: string, isComplete: boolean): void {
    const list = this.lists.get(key) ?? { columns: new RuleColumns(), removed: new Set(), isComplete };
    this.lists.set(key, list);
    this.columns = list.columns;
    this.#removed = list.removed;
  }

  removed(id: number): void {
    this.#removed.add(id);
  }
}
