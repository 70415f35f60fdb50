/** The networks that bouncers are given, with the instants at which they lapse (SPEC D14.2): the block feed's content in more detail. */
import { type AddressSet, addressSet, subtract } from '../../network/address-set.ts';
import { type CidrsV4, type CidrsV6, coalesceV4, coalesceV6, countV4, countV6 } from '../../network/coalesce.ts';
import { sortPairs } from '../../network/radix.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { DecisionAnswer } from '../decisions.ts';
import type { ActiveRules } from './active-rules.ts';
import { exceptionsOf, feedContent, takenOut } from './content.ts';
import { type ActivePart, activeParts } from './feed-ranges.ts';
import { type Coverage, type CoveringRules, coverageOf } from './lapses.ts';
import { networksOf } from './network-key.ts';
import type { Snapshot } from './snapshot.ts';

/** Networks of both families, sorted, IPv4 first, with what holds for each. */
export interface DecisionNetworks {
  readonly v4: CidrsV4;
  readonly v6: CidrsV6;
  /** IPv4 first: when each lapses, whole seconds (Infinity: never), and the list that it is of, from 1 on, or SEVERAL. */
  readonly coverage: Coverage;
}

export interface DecisionContent {
  /** What bouncers are told. */
  readonly told: DecisionNetworks;
  /** All networks of the block feed: what look-ups are answered from. The same object, unless single addresses are told. */
  readonly all: DecisionNetworks;
  readonly leftOut: DecisionAnswer['leftOut'];
  /** The next second at which a rule expires, so far as the store was not asked for it yet; Infinity when none does. */
  readonly until: number;
}

/** What there is in place of content that exceeds the cap. */
export interface TooManyDecisions {
  readonly count: number;
  readonly until: number;
}

interface DecisionParts {
  /** Whole seconds: rules that expire at this second or before are left out. */
  readonly asOf: number;
  readonly geo: GeoDatabase;
  /** Addresses that no block feed contains. */
  readonly guarded: AddressSet | undefined;
  readonly entryLimit: number;
  /** Networks of up to so many addresses are told as single addresses, wider ones not at all; null: networks are told. */
  readonly singleAddresses: number | null;
}

const NOTHING = { networks: 0, addresses: 0 };

/** The decisions of a feed's snapshot, or how many there would be where those are more than the cap. */
export function decisionContent(snapshot: Snapshot, parts: DecisionParts): DecisionContent | TooManyDecisions {
  const { asOf, geo, guarded, entryLimit, singleAddresses } = parts;
  const query = { family: 'both', action: 'block', asOf, classes: undefined, guarded } as const;
  const { classes, count, until } = feedContent(snapshot, query, geo);
  if (singleAddresses === null && count > entryLimit) return { count, until };
  const { v4, v6 } = classes[0] ?? networksOf([]);
  const active = activeParts(snapshot.parts, query, geo);
  const rules = activeNetworks(active);
  const all = coveredBy(rules, v4, v6);
  if (singleAddresses === null) return { told: all, all, leftOut: NOTHING, until };

  const exceptions = exceptionsOf(snapshot);
  const allowed = exceptions && snapshot.ranges.ranges(active, { ...query, role: exceptions }, geo);
  const bits = Math.floor(Math.log2(singleAddresses));
  const narrow: NetworkRules = { v4: rules.v4.from(32 - bits), v6: rules.v6.from(128 - bits) };
  const single = withoutTaken(addressesOf(narrow), takenOut(allowed, guarded));
  const addresses = addressCount(single);
  if (addresses > entryLimit) return { count: addresses, until };
  const wide = addressSet([]);
  for (let i = 0; i < v4.length; i++) wide.v4.pushNetwork(v4.addresses[i], v4.prefixes[i]);
  for (let i = 0; i < v6.length; i++) wide.v6.pushNetwork(v6.words, 4 * i, v6.prefixes[i]);
  const left = withoutTaken(wide, single);
  return {
    told: coveredBy(narrow, hostsV4(single), hostsV6(single)),
    all,
    leftOut: { networks: countV4(left.v4) + countV6(left.v6), addresses: addressCount(left) },
    until,
  };
}

/** Rules on networks of one family, as columns. */
class NetworkColumns<A> {
  length = 0;
  readonly addresses: A[] = [];
  prefixes: Uint8Array;
  /** Whole seconds; Infinity: never. */
  expires: Float64Array;
  lists: Uint16Array;

  constructor(capacity: number) {
    this.prefixes = new Uint8Array(capacity);
    this.expires = new Float64Array(capacity);
    this.lists = new Uint16Array(capacity);
  }

  add(address: A, prefix: number, expires: number, list: number): void {
    if (this.length === this.prefixes.length) this.#grow();
    this.addresses.push(address);
    this.prefixes[this.length] = prefix;
    this.expires[this.length] = expires === 0 ? Number.POSITIVE_INFINITY : expires;
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
    this.lists = new Uint16Array(capacity);
    this.lists.set(lists);
  }

  /** Those whose prefix has at least this length. */
  from(prefix: number): NetworkColumns<A> {
    const narrow = new NetworkColumns<A>(this.length);
    for (let i = 0; i < this.length; i++) {
      if (this.prefixes[i] >= prefix) narrow.add(this.addresses[i], this.prefixes[i], this.expires[i], this.lists[i]);
    }
    return narrow;
  }
}

interface NetworkRules {
  readonly v4: NetworkColumns<number>;
  readonly v6: NetworkColumns<readonly number[]>;
}

/** Numbers of lists have 16 bits; the last one stands for all that are too many to have one. */
export const MOST_LISTS = 0xffff;

/** The rules that block, those on countries and ASNs as one for each of their networks. Lists are numbered in the order of the parts, from 1 on. */
function activeNetworks(parts: readonly ActivePart[]): NetworkRules {
  const capacity = (family: 'v4' | 'v6') => parts.reduce((sum, { rules: { [family]: table } }) => sum + table.length, 0);
  const all: NetworkRules = { v4: new NetworkColumns(capacity('v4')), v6: new NetworkColumns(capacity('v6')) };
  for (const [index, { active }] of parts.entries()) addNetworks(all, active, Math.min(index + 1, MOST_LISTS));
  return all;
}

function addNetworks(all: NetworkRules, active: ActiveRules, list: number): void {
  const { v4: tableV4, v6: tableV6, geo } = active.tables;
  active.each(tableV4, 'block', (row) => all.v4.add(tableV4.words[row], tableV4.prefixes[row], tableV4.expires[row], list));
  active.each(tableV6, 'block', (row) =>
    all.v6.add([...tableV6.words.subarray(4 * row, 4 * row + 4)], tableV6.prefixes[row], tableV6.expires[row], list),
  );
  active.eachTarget('block', (target, _tag, row) => {
    const ranges = addressSet([]);
    active.addRanges(ranges, target);
    const [v4, v6] = [coalesceV4(ranges.v4), coalesceV6(ranges.v6)];
    for (let i = 0; i < v4.length; i++) all.v4.add(v4.addresses[i], v4.prefixes[i], geo.expires[row], list);
    for (let i = 0; i < v6.length; i++) all.v6.add([...v6.words.subarray(4 * i, 4 * i + 4)], v6.prefixes[i], geo.expires[row], list);
  });
}

function addressesOf({ v4, v6 }: NetworkRules): AddressSet {
  const set = addressSet([]);
  for (let i = 0; i < v4.length; i++) set.v4.pushNetwork(v4.addresses[i], v4.prefixes[i]);
  for (let i = 0; i < v6.length; i++) set.v6.pushNetwork(v6.addresses[i], 0, v6.prefixes[i]);
  return set;
}

function withoutTaken(set: AddressSet, taken: AddressSet | undefined): AddressSet {
  if (taken !== undefined) subtract(set, taken);
  set.v4.merge();
  set.v6.merge();
  return set;
}

const bigOf = (words: ArrayLike<number>, at: number): bigint =>
  (BigInt(words[at]) << 96n) | (BigInt(words[at + 1]) << 64n) | (BigInt(words[at + 2]) << 32n) | BigInt(words[at + 3]);

/** How many addresses a merged set has. */
function addressCount({ v4, v6 }: AddressSet): number {
  let count = 0;
  for (let i = 0; i < v4.length; i++) count += v4.pairs[2 * i + 1] - v4.pairs[2 * i] + 1;
  for (let i = 0; i < v6.length; i++) count += Number(bigOf(v6.words, 8 * i + 4) - bigOf(v6.words, 8 * i)) + 1;
  return count;
}

/** Every address as a network of its own. */
function hostsV4({ v4: ranges }: AddressSet): CidrsV4 {
  const addresses: number[] = [];
  for (let i = 0; i < ranges.length; i++) {
    for (let address = ranges.pairs[2 * i]; address <= ranges.pairs[2 * i + 1]; address++) addresses.push(address);
  }
  return { length: addresses.length, addresses: Uint32Array.from(addresses), prefixes: new Uint8Array(addresses.length).fill(32) };
}

function hostsV6({ v6 }: AddressSet): CidrsV6 {
  const words: number[] = [];
  for (let i = 0; i < v6.length; i++) {
    const last = bigOf(v6.words, 8 * i + 4);
    for (let address = bigOf(v6.words, 8 * i); address <= last; address++) {
      for (const shift of [96n, 64n, 32n, 0n]) words.push(Number((address >> shift) & 0xffff_ffffn));
    }
  }
  const length = words.length / 4;
  return { length, words: Uint32Array.from(words), prefixes: new Uint8Array(length).fill(128) };
}

/** Networks with what the rules that cover them say. */
function coveredBy(rules: NetworkRules, v4: CidrsV4, v6: CidrsV6): DecisionNetworks {
  const ofV4 = coverageOf(coveringV4(rules.v4), boundsV4(v4.addresses, v4.prefixes));
  const ofV6 = coverageOf(coveringV6(rules.v6), boundsV6(v6));
  const count = v4.length + v6.length;
  const coverage = { lapses: new Float64Array(count), lists: new Int32Array(count) };
  for (const name of ['lapses', 'lists'] as const) {
    coverage[name].set(ofV4[name]);
    coverage[name].set(ofV6[name], v4.length);
  }
  return { v4, v6, coverage };
}

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
    lists: new Uint16Array(length),
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
