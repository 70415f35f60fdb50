/** Networks with expiry and lists (SPEC D14.2, D14.5, D31.2). */
import { type AddressSet, addressSet, intersection } from '@weir/network/address-set.ts';
import { type CidrsV4, type CidrsV6, coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { sortPairs } from '@weir/network/radix.ts';
import type { ActiveRules } from '../../feed/index/active-rules.ts';
import type { ActivePart } from '../../feed/index/feed-ranges.ts';
import type { RuleTable } from '../../feed/index/rule-table.ts';
import { type Attribution, type Coverage, type CoveringRules, coverageOf } from './coverage.ts';
import type { NumberedLists } from './numbered-lists.ts';

/** Sorted networks, IPv4 first. */
export interface DecisionNetworks {
  readonly v4: CidrsV4;
  readonly v6: CidrsV6;
  /** IPv4 first. */
  readonly coverage: Coverage;
}

/** Rules of one family, as columns. */
class NetworkColumns<A> {
  length = 0;
  readonly addresses: A[] = [];
  prefixes: Uint8Array;
  /** Whole seconds; Infinity: never. */
  expires: Float64Array;
  /** Numbers of `NumberedLists`. */
  lists: Int32Array;

  constructor(capacity: number) {
    this.prefixes = new Uint8Array(capacity);
    this.expires = new Float64Array(capacity);
    this.lists = new Int32Array(capacity);
  }

  add(address: A, prefix: number, expires: number, list: number): void {
    if (this.length === this.prefixes.length) this.#grow();
    this.addresses.push(address);
    this.prefixes[this.length] = prefix;
    this.expires[this.length] = expires;
    this.lists[this.length] = list;
    this.length += 1;
  }

  #grow(): void {
    const { prefixes, expires, lists } = this;
    const capacity = 2 * this.length + 64;
    this.prefixes = new Uint8Array(capacity);
    this.prefixes.set(prefixes);
    this.expires = new Float64Array(capacity);
    this.expires.set(expires);
    this.lists = new Int32Array(capacity);
    this.lists.set(lists);
  }

  /** The rules with at least this prefix length. */
  from(prefix: number): NetworkColumns<A> {
    const narrow = new NetworkColumns<A>(this.length);
    for (let i = 0; i < this.length; i++) {
      if (this.prefixes[i] >= prefix) narrow.add(this.addresses[i], this.prefixes[i], this.expires[i], this.lists[i]);
    }
    return narrow;
  }
}

export interface NetworkRules {
  readonly v4: NetworkColumns<number>;
  readonly v6: NetworkColumns<readonly number[]>;
}

/** Per row of a part, until when its rule blocks, whole seconds (Infinity: forever; 0: it does not block). */
export interface BlockingRules {
  readonly v4: Float64Array;
  readonly v6: Float64Array;
  readonly geo: Float64Array;
}

export const blockingRules = (parts: readonly ActivePart[]): BlockingRules[] => parts.map(({ active }) => blockingOf(active));

function blockingOf(active: ActiveRules): BlockingRules {
  const of = (table: RuleTable) => {
    const until = new Float64Array(table.length);
    active.each(table, 'block', (row) => {
      until[row] = table.expires[row] || Number.POSITIVE_INFINITY;
    });
    return until;
  };
  const { v4, v6, geo } = active.tables;
  return { v4: of(v4), v6: of(v6), geo: of(geo) };
}

/** Expands countries and ASNs; with `within`, only rules that overlap it. */
export function blockingNetworks(
  parts: readonly ActivePart[],
  rules: readonly BlockingRules[],
  lists: Pick<NumberedLists, 'of'>,
  within?: AddressSet,
): NetworkRules {
  const capacity = (family: 'v4' | 'v6') => (within === undefined ? rules.reduce((sum, each) => sum + each[family].length, 0) : 0);
  const found: NetworkRules = { v4: new NetworkColumns(capacity('v4')), v6: new NetworkColumns(capacity('v6')) };
  for (const [place, { active }] of parts.entries()) addBlocking(found, active, rules[place], lists.of(place), within);
  return found;
}

function addBlocking(found: NetworkRules, active: ActiveRules, rules: BlockingRules, list: number, within: AddressSet | undefined): void {
  const { v4: tableV4, v6: tableV6, geoTargets } = active.tables;
  const [rowsV4, rowsV6] = [active.served(tableV4, 'block'), active.served(tableV6, 'block')];
  within?.v4.merge();
  const { pairs, length } = within?.v4 ?? { pairs: new Uint32Array(), length: 0 };
  const [lowest, highest] = length === 0 ? [1, 0] : [pairs[0], pairs[2 * length - 1]];
  for (let row = 0; row < tableV4.length; row++) {
    const until = rules.v4[row];
    if (until === 0 || (within !== undefined && !rowsV4.mayOverlapV4(row, lowest, highest))) continue;
    rowsV4.read(row);
    const [first, last] = rowsV4.ends;
    if (within?.v4.overlaps(first, last) === false) continue;
    found.v4.add(first, rowsV4.prefix, until, list);
  }
  for (let row = 0; row < tableV6.length; row++) {
    const until = rules.v6[row];
    if (until === 0) continue;
    rowsV6.read(row);
    if (within?.v6.overlaps(rowsV6.ends, 0) === false) continue;
    found.v6.add([...rowsV6.ends.subarray(0, 4)], rowsV6.prefix, until, list);
  }
  for (const [row, until] of rules.geo.entries()) {
    if (until === 0) continue;
    const ranges = addressSet([]);
    active.addRanges(ranges, geoTargets[row]);
    const { v4, v6 } = within === undefined ? ranges : intersection(ranges, within);
    const [cidrsV4, cidrsV6] = [coalesceV4(v4), coalesceV6(v6)];
    for (let i = 0; i < cidrsV4.length; i++) found.v4.add(cidrsV4.addresses[i], cidrsV4.prefixes[i], until, list);
    for (let i = 0; i < cidrsV6.length; i++) found.v6.add([...cidrsV6.words.subarray(4 * i, 4 * i + 4)], cidrsV6.prefixes[i], until, list);
  }
}

export function addressesOf({ v4, v6 }: NetworkRules): AddressSet {
  const set = addressSet([]);
  for (let i = 0; i < v4.length; i++) set.v4.pushNetwork(v4.addresses[i], v4.prefixes[i]);
  for (let i = 0; i < v6.length; i++) set.v6.pushNetwork(v6.addresses[i], 0, v6.prefixes[i]);
  return set;
}

export function coveredBy(rules: NetworkRules, v4: CidrsV4, v6: CidrsV6, attribution: Attribution): DecisionNetworks {
  const ofV4 = coverageOf(coveringV4(rules.v4), boundsV4(v4.addresses, v4.prefixes), attribution);
  const ofV6 = coverageOf(coveringV6(rules.v6), boundsV6(v6), attribution);
  const count = v4.length + v6.length;
  const coverage = { expires: new Float64Array(count), lists: new Int32Array(count) };
  for (const name of ['expires', 'lists'] as const) {
    coverage[name].set(ofV4[name]);
    coverage[name].set(ofV6[name], v4.length);
  }
  return { v4, v6, coverage };
}

export const bigOf = (words: ArrayLike<number>, at: number): bigint =>
  (BigInt(words[at]) << 96n) | (BigInt(words[at + 1]) << 64n) | (BigInt(words[at + 2]) << 32n) | BigInt(words[at + 3]);

function boundsV4(addresses: ArrayLike<number>, prefixes: ArrayLike<number>) {
  const [starts, ends] = [new Float64Array(addresses.length), new Float64Array(addresses.length)];
  for (let i = 0; i < starts.length; i++) {
    starts[i] = addresses[i];
    ends[i] = addresses[i] + 2 ** (32 - prefixes[i]);
  }
  return { starts, ends };
}

/** By address, then by prefix length. */
function coveringV4({ addresses, prefixes, expires, lists, length }: NetworkColumns<number>): CoveringRules<number> {
  const pairs = new Uint32Array(2 * length);
  for (let i = 0; i < length; i++) {
    pairs[2 * i] = prefixes[i];
    pairs[2 * i + 1] = i;
  }
  // The sort is stable.
  sortPairs(pairs, length);
  for (let i = 0; i < length; i++) pairs[2 * i] = addresses[pairs[2 * i + 1]];
  sortPairs(pairs, length);
  const sorted = {
    starts: new Float64Array(length),
    ends: new Float64Array(length),
    expires: new Float64Array(length),
    lists: new Int32Array(length),
  };
  for (let i = 0; i < length; i++) {
    const rule = pairs[2 * i + 1];
    sorted.starts[i] = pairs[2 * i];
    sorted.ends[i] = pairs[2 * i] + 2 ** (32 - prefixes[rule]);
    sorted.expires[i] = expires[rule];
    sorted.lists[i] = lists[rule];
  }
  return sorted;
}

function boundsV6({ length, words, prefixes }: CidrsV6) {
  const starts = Array.from({ length }, (_, i) => bigOf(words, 4 * i));
  return { starts, ends: starts.map((start, i) => start + (1n << BigInt(128 - prefixes[i]))) };
}

function coveringV6({ addresses, prefixes, expires, lists }: NetworkColumns<readonly number[]>): CoveringRules<bigint> {
  const rules = addresses.map((words, i) => ({ start: bigOf(words, 0), prefix: prefixes[i], expires: expires[i], list: lists[i] }));
  rules.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : a.prefix - b.prefix));
  return {
    starts: rules.map(({ start }) => start),
    ends: rules.map(({ start, prefix }) => start + (1n << BigInt(128 - prefix))),
    expires: rules.map(({ expires: each }) => each),
    lists: rules.map(({ list }) => list),
  };
}
