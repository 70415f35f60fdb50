/** Unstored rules of a trial: their tables as in snapshots, and their addresses. */
import { type AddressSet, addressSet, pushNetwork } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { AccessAction, RuleRole, Target } from '../../../rule.ts';
import type { ActiveRules } from '../../index/active-rules.ts';
import { addRule, addTables, newTables, type RuleTable, type RuleTables, roleTag } from '../../index/rule-table.ts';
import { Listed } from '../overlap/listed.ts';

const NEW = 0;

/** Collects rules of one action without duplicates. */
export class TriedRules {
  readonly action: AccessAction;
  readonly #tables = newTables();
  readonly #known = new Set<number | string>();
  readonly #direct: AddressSet = addressSet([]);
  readonly #geo: GeoDatabase;
  #listed: Listed | undefined;

  constructor(action: AccessAction, geo: GeoDatabase) {
    this.action = action;
    this.#geo = geo;
  }

  get counts() {
    const { v4, v6, geoTargets } = this.#tables;
    const countries = geoTargets.filter(({ kind }) => kind === 'country').length;
    return { v4: v4.length, v6: v6.length, countries, asns: geoTargets.length - countries };
  }

  take(target: Target): boolean {
    const key = targetKey(target);
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    addRule(this.#tables, NEW, this.action, target);
    if (target.kind === 'ip') pushNetwork(this.#direct, target.network);
    return true;
  }

  has(target: Target): boolean {
    return this.#known.has(targetKey(target));
  }

  get listed(): Listed {
    this.#listed ??= new Listed(this.#direct, this.#tables.geoTargets, this.#geo);
    return this.#listed;
  }

  /** Adds all rules in this role to an unshared snapshot's tables. */
  addTo(tables: RuleTables, role: RuleRole): void {
    const all = [tables.v4, tables.v6, tables.geo];
    const firsts = all.map(({ length }) => length);
    addTables(tables, this.#tables);
    for (const [i, { tags, length }] of all.entries()) tags.fill(roleTag(role), firsts[i]!, length);
  }
}

/** Unique key, numeric if possible: there may be half a million. */
export function targetKey(target: Target): number | string {
  if (target.kind === 'asn') return `AS${target.asn}`;
  if (target.kind === 'country') return target.country;
  const { network } = target;
  return network.family === 4 ? network.address * 64 + network.prefix : formatNetwork(network);
}

export function eachRule(active: ActiveRules, action: AccessAction, take: (target: Target, id: number) => void): void {
  const { v4, v6, geo } = active.tables;
  for (const table of [v4, v6]) active.each(table, action, (row) => take({ kind: 'ip', network: networkAt(table, row) }, table.ids[row]!));
  active.eachTarget(action, (target, _tag, row) => take(target, geo.ids[row]!));
}

function networkAt({ width, words, prefixes }: RuleTable, row: number): Network {
  const prefix = prefixes[row]!;
  if (width === 1) return { family: 4, address: words[row]!, prefix };
  const [a, b, c, d] = words.subarray(4 * row, 4 * row + 4);
  return { family: 6, address: [a!, b!, c!, d!], prefix };
}
