/** Caches coverage: only networks affected by a changed rule are computed again. */
import { addressSet, pushNetworks } from '@weir/network/address-set.ts';
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import type { Network } from '@weir/network/network.ts';
import type { ActiveRules } from '../../feed/index/active-rules.ts';
import type { ActivePart } from '../../feed/index/feed-ranges.ts';
import type { RuleTable } from '../../feed/index/rule-table.ts';
import type { Widening } from '../../feed/widening.ts';
import { type BlockingRules, blockingNetworks, coveredBy, type DecisionNetworks } from './covered-networks.ts';
import type { NumberedLists } from './numbered-lists.ts';
import { placesIn, placesOverlapping, type SortedNetworks } from './sorted-networks.ts';

interface Cached {
  /** One table per part, matching the rows of `rules`. Tables that follow a snapshot stay the same objects. */
  readonly tables: readonly RuleTable[];
  readonly widenings: readonly (Widening | undefined)[];
  readonly rules: readonly BlockingRules[];
  readonly geoVersion: string;
  readonly order: string;
  readonly networks: DecisionNetworks;
}

/** Above this share a full computation is no slower. */
const MOST_CHANGED = 1 / 8;
/** Index of a network that is new, or affected by a changed rule. */
const NONE = -1;

export class CoverageCache {
  #cached: Cached | undefined;

  /** Active rules cover all networks. */
  of(
    parts: readonly ActivePart[],
    rules: readonly BlockingRules[],
    networks: SortedNetworks,
    { geoVersion, lists }: { readonly geoVersion: string; readonly lists: NumberedLists },
  ): DecisionNetworks {
    const { order } = lists;
    const changed = this.#changedSince(parts, rules, { geoVersion, order });
    const covered =
      changed === undefined
        ? coveredBy(blockingNetworks(parts, rules, lists), networks.v4, networks.v6, lists.attribution)
        : this.#coveredAgain(parts, rules, networks, changed, lists);
    const [tables, widenings] = [parts.map(({ active }) => active.tables.v4), parts.map(({ active }) => active.widening)];
    this.#cached = { tables, widenings, rules, geoVersion, order, networks: covered };
    return covered;
  }

  /** Networks of rules that were added, removed, or have another expiry; undefined: too many, or the previous state is unknown. */
  #changedSince(
    parts: readonly ActivePart[],
    rules: readonly BlockingRules[],
    { geoVersion, order }: Pick<Cached, 'geoVersion' | 'order'>,
  ): Network[] | undefined {
    const cached = this.#cached;
    const isSame =
      cached?.tables.length === parts.length &&
      parts.every(
        ({ active: { tables, widening } }, place) =>
          tables.v4 === cached.tables[place] && (widening?.equals(cached.widenings[place]) ?? cached.widenings[place] === undefined),
      );
    if (cached === undefined || !isSame || cached.geoVersion !== geoVersion || cached.order !== order) return undefined;
    const most = rules.reduce((sum, { v4, v6 }) => sum + v4.length + v6.length, 0) * MOST_CHANGED;
    const changed: Network[] = [];
    for (const [place, { active }] of parts.entries()) {
      const found = changedIn(active, cached.rules[place], rules[place], most - changed.length);
      if (found === undefined) return undefined;
      changed.push(...found);
    }
    return changed;
  }

  #coveredAgain(
    parts: readonly ActivePart[],
    rules: readonly BlockingRules[],
    { v4, v6 }: SortedNetworks,
    changed: readonly Network[],
    lists: NumberedLists,
  ): DecisionNetworks {
    const before = this.#cached!.networks;
    const places = placesIn(before, { v4, v6 });
    for (const network of changed) {
      const { from, to } = placesOverlapping({ v4, v6 }, network);
      places.fill(NONE, from, to);
    }
    const coverage = { expires: new Float64Array(places.length), lists: new Int32Array(places.length) };
    const again: number[] = [];
    for (let at = 0; at < places.length; at++) {
      const place = places[at];
      if (place === NONE) {
        again.push(at);
      } else {
        coverage.expires[at] = before.coverage.expires[place];
        coverage.lists[at] = before.coverage.lists[place];
      }
    }
    if (again.length === 0) return { v4, v6, coverage };
    const part = partOf({ v4, v6 }, again);
    const within = addressSet([]);
    pushNetworks(within, part);
    const updated = coveredBy(blockingNetworks(parts, rules, lists, within), part.v4, part.v6, lists.attribution).coverage;
    for (const [i, at] of again.entries()) {
      coverage.expires[at] = updated.expires[i];
      coverage.lists[at] = updated.lists[i];
    }
    return { v4, v6, coverage };
  }
}

/** undefined: more than `most` networks, or a country or ASN changed. */
function changedIn(active: ActiveRules, before: BlockingRules, rules: BlockingRules, most: number): Network[] | undefined {
  if (changedRows(before.geo, rules.geo, 0) === undefined) return undefined;
  const v4 = changedRows(before.v4, rules.v4, most);
  const v6 = changedRows(before.v6, rules.v6, most);
  if (v4 === undefined || v6 === undefined) return undefined;
  const [rowsV4, rowsV6] = [active.served(active.tables.v4, 'block'), active.served(active.tables.v6, 'block')];
  return [...v4.map((row) => rowsV4.network(row)), ...v6.map((row) => rowsV6.network(row))];
}

/** undefined: more than `most` rows differ. */
function changedRows(before: Float64Array, rules: Float64Array, most: number): number[] | undefined {
  const changed: number[] = [];
  for (let row = 0; row < rules.length; row++) {
    if (rules[row] === (row < before.length ? before[row] : 0)) continue;
    if (changed.length >= most) return undefined;
    changed.push(row);
  }
  return changed;
}

/** The networks at these places, in order. */
function partOf({ v4, v6 }: SortedNetworks, places: readonly number[]): { readonly v4: CidrsV4; readonly v6: CidrsV6 } {
  const inV4 = places.filter((at) => at < v4.length);
  const inV6 = places.slice(inV4.length).map((at) => at - v4.length);
  return {
    v4: {
      length: inV4.length,
      addresses: Uint32Array.from(inV4, (at) => v4.addresses[at]),
      prefixes: Uint8Array.from(inV4, (at) => v4.prefixes[at]),
    },
    v6: {
      length: inV6.length,
      words: Uint32Array.from(inV6.flatMap((at) => [...v6.words.subarray(4 * at, 4 * at + 4)])),
      prefixes: Uint8Array.from(inV6, (at) => v6.prefixes[at]),
    },
  };
}
