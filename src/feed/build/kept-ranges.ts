/**
 * The addresses of a snapshot's rules as sorted ranges, kept from one build to the next: a build sorts what has changed since the last
 * and goes over the rest. Formats and families of a feed share them.
 */
import { type AddressSet, addressSet, united } from '../../network/address-set.ts';
import { lastAddressV4, lastAddressV6 } from '../../network/bounds.ts';
import { V4Ranges, V6Ranges } from '../../network/ranges.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { RuleRole } from '../../rule.ts';
import type { NetworkClass } from '../formats/format.ts';
import type { Family } from '../variant.ts';
import type { ActiveRules } from './active-rules.ts';
import { levelsOfTag, type RuleTable } from './rule-table.ts';

/** Which rules' addresses are meant: `classes` gives the class of a level code; undefined puts all into class 0. */
export interface RangesQuery {
  readonly role: RuleRole;
  readonly classes: Uint8Array | undefined;
  readonly family: Family;
}

/** Addresses by class; do not write to them. */
interface ClassSets {
  readonly sets: readonly (AddressSet | undefined)[];
  readonly version: string;
}

/** Addresses by class. What is equal in `version` is equal. */
export interface ClassRanges {
  /** Makes them: who has content of this version need not ask. Do not write to them. */
  sets(): readonly (AddressSet | undefined)[];
  readonly version: string;
}

/** A part of the rules that changed beyond which sorting all of them is no dearer. */
const MOST_CHANGED = 1 / 8;

/** Coalesced networks of a class, and what they were made from. */
interface KeptContent {
  readonly key: string;
  readonly from: unknown;
  readonly classes: readonly NetworkClass[];
}

/** What one snapshot's builds share. */
export class KeptRanges {
  #used = new Set<string>();
  readonly #networks = new Map<string, { readonly v4: KeptTable<V4Ranges>; readonly v6: KeptTable<V6Ranges> }>();
  readonly #places = new Map<string, ClassSets>();
  readonly #contents = new Map<string, KeptContent>();

  /** The addresses of the active rules of a role. */
  ranges(active: ActiveRules, query: RangesQuery, geo: GeoDatabase): ClassRanges {
    const networks = this.#networksOf(active, query);
    const places = this.#placesOf(active, query, geo);
    return {
      version: `${networks.version} ${places.version}`,
      sets: () =>
        Array.from({ length: Math.max(networks.sets.length, places.sets.length) }, (_, index) => {
          const [one, other] = [networks.sets[index], places.sets[index]];
          return one !== undefined && other !== undefined ? united(one, other) : (one ?? other);
        }),
    };
  }

  /** What `make` gives, unless it was made of the same before: `key` and `from` say of what. */
  content(name: string, key: string, from: unknown, make: () => readonly NetworkClass[]): readonly NetworkClass[] {
    this.#used.add(name);
    const kept = this.#contents.get(name);
    if (kept?.key === key && kept.from === from) return kept.classes;
    const classes = make();
    this.#contents.set(name, { key, from, classes });
    return classes;
  }

  /** Lets go of what no build has asked for since the last call. */
  forgetUnused(): void {
    for (const kept of [this.#networks, this.#places, this.#contents]) {
      for (const name of kept.keys()) if (!this.#used.has(name)) kept.delete(name);
    }
    this.#used = new Set();
  }

  #networksOf(active: ActiveRules, { role, classes, family }: RangesQuery): ClassSets {
    const name = `networks ${role} ${classes !== undefined}`;
    this.#used.add(name);
    const kept = this.#networks.get(name) ?? { v4: keptV4(active.tables.v4), v6: keptV6(active.tables.v6) };
    this.#networks.set(name, kept);
    const v4 = family === 'v6' ? [] : kept.v4.update(classesOfRows(active, active.tables.v4, role, classes));
    const v6 = family === 'v4' ? [] : kept.v6.update(classesOfRows(active, active.tables.v6, role, classes));
    const none = addressSet([]);
    const sets = Array.from({ length: Math.max(v4.length, v6.length) }, (_, index) =>
      v4[index] === undefined && v6[index] === undefined ? undefined : { v4: v4[index] ?? none.v4, v6: v6[index] ?? none.v6 },
    );
    return { sets, version: `${kept.v4.version}.${kept.v6.version}` };
  }

  /** The same of the rules on countries and ASNs. */
  #placesOf(active: ActiveRules, { role, classes, family }: RangesQuery, geo: GeoDatabase): ClassSets {
    const name = `places ${role} ${classes !== undefined} ${family}`;
    this.#used.add(name);
    const targets: string[] = [];
    active.eachTarget(role, (target, tag) => {
      targets.push(`${classOf(tag, classes)}:${target.kind === 'asn' ? target.asn : target.country}`);
    });
    const version = `${geo.version} ${targets.join(' ')}`;
    const kept = this.#places.get(name);
    if (kept?.version === version) return kept;
    const sets: AddressSet[] = [];
    active.eachTarget(role, (target, tag) => {
      const index = classOf(tag, classes);
      sets[index] ??= addressSet([]);
      active.addRanges(sets[index], target);
    });
    const found = { sets, version };
    this.#places.set(name, found);
    return found;
  }
}

const classOf = (tag: number, classes: Uint8Array | undefined) => (classes === undefined ? 0 : classes[levelsOfTag(tag)]);

/** For each row of a table its class and one; 0 for a row that is not meant. */
function classesOfRows(active: ActiveRules, table: RuleTable, role: RuleRole, classes: Uint8Array | undefined): Uint8Array {
  const rows = new Uint8Array(table.length);
  active.each(table, role, (row, tag) => {
    rows[row] = classOf(tag, classes) + 1;
  });
  return rows;
}

/** Ranges of one family. */
interface Ranges<R> {
  merge(): void;
  subtract(others: R): void;
  united(others: R): R;
}

/** How the networks of a table become ranges. */
interface Reader<R> {
  create(): R;
  push(ranges: R, row: number): void;
  /** Pushes those of the rows of a class (and one) that overlap `ranges`. */
  pushOverlapping(into: R, ranges: R, rows: Uint8Array, classAndOne: number): void;
}

/** The ranges of a table's rows by class. */
class KeptTable<R extends Ranges<R>> {
  /** Moves when the ranges do. */
  version = 0;
  readonly #read: Reader<R>;
  #rows: Uint8Array = new Uint8Array(0);
  #ranges: (R | undefined)[] = [];

  constructor(read: Reader<R>) {
    this.#read = read;
  }

  /** The ranges as `rows` says now: for each row its class and one, 0 for none. A row's network never changes. */
  update(rows: Uint8Array): readonly (R | undefined)[] {
    const before = this.#rows;
    const changed: number[] = [];
    const most = rows.length * MOST_CHANGED;
    for (let row = 0; row < rows.length && changed.length <= most; row++) if (rows[row] !== (before[row] ?? 0)) changed.push(row);
    if (changed.length === 0) return this.#ranges;
    this.version += 1;
    this.#rows = rows;
    this.#ranges = changed.length > most ? this.#rangesOf(rows) : this.#changed(before, rows, changed);
    return this.#ranges;
  }

  /** The ranges of all rows. */
  #rangesOf(rows: Uint8Array): (R | undefined)[] {
    const ranges: (R | undefined)[] = [];
    for (let row = 0; row < rows.length; row++) if (rows[row] !== 0) this.#read.push(this.#at(ranges, rows[row]), row);
    for (const each of ranges) each?.merge();
    return ranges;
  }

  /** The ranges as they were, with what these rows changed. */
  #changed(before: Uint8Array, rows: Uint8Array, changed: readonly number[]): (R | undefined)[] {
    const gone: (R | undefined)[] = [];
    const added: (R | undefined)[] = [];
    for (const row of changed) {
      if (before[row]) this.#read.push(this.#at(gone, before[row]), row);
      if (rows[row] !== 0) this.#read.push(this.#at(added, rows[row]), row);
    }
    const ranges = [...this.#ranges];
    for (const [index, each] of gone.entries()) {
      if (each === undefined) continue;
      ranges[index]!.subtract(each);
      // What other rows have of it comes back.
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

function merged<R extends Ranges<R>>(ranges: R): R {
  ranges.merge();
  return ranges;
}

const keptV4 = (table: RuleTable) =>
  new KeptTable<V4Ranges>({
    create: () => new V4Ranges(),
    push: (ranges, row) => ranges.pushNetwork(table.words[row], table.prefixes[row]),
    pushOverlapping(into, ranges, rows, classAndOne) {
      ranges.merge();
      const { words, prefixes } = table;
      const [lowest, highest] = [ranges.pairs[0], ranges.pairs[2 * ranges.length - 1]];
      for (let row = 0; row < rows.length; row++) {
        if (rows[row] !== classAndOne || words[row] > highest) continue;
        const last = lastAddressV4(words[row], prefixes[row]);
        if (last >= lowest && ranges.overlaps(words[row], last)) into.push(words[row], last);
      }
    },
  });

const keptV6 = (table: RuleTable) =>
  new KeptTable<V6Ranges>({
    create: () => new V6Ranges(),
    push: (ranges, row) => ranges.pushNetwork(table.words, row * 4, table.prefixes[row]),
    pushOverlapping(into, ranges, rows, classAndOne) {
      ranges.merge();
      const { words, prefixes } = table;
      const ends = new Uint32Array(8);
      for (let row = 0; row < rows.length; row++) {
        // Its first word is above that of the last range.
        if (rows[row] !== classAndOne || words[row * 4] > ranges.words[8 * ranges.length - 4]) continue;
        for (let i = 0; i < 4; i++) ends[i] = words[row * 4 + i];
        lastAddressV6(words, row * 4, prefixes[row], ends, 4);
        if (ends[4] >= ranges.words[0] && ranges.overlaps(ends, 0)) into.push(ends, 0);
      }
    },
  });
