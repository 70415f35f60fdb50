import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { GeoTarget, RuleRole } from '../../rule.ts';
import type { Family } from '../variant.ts';
import { ROLE_MASK, type RuleTable, type RuleTables, roleTag } from './rule-table.ts';

/** The rules of one list, or of several that nobody needs apart. */
export interface ListRules extends RuleTables {
  /** Whole seconds: the store was asked for every rule that expires up to here. One that still has such an expiry was not renewed. */
  renewalsAskedThrough: number;
}

/** Rules of a list that are active at a second. */
export class ActiveRules {
  /** The next second at which one of the rules that were asked for expires, so far as the store was not asked for it yet. */
  nextExpiry = Number.POSITIVE_INFINITY;
  readonly tables: ListRules;
  /** Whole seconds: rules that expire then or before are left out. */
  readonly asOf: number;
  readonly #geo: GeoDatabase;
  readonly #withV4: boolean;
  readonly #withV6: boolean;

  constructor(tables: ListRules, asOf: number, geo: GeoDatabase, family: Family) {
    this.tables = tables;
    this.asOf = asOf;
    this.#geo = geo;
    this.#withV4 = family !== 'v6';
    this.#withV6 = family !== 'v4';
  }

  /** Adds the addresses and networks of the rules of a role, each to the set that `setOf` gives for its tag. */
  collectDirect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    const { v4, v6 } = this.tables;
    if (this.#withV4) this.each(v4, role, (row, tag) => setOf(tag).v4.pushNetwork(v4.words[row], v4.prefixes[row]));
    if (this.#withV6) this.each(v6, role, (row, tag) => setOf(tag).v6.pushNetwork(v6.words, row * 4, v6.prefixes[row]));
  }

  /** Calls `take` with the country or ASN of each rule of a role that has one. */
  eachTarget(role: RuleRole, take: (target: GeoTarget, tag: number, row: number) => void): void {
    this.each(this.tables.geo, role, (row, tag) => take(this.tables.geoTargets[row], tag, row));
  }

  /** Adds the ranges of a country or ASN to a set. */
  addRanges({ v4, v6 }: AddressSet, target: GeoTarget): void {
    const found = this.#geo.ranges(target);
    if (this.#withV4) v4.pushAll(found.v4);
    if (this.#withV6) v6.pushAll(found.v6);
  }

  /** Calls `take` with each row of one of the tables, from `first` on, whose rule is active and has this role. */
  each(table: RuleTable, role: RuleRole, take: (row: number, tag: number) => void, first = 0): void {
    // Another build may have asked for more than expires by the second of this one.
    const askedThrough = Math.min(this.tables.renewalsAskedThrough, this.asOf);
    const wanted = roleTag(role);
    for (let row = first; row < table.length; row++) {
      const tag = table.tags[row];
      if ((tag & ROLE_MASK) !== wanted) continue;
      const expires = table.expires[row];
      if (expires !== 0) {
        if (expires > askedThrough && expires < this.nextExpiry) this.nextExpiry = expires;
        if (expires <= this.asOf) continue;
      }
      take(row, tag);
    }
  }
}
