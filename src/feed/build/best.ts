/** The best entries of a feed within its cap (SPEC D57). An entry is as good as its best rule. */
import { type AddressSet, addressSet, overlaps, pushNetwork } from '@weir/network/address-set.ts';
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import type { Network } from '@weir/network/network.ts';
import { sortPairs } from '@weir/network/radix.ts';
import { firstReaching } from '@weir/network/search.ts';
import { compareV6 } from '@weir/network/words.ts';
import type { SnapshotHead } from '../../ports/snapshot.ts';
import { LEVELS } from '../../rule.ts';
import type { NetworkClass } from '../formats/format.ts';
import type { ActivePart } from '../index/feed-ranges.ts';
import { levelsOfTag, type RuleTable } from '../index/rule-table.ts';
import { confidenceOf, DEFAULT_LEVEL, filledLevels, levelCode } from '../levels.ts';
import type { TrimResult } from '../trim.ts';

const WORD = 2 ** 32;
/** Id of the rules of a preview: they are the newest. */
const PREVIEWED = 0;

/** What to rank: the feed's rules, and its entries without the cap. */
export interface Ranked {
  readonly head: Pick<SnapshotHead, 'quorum' | 'profile'>;
  readonly parts: readonly ActivePart[];
  readonly classes: readonly NetworkClass[];
  readonly isSingle: boolean;
}

interface Rank {
  /** Places of the entry, from 1. */
  readonly from: number;
  readonly to: number;
}

/** undefined: the feed is not trimmed in this way. */
export function bestEntries(
  ranked: Ranked,
  count: number,
  limit: number,
): { readonly classes: readonly NetworkClass[]; readonly trimmed: TrimResult } | undefined {
  if (ranked.head.quorum?.fit !== 'best') return undefined;
  const next = 'the entries of the lowest rank';
  if (count <= limit) return { classes: ranked.classes, trimmed: { leftOut: undefined, next } };
  const sets = ranked.classes.map(() => addressSet([]));
  eachByRank(ranked, (place, network, { from, to }) => {
    pushPart(sets[place]!, network, to > limit ? limit - from + 1 : undefined);
    return to < limit;
  });
  const classes = sets.flatMap(({ v4, v6 }, place) => {
    const of = { index: ranked.classes[place]!.index, v4: coalesceV4(v4), v6: coalesceV6(v6) };
    return of.v4.length + of.v6.length === 0 ? [] : [of];
  });
  return { classes, trimmed: { leftOut: { fit: 'best', entries: count - limit }, next } };
}

/** The place of the best entry with an address of the set, from 1; undefined: none. */
export function bestRank(ranked: Ranked, asked: AddressSet): number | undefined {
  let found: number | undefined;
  eachByRank(ranked, (_, network, { from }) => {
    if (overlaps(asked, network)) found = from;
    return found === undefined;
  });
  return found;
}

/** Visits the entries from the best on, until `take` returns false. */
function eachByRank({ head, parts, classes, isSingle }: Ranked, take: (place: number, network: Network, rank: Rank) => boolean): void {
  let last = 0;
  const visit = (place: number, network: Network): boolean => {
    const size = isSingle ? 2 ** ((network.family === 4 ? 32 : 128) - network.prefix) : 1;
    const from = last + 1;
    last += size;
    return take(place, network, { from, to: last });
  };
  const entries = classes.map((each, place) => new Entries(each, (network) => visit(place, network)));
  const tables = parts.flatMap(({ active }) =>
    KINDS.map((kind) => ({ active, kind, served: active.served(active.tables[kind], 'block') })),
  );
  const { order, slots, rows } = rulesByRank(head, parts);
  for (let i = 0; i < slots.length; i++) {
    const rule = order[2 * i + 1];
    const { active, kind, served } = tables[slots[rule]];
    if (kind === 'geo') {
      const set = addressSet([]);
      active.addRanges(set, active.tables.geoTargets[rows[rule]]);
      if (!entries.every((each) => each.takeAll(set))) return;
    } else {
      served.read(rows[rule]);
      if (!entries.every((each) => (kind === 'v4' ? each.takeV4(served.ends, 0) : each.takeV6(served.ends, 0)))) return;
    }
  }
}

/** The entries of a class that no better rule has visited. */
class Entries {
  readonly #networks: NetworkClass;
  readonly #take: (network: Network) => boolean;
  /** The next entry that was not visited, by index; compressed on the way. */
  readonly #next: { readonly v4: Uint32Array; readonly v6: Uint32Array };
  readonly #last = new Uint32Array(4);

  constructor(networks: NetworkClass, take: (network: Network) => boolean) {
    this.#networks = networks;
    this.#take = take;
    const each = (length: number) => Uint32Array.from({ length: length + 1 }, (_, i) => i);
    this.#next = { v4: each(networks.v4.length), v6: each(networks.v6.length) };
  }

  takeAll({ v4, v6 }: AddressSet): boolean {
    v4.merge();
    v6.merge();
    for (let i = 0; i < v4.length; i++) if (!this.takeV4(v4.pairs, 2 * i)) return false;
    for (let i = 0; i < v6.length; i++) if (!this.takeV6(v6.words, 8 * i)) return false;
    return true;
  }

  /** Visits the entries that overlap the range at `ends[at]`; false: enough. */
  takeV4(ends: Uint32Array, at: number): boolean {
    const { addresses, prefixes, length } = this.#networks.v4;
    const [first, last] = [ends[at], ends[at + 1]];
    const begin = firstReaching(length, (i) => lastAddressV4(addresses[i], prefixes[i]) >= first);
    return this.#visit(
      this.#next.v4,
      begin,
      (i) => i < length && addresses[i] <= last,
      (i) => ({ family: 4, address: addresses[i], prefix: prefixes[i] }),
    );
  }

  takeV6(ends: Uint32Array, at: number): boolean {
    const { words, prefixes, length } = this.#networks.v6;
    const begin = firstReaching(length, (i) => {
      lastAddressV6(words, 4 * i, prefixes[i], this.#last, 0);
      return compareV6(this.#last, 0, ends, at) >= 0;
    });
    return this.#visit(
      this.#next.v6,
      begin,
      (i) => i < length && compareV6(words, 4 * i, ends, at + 4) <= 0,
      (i) => ({ family: 6, address: [words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]], prefix: prefixes[i] }),
    );
  }

  #visit(next: Uint32Array, begin: number, isWithin: (i: number) => boolean, networkAt: (i: number) => Network): boolean {
    for (let i = find(next, begin); isWithin(i); i = find(next, i)) {
      next[i] = i + 1;
      if (!this.#take(networkAt(i))) return false;
    }
    return true;
  }
}

function find(next: Uint32Array, from: number): number {
  let i = from;
  while (next[i] !== i) {
    next[i] = next[next[i]];
    i = next[i];
  }
  return i;
}

const KINDS = ['v4', 'v6', 'geo'] as const;

/**
 * The blocking rules, best first: by confidence, own detections, and time of addition, the newest first. Rule `order[2 * i + 1]` is row
 * `rows` of the table numbered `slots`.
 */
function rulesByRank({ quorum, profile }: Ranked['head'], parts: readonly ActivePart[]) {
  const defaults = filledLevels(levelCode(profile.confidence ?? DEFAULT_LEVEL, null));
  const [slots, rows, levels, ids]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const [place, { active, levels: own }] of parts.entries()) {
    const groups = filledLevels(own).map((code) => 2 * (LEVELS.length - confidenceOf(defaults[code])) + (quorum?.own[place] ? 0 : 1));
    for (const [kind, name] of KINDS.entries()) {
      const table: RuleTable = active.tables[name];
      active.each(table, 'block', (row, tag) => {
        slots.push(KINDS.length * place + kind);
        rows.push(row);
        levels.push(groups[levelsOfTag(tag)]);
        ids.push(table.ids[row]);
      });
    }
  }
  const order = new Uint32Array(2 * slots.length);
  for (let i = 0; i < slots.length; i++) order[2 * i + 1] = i;
  // The sort is stable: by the last key first.
  const keys: ((rule: number) => number)[] = [
    (rule) => WORD - 1 - (ids[rule] % WORD),
    (rule) => (ids[rule] === PREVIEWED ? 0 : WORD - 1 - Math.floor(ids[rule] / WORD)),
    (rule) => levels[rule],
  ];
  for (const key of keys) {
    for (let i = 0; i < slots.length; i++) order[2 * i] = key(order[2 * i + 1]);
    sortPairs(order, slots.length);
  }
  return { order, slots, rows };
}

function pushPart(set: AddressSet, network: Network, count: number | undefined): void {
  if (count === undefined) pushNetwork(set, network);
  else if (network.family === 4) set.v4.push(network.address, network.address + count - 1);
  else {
    const [a, b, c, d] = network.address;
    set.v6.push([a, b, c, d, a, b, c, d + count - 1], 0);
  }
}
