/**
 * The addresses of a list's rules as sorted ranges, cached between builds (a build sorts only the changes) and shared by all feeds of the
 * list.
 */
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { RuleRole } from '../../rule.ts';
import type { Family } from '../variant.ts';
import type { Widening } from '../widening.ts';
import type { ActiveRules } from './active-rules.ts';
import { levelsOfTag, type RuleTable } from './rule-table.ts';
import type { ServedRows } from './served-rows.ts';

export interface RangesQuery {
  readonly role: RuleRole;
  readonly classes: Uint8Array | undefined;
  readonly family: Family;
  readonly asSent?: boolean | undefined;
}

/** Unchanged results are identical objects; do not write to them. */
export interface ClassRanges {
  readonly v4: readonly (V4Ranges | undefined)[];
  readonly v6: readonly (V6Ranges | undefined)[];
}

/** Above this, sorting all rules is as fast. */
const MOST_CHANGED = 1 / 8;
const UNUSED_SECONDS = 300;

interface Cached {
  usedAt: number;
}

interface CachedNetworks extends Cached {
  readonly widening: Widening | undefined;
  readonly v4: TableRanges<V4Ranges>;
  readonly v6: TableRanges<V6Ranges>;
}

interface CachedPlaces extends Cached {
  readonly version: string;
  readonly ranges: ClassRanges;
}

export class RangeIndex {
  readonly #networks = new Map<string, CachedNetworks>();
  readonly #places = new Map<string, CachedPlaces>();

  networks(active: ActiveRules, { role, classes, family }: RangesQuery): ClassRanges {
    const widening = role === 'block' ? active.widening : undefined;
    const { hosts } = widening ?? {};
    const name = `${role} ${hosts?.v4} ${hosts?.v6} ${classes ?? ''}`;
    const { v4, v6 } = active.tables;
    const known = this.#networks.get(name);
    // Other protected networks change how hosts are served.
    const cached =
      known !== undefined && (widening?.equals(known.widening) ?? true)
        ? known
        : { v4: tableV4(active.served(v4, role)), v6: tableV6(active.served(v6, role)), widening, usedAt: 0 };
    cached.usedAt = active.asOf;
    this.#networks.set(name, cached);
    return {
      v4: family === 'v6' ? [] : cached.v4.update(active, v4, role, classes),
      v6: family === 'v4' ? [] : cached.v6.update(active, v6, role, classes),
    };
  }

  places(active: ActiveRules, { role, classes, family }: RangesQuery, geo: GeoDatabase): ClassRanges {
    if (active.tables.geo.length === 0) return NO_RANGES;
    const name = `${role} ${family} ${classes ?? ''}`;
    const targets: string[] = [];
    active.eachTarget(role, (target, tag) => {
      targets.push(`${classOf(tag, classes)}:${target.kind === 'asn' ? target.asn : target.country}`);
    });
    const version = `${geo.version} ${targets.join(' ')}`;
    const cached = this.#places.get(name);
    const ranges = cached?.version === version ? cached.ranges : placeRanges(active, role, classes);
    this.#places.set(name, { version, ranges, usedAt: active.asOf });
    return ranges;
  }

  /** Whole seconds. */
  forgetUnused(asOf: number): void {
    for (const cached of [this.#networks, this.#places]) {
      for (const [name, { usedAt }] of cached) if (usedAt < asOf - UNUSED_SECONDS) cached.delete(name);
    }
  }
}

const NO_RANGES: ClassRanges = { v4: [], v6: [] };

function placeRanges(active: ActiveRules, role: RuleRole, classes: Uint8Array | undefined): ClassRanges {
  const [v4, v6]: [V4Ranges[], V6Ranges[]] = [[], []];
  active.eachTarget(role, (target, tag) => {
    const index = classOf(tag, classes);
    const set = { v4: v4[index] ?? new V4Ranges(), v6: v6[index] ?? new V6Ranges() };
    active.addRanges(set, target);
    v4[index] = set.v4;
    v6[index] = set.v6;
  });
  return { v4, v6 };
}

const classOf = (tag: number, classes: Uint8Array | undefined) => (classes === undefined ? 0 : classes[levelsOfTag(tag)]);

interface Ranges<R> {
  merge(): void;
  without(others: R): R;
  united(others: R): R;
}

interface Made {
  readonly length: number;
  readonly removed: number;
  readonly renewed: number;
  /** Whole seconds: the same rules are active from `asOf` until the next expiry. */
  readonly asOf: number;
  readonly nextExpiry: number;
}

interface Reader<R> {
  create(): R;
  push(ranges: R, row: number): void;
  /** Rows of a class (plus one). */
  pushOverlapping(into: R, ranges: R, rows: Uint8Array, classAndOne: number): void;
}

class TableRanges<R extends Ranges<R>> {
  readonly #read: Reader<R>;
  #made: Made | undefined;
  /** Class plus one; 0 = not included. */
  #rows: Uint8Array = new Uint8Array(0);
  #ranges: (R | undefined)[] = [];

  constructor(read: Reader<R>) {
    this.#read = read;
  }

  update(active: ActiveRules, table: RuleTable, role: RuleRole, classes: Uint8Array | undefined): readonly (R | undefined)[] {
    const { length, removed, renewed } = table;
    const known = this.#made !== undefined && isKnown(this.#made, active, table) ? this.#made : NOTHING;
    active.nextExpiry = Math.min(active.nextExpiry, known.nextExpiry);
    if (known.length === length && known.removed === removed) return this.#ranges;
    const rows = new Uint8Array(length);
    rows.set(this.#rows.subarray(0, known.length));
    const removedRows = known === NOTHING ? [] : table.removals.slice(known.removed).map(({ row }) => row);
    for (const row of removedRows) rows[row] = 0;
    let { nextExpiry } = known;
    const take = (row: number, tag: number) => {
      rows[row] = classOf(tag, classes) + 1;
      const expires = table.expires[row];
      if (expires !== 0 && expires < nextExpiry) nextExpiry = expires;
    };
    active.each(table, role, take, known.length);
    this.#take(rows, known.length, removedRows);
    this.#made = { length, removed, renewed, asOf: active.asOf, nextExpiry };
    return this.#ranges;
  }

  #take(rows: Uint8Array, first: number, others: readonly number[]): void {
    const before = this.#rows;
    const isChanged = (row: number) => rows[row] !== (before[row] ?? 0);
    const changed = others.filter((row) => row < first && isChanged(row));
    const most = rows.length * MOST_CHANGED;
    for (let row = first; row < rows.length && changed.length <= most; row++) if (isChanged(row)) changed.push(row);
    if (changed.length > 0) this.#ranges = changed.length > most ? this.#rangesOf(rows) : this.#changed(before, rows, changed);
    this.#rows = rows;
  }

  #rangesOf(rows: Uint8Array): (R | undefined)[] {
    const ranges: (R | undefined)[] = [];
    for (let row = 0; row < rows.length; row++) if (rows[row] !== 0) this.#read.push(this.#at(ranges, rows[row]), row);
    for (const each of ranges) each?.merge();
    return ranges;
  }

  #changed(before: Uint8Array, rows: Uint8Array, changed: readonly number[]): (R | undefined)[] {
    const removed: (R | undefined)[] = [];
    const added: (R | undefined)[] = [];
    for (const row of changed) {
      if (before[row]) this.#read.push(this.#at(removed, before[row]), row);
      if (rows[row] !== 0) this.#read.push(this.#at(added, rows[row]), row);
    }
    const ranges = [...this.#ranges];
    for (const [index, each] of removed.entries()) {
      if (each === undefined) continue;
      each.merge();
      ranges[index] = ranges[index]!.without(each);
      // Restore the part that other rows also contain.
      this.#read.pushOverlapping(this.#at(added, index + 1), each, rows, index + 1);
    }
    for (const [index, each] of added.entries()) if (each !== undefined) ranges[index] = ranges[index]?.united(each) ?? merged(each);
    return ranges;
  }

  #at(ranges: (R | undefined)[], classAndOne: number): R {
    ranges[classAndOne - 1] ??= this.#read.create();
    return ranges[classAndOne - 1] as R;
  }
}

const NOTHING: Made = { length: 0, removed: 0, renewed: 0, asOf: 0, nextExpiry: Number.POSITIVE_INFINITY };

const isKnown = (made: Made, { asOf, tables }: ActiveRules, { renewed, removals }: RuleTable): boolean =>
  made.renewed === renewed &&
  made.asOf <= asOf &&
  asOf < made.nextExpiry &&
  tables.renewalsAskedThrough === asOf &&
  removals.slice(made.removed).every(({ expires }) => expires !== made.nextExpiry);

function merged<R extends Ranges<R>>(ranges: R): R {
  ranges.merge();
  return ranges;
}

const tableV4 = (served: ServedRows) => {
  const { ends } = served;
  return new TableRanges<V4Ranges>({
    create: () => new V4Ranges(),
    push(ranges, row) {
      served.read(row);
      ranges.push(ends[0], ends[1]);
    },
    pushOverlapping(into, ranges, rows, classAndOne) {
      ranges.merge();
      const [lowest, highest] = [ranges.pairs[0], ranges.pairs[2 * ranges.length - 1]];
      for (let row = 0; row < rows.length; row++) {
        if (rows[row] !== classAndOne || !served.mayOverlapV4(row, lowest, highest)) continue;
        served.read(row);
        if (ends[0] <= highest && ends[1] >= lowest && ranges.overlaps(ends[0], ends[1])) into.push(ends[0], ends[1]);
      }
    },
  });
};

const tableV6 = (served: ServedRows) => {
  const { ends } = served;
  return new TableRanges<V6Ranges>({
    create: () => new V6Ranges(),
    push(ranges, row) {
      served.read(row);
      ranges.push(ends, 0);
    },
    pushOverlapping(into, ranges, rows, classAndOne) {
      ranges.merge();
      const [lowest, highest] = [ranges.words[0], ranges.words[8 * ranges.length - 4]];
      for (let row = 0; row < rows.length; row++) {
        if (rows[row] !== classAndOne || !served.mayOverlapV6(row, highest)) continue;
        served.read(row);
        if (ends[0] <= highest && ends[4] >= lowest && ranges.overlaps(ends, 0)) into.push(ends, 0);
      }
    },
  });
};
