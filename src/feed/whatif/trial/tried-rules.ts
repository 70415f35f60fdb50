/** Unstored rules of a trial: their tables as in snapshots, and their addresses. */
import { type AddressSet, addressSet } from '@weir/network/address-set.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { AccessAction, RuleRole, Target } from '../../../rule.ts';
import { type RuleTable, type RuleTables, roleTag } from '../../index/rule-table.ts';
import { RuleColumns } from '../../index/snapshot.ts';
import { Listed } from '../overlap/listed.ts';

const NEW = 0;

/** Collects rules of one action without duplicates. */
export class TriedRules {
  readonly action: AccessAction;
  readonly #columns = new RuleColumns();
  readonly #known = new Set<number | string>();
  readonly #direct: AddressSet = addressSet([]);
  readonly #geo: GeoDatabase;
  #listed: Listed | undefined;

  constructor(action: AccessAction, geo: GeoDatabase) {
    this.action = action;
    this.#geo = geo;
  }

  get counts() {
    const { tableV4, tableV6, geoTargets } = this.#columns;
    const countries = geoTargets.filter(({ kind }) => kind === 'country').length;
    return { v4: tableV4.length, v6: tableV6.length, countries, asns: geoTargets.length - countries };
  }

  take(target: Target): boolean {
    const key = targetKey(target);
    if (this.#known.has(key)) return false;
    this.#known.add(key);
    if (target.kind !== 'ip') {
      this.#columns.geo(NEW, this.action, target, 0, 0);
      return true;
    }
    const { network } = target;
    if (network.family === 4) {
      this.#columns.v4(NEW, this.action, network.address, network.prefix, 0, 0);
      this.#direct.v4.pushNetwork(network.address, network.prefix);
    } else {
      const table = this.#columns.tableV6;
      // Adding may replace the columns.
      const row = table.add(NEW, this.action, network.prefix, 0, 0);
      table.words.set(network.address, 4 * row);
      this.#direct.v6.pushNetwork(network.address, 0, network.prefix);
    }
    return true;
  }

  has(target: Target): boolean {
    return this.#known.has(targetKey(target));
  }

  get listed(): Listed {
    this.#listed ??= new Listed(this.#direct, this.#columns.geoTargets, this.#geo);
    return this.#listed;
  }

  /** Adds all rules in this role to an unshared snapshot's tables. */
  addTo(tables: RuleTables, role: RuleRole): void {
    const { tableV4, tableV6, tableGeo, geoTargets } = this.#columns;
    for (const [into, from] of [
      [tables.v4, tableV4],
      [tables.v6, tableV6],
      [tables.geo, tableGeo],
    ] as const) {
      const first = into.length;
      into.addAll(from);
      into.tags.fill(roleTag(role), first, into.length);
    }
    for (const target of geoTargets) tables.geoTargets.push(target);
  }
}

/** Unique key, numeric if possible: there may be half a million. */
export function targetKey(target: Target): number | string {
  if (target.kind === 'asn') return `AS${target.asn}`;
  if (target.kind === 'country') return target.country;
  const { network } = target;
  return network.family === 4 ? network.address * 64 + network.prefix : formatNetwork(network);
}

export function networkAt({ width, words, prefixes }: RuleTable, row: number): Network {
  const prefix = prefixes[row]!;
  if (width === 1) return { family: 4, address: words[row]!, prefix };
  const [a, b, c, d] = words.subarray(4 * row, 4 * row + 4);
  return { family: 6, address: [a!, b!, c!, d!], prefix };
}
