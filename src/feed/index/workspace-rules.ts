/**
 * The rules of a workspace's lists as the feed thread holds them: each list once, for its own feed and all feeds made of it. All lists are
 * as they were after the same change; a read takes in what has changed in any of them, so that work is in proportion to the change.
 */
import { type Clock, type Instant, instantOf, secondOf, within } from '../../clock.ts';
import { EXCEPTIONS_KEY, type KnownRules, type ListSink, type SnapshotHead } from '../../ports/snapshot.ts';
import type { StoreReads } from '../../ports/store.ts';
import { oneByOne } from '../../serial.ts';
import { RangeIndex } from './range-index.ts';
import { IntoColumns, RuleColumns, type SharedRules, type SnapshotPart } from './snapshot.ts';

/** Rows of removed rules that a list may carry along, and as a part of all. */
const REMOVED = 1000;
const REMOVED_PART = 0.25;
/** How long a read waits for the one before it, ms. */
const PATIENCE = 5_000;

/** Asks the store for a feed's rules at an instant, beyond what is known. */
type ChangesSince = (now: Instant, known: KnownRules, sink: ListSink) => ReturnType<StoreReads['follow']>;

/** What a read of a feed's rules found. */
interface FeedRules {
  readonly head: SnapshotHead;
  readonly parts: readonly SnapshotPart[];
  /** When the read began. */
  readonly at: Instant;
}

export class WorkspaceRules {
  readonly #clock: Clock;
  readonly #lists = new Map<string, SharedRules>();
  /** How many snapshots have each of them. */
  readonly #users = new Map<SharedRules, number>();
  #change = 0;
  /** When the last read began, ms. */
  #latest = 0;
  readonly #inTurn: ReturnType<typeof oneByOne>;
  #reads = 0;
  /** Reads that were taken in. */
  #taken = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#inTurn = oneByOne((last) => within(last, PATIENCE, 'another read', clock).catch(() => undefined));
  }

  /** The number of the change after which all lists are as they are now. */
  get change(): number {
    return this.#change;
  }

  /** Whether nobody needs it any more. */
  get isIdle(): boolean {
    return this.#users.size + this.#reads === 0;
  }

  /**
   * The rules of a feed as the store has them now, for a snapshot that takes the place of one with the parts `before`; undefined when the
   * feed is gone. Reads of a workspace run one after the other, unless one hangs. Rejects, with all rules as they were, when `follow` does.
   */
  async read(follow: ChangesSince, before: readonly SnapshotPart[]): Promise<FeedRules | undefined> {
    this.#reads += 1;
    return this.#inTurn(() => this.#read(follow, before)).finally(() => {
      this.#reads -= 1;
    });
  }

  /** A snapshot that had these parts is gone: rules that no snapshot has are forgotten. */
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
    // Rules that were read before the clock was set back lack some that have not expired now.
    if (at.wall < this.#latest) this.#lists.clear();
    const taken = this.#taken;
    const changes = new Changes();
    const head = await follow(at, { change: this.#change, lists: this.#lists }, changes);
    if (head === undefined) {
      this.release(before);
      return undefined;
    }
    if (taken !== this.#taken) return this.#read(follow, before);
    if (head === 'too_far') {
      this.#lists.clear();
      return this.#read(follow, before);
    }
    const second = secondOf(at.wall);
    const exceptions = this.#take(changes, second);
    this.#taken += 1;
    this.#change = head.change;
    this.#latest = at.wall;
    const parts = head.lists.map(({ key, levels }): SnapshotPart => ({ key, rules: this.#lists.get(key)!, levels }));
    for (const { rules } of parts) {
      rules.renewalsAskedThrough = second;
      rules.kept.forgetUnused(second);
    }
    for (const { rules } of parts) this.#users.set(rules, (this.#users.get(rules) ?? 0) + 1);
    this.release(before);
    return { head, parts: [...parts, ...exceptions], at };
  }

  /** Takes what has changed into the lists. A list that was read whole stays the same object: other snapshots move on with it. */
  #take(changes: Changes, second: number): SnapshotPart[] {
    const exceptions: SnapshotPart[] = [];
    for (const [key, { columns, gone, isComplete }] of changes.lists) {
      const known = this.#lists.get(key);
      if (key === EXCEPTIONS_KEY) exceptions.push({ key, rules: columns.rules(second), levels: 0 });
      else if (known === undefined) this.#lists.set(key, columns.rules(second));
      else if (isComplete) Object.assign(known, columns.rules(second));
      else takeChanges(known, columns, gone, second);
    }
    return exceptions;
  }
}

function takeChanges(
  rules: SharedRules,
  { tableV4, tableV6, tableGeo, geoTargets }: RuleColumns,
  gone: ReadonlySet<number>,
  second: number,
): void {
  rules.readAt = second;
  for (const table of [rules.v4, rules.v6, rules.geo]) table.remove(gone, second);
  rules.v4.addAll(tableV4);
  rules.v6.addAll(tableV6);
  rules.geo.addAll(tableGeo);
  rules.geoTargets.push(...geoTargets);
  const isOvergrown = [rules.v4, rules.v6, rules.geo].some(({ removed, length }) => removed > REMOVED && removed > length * REMOVED_PART);
  if (!isOvergrown) return;
  const targets = rules.geoTargets.filter((_, row) => !rules.geo.isRemoved(row));
  const [v4, v6, geo] = [rules.v4.compacted(), rules.v6.compacted(), rules.geo.compacted()];
  Object.assign(rules, { v4, v6, geo, geoTargets: targets, kept: new RangeIndex() });
}

/** What a read finds, by list. */
class Changes extends IntoColumns implements ListSink {
  readonly lists = new Map<string, { readonly columns: RuleColumns; readonly gone: Set<number>; readonly isComplete: boolean }>();
  #gone = new Set<number>();

  list(key: string, isComplete: boolean): void {
    const list = this.lists.get(key) ?? { columns: new RuleColumns(), gone: new Set(), isComplete };
    this.lists.set(key, list);
    this.columns = list.columns;
    this.#gone = list.gone;
  }

  gone(id: number): void {
    this.#gone.add(id);
  }
}
