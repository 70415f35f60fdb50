import type { AddressSet } from '@weir/network/address-set.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { GeoTarget, RuleRole } from '../../rule.ts';
import type { Family } from '../variant.ts';
import type { Widening } from '../widening.ts';
import { ROLE_MASK, type RuleTable, type RuleTables, roleTag } from './rule-table.ts';
import { ServedRows } from './served-rows.ts';

export interface ListRules extends RuleTables {
  /** Whole seconds: a rule with an expiry up to here was not renewed. */
  renewalsAskedThrough: number;
}

export class ActiveRules {
  nextExpiry = Number.POSITIVE_INFINITY;
  readonly tables: ListRules;
  /** Whole seconds: rules expiring by then are excluded. */
  readonly asOf: number;
  /** undefined: hosts are served as sent. */
  readonly widening: Widening | undefined;
  readonly #geo: GeoDatabase;
  readonly #withV4: boolean;
  readonly #withV6: boolean;

  constructor(tables: ListRules, asOf: number, geo: GeoDatabase, family: Family, widening?: Widening) {
    this.tables = tables;
    this.asOf = asOf;
    this.widening = widening;
    this.#geo = geo;
    this.#withV4 = family !== 'v6';
    this.#withV6 = family !== 'v4';
  }

  collectDirect(role: RuleRole, setOf: (tag: number) => AddressSet): void {
    const { v4, v6 } = this.tables;
    const [rowsV4, rowsV6] = [this.served(v4, role), this.served(v6, role)];
    if (this.#withV4)
      this.each(v4, role, (row, tag) => {
        rowsV4.read(row);
        setOf(tag).v4.push(rowsV4.ends[0], rowsV4.ends[1]);
      });
    if (this.#withV6)
      this.each(v6, role, (row, tag) => {
        rowsV6.read(row);
        setOf(tag).v6.push(rowsV6.ends, 0);
      });
  }

  served(table: RuleTable, role: RuleRole): ServedRows {
    return new ServedRows(table, role === 'block' ? this.widening : undefined);
  }

  eachTarget(role: RuleRole, take: (target: GeoTarget, tag: number, row: number) => void): void {
    this.each(this.tables.geo, role, (row, tag) => take(this.tables.geoTargets[row], tag, row));
  }

  addRanges({ v4, v6 }: AddressSet, target: GeoTarget): void {
    const found = this.#geo.ranges(target);
    if (this.#withV4) v4.pushAll(found.v4);
    if (this.#withV6) v6.pushAll(found.v6);
  }

  /** Visits active rules from row `first`. */
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
