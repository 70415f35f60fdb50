import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { GeoTarget, RuleRole } from '../../rule.ts';
import type { Family } from '../variant.ts';
import { ROLE_MASK, type RuleTable, type RuleTables, roleTag } from './rule-table.ts';

export interface ListRules extends RuleTables {
  /** Whole seconds: expiries up to here were checked against the store. A rule with such an expiry was not renewed. */
  renewalsAskedThrough: number;
}

export class ActiveRules {
  /** The next expiry beyond those already checked. */
  nextExpiry = Number.POSITIVE_INFINITY;
  readonly tables: ListRules;
  /** Whole seconds: rules expiring then or before are excluded. */
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

  collectDirect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    const { v4, v6 } = this.tables;
    if (this.#withV4) this.each(v4, role, (row, tag) => setOf(tag).v4.pushNetwork(v4.words[row], v4.prefixes[row]));
    if (this.#withV6) this.each(v6, role, (row, tag) => setOf(tag).v6.pushNetwork(v6.words, row * 4, v6.prefixes[row]));
  }

  eachTarget(role: RuleRole, take: (target: GeoTarget, tag: number, row: number) => void): void {
    this.each(this.tables.geo, role, (row, tag) => take(this.tables.geoTargets[row], tag, row));
  }

  addRanges({ v4, v6 }: AddressSet, target: GeoTarget): void {
    const found = this.#geo.ranges(target);
    if (this.#withV4) v4.pushAll(found.v4);
    if (this.#withV6) v6.pushAll(found.v6);
  }

  /** Visits active rows of a role, beginning at row `first`. */
  each(table: RuleTable, role: RuleRole, take: (row: number, tag: number) => void, first = 0): void {
    // Another build may have checked later expiries.
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
