/** Addresses in a quorum of several sets. Sets are identified by index. */
import { type Ranges, V4Ranges, V6Ranges } from '../ranges.ts';
import { compareV6, copyV6, predecessorV6, successorV6 } from '../words.ts';

/** The condition for an address. */
export interface Quorum {
  /** Minimum number of witnesses: sets that contain it, except copies of another set with it. */
  readonly least: number;
  /** Requires fewer witnesses, and no set of `always`; undefined: no upper limit. */
  readonly below?: number | undefined;
  /** Whether one set is sufficient alone. */
  readonly always: readonly boolean[];
  /** Direct and indirect sources that each set copies; no two copy each other. */
  readonly copies: readonly (readonly number[])[];
}

/** Merges the sets in place. */
export function quorumV4(sets: readonly V4Ranges[], quorum: Quorum): V4Ranges {
  for (const each of sets) each.merge();
  const ends = sets.map(({ pairs }) => pairs);
  const agreed = new V4Ranges();
  let start = 0;
  sweep(
    sets,
    (a, i, b, j) => ends[a][i] - ends[b][j],
    quorum,
    (isIn, set, i) => {
      const isEnd = (i & 1) === 1;
      if (isIn) start = ends[set][i] + (isEnd ? 1 : 0);
      else {
        const end = ends[set][i] - (isEnd ? 0 : 1);
        // Between the end of a set and an adjacent start there is no address.
        if (start <= end) agreed.push(start, end);
      }
    },
  );
  agreed.merge();
  return agreed;
}

export function quorumV6(sets: readonly V6Ranges[], quorum: Quorum): V6Ranges {
  for (const each of sets) each.merge();
  const ends = sets.map(({ words }) => words);
  const agreed = new V6Ranges();
  const range = new Uint32Array(8);
  sweep(
    sets,
    (a, i, b, j) => compareV6(ends[a], 4 * i, ends[b], 4 * j),
    quorum,
    (isIn, set, i) => {
      const isEnd = (i & 1) === 1;
      if (isIn) (isEnd ? successorV6 : copyV6)(ends[set], 4 * i, range, 0);
      else {
        (isEnd ? copyV6 : predecessorV6)(ends[set], 4 * i, range, 4);
        if (compareV6(range, 0, range, 4) <= 0) agreed.push(range, 0);
      }
    },
  );
  agreed.merge();
  return agreed;
}

/** If a larger share of the ranges changed, a full sweep is no slower. */
const MOST_CHANGED = 1 / 8;

/** Updates a previous result of `agreed` for the same quorum and number of sets: sweeps only changed ranges. */
export function agreedAgain<R extends Ranges<R>>(
  sets: readonly R[],
  before: { readonly sets: readonly R[]; readonly ranges: R } | undefined,
  agreed: (sets: readonly R[]) => R,
  create: () => R,
): R {
  if (before === undefined) return agreed(sets);
  let touched = create();
  for (const [place, set] of sets.entries()) {
    if (set !== before.sets[place]) touched = touched.united(set.changedFrom(before.sets[place]!));
  }
  if (touched.length === 0) return before.ranges;
  if (touched.length > sets.reduce((sum, { length }) => sum + length, 0) * MOST_CHANGED) return agreed(sets);
  const near = sets.map((set) => {
    const ranges = create();
    ranges.pushOverlapping(set, touched);
    return ranges;
  });
  const there = agreed(near);
  const within = there.without(there.without(touched));
  const left = before.ranges.without(touched);
  return within.length === 0 ? left : left.united(within);
}

/** The sets at the current position of a sweep. */
class Witnesses {
  readonly #quorum: Quorum;
  readonly #has: Uint8Array;
  /** Per set: number of its sources at this position. */
  readonly #copied: Int32Array;
  /** Per set: its copies. */
  readonly #copiers: readonly (readonly number[])[];
  #count = 0;
  #always = 0;

  constructor(quorum: Quorum) {
    const copiers = quorum.always.map((): number[] => []);
    for (const [place, copied] of quorum.copies.entries()) for (const each of copied) copiers[each]!.push(place);
    this.#quorum = quorum;
    this.#copiers = copiers;
    this.#has = new Uint8Array(copiers.length);
    this.#copied = new Int32Array(copiers.length);
  }

  /** Toggles a set at its start and end. */
  turn(set: number): void {
    const step = this.#has[set] === 0 ? 1 : -1;
    this.#has[set] ^= 1;
    if (this.#quorum.always[set]) this.#always += step;
    if (this.#copied[set] === 0) this.#count += step;
    for (const copier of this.#copiers[set]!) {
      const isHidden = this.#copied[copier]! > 0;
      this.#copied[copier] += step;
      if (this.#has[copier] === 1 && isHidden !== this.#copied[copier]! > 0) this.#count -= step;
    }
  }

  get agree(): boolean {
    const { least, below } = this.#quorum;
    if (below === undefined) return this.#always > 0 || this.#count >= least;
    return this.#always === 0 && this.#count >= least && this.#count < below;
  }
}

/**
 * Sweeps once over the ends of all ranges, in order: even ends are first addresses, odd ones last. Calls `edge` with an end at each start
 * and end of a quorum.
 */
function sweep(
  sets: readonly { readonly length: number }[],
  compare: (a: number, i: number, b: number, j: number) => number,
  quorum: Quorum,
  edge: (isIn: boolean, set: number, end: number) => void,
): void {
  const witnesses = new Witnesses(quorum);
  const next = new Int32Array(sets.length);
  const heap = sets.flatMap(({ length }, set) => (length > 0 ? [set] : []));
  // At one address, starts come before ends.
  const order = (a: number, b: number) => compare(a, next[a]!, b, next[b]!) || (next[a]! & 1) - (next[b]! & 1);
  const sink = (from: number) => {
    const set = heap[from]!;
    let at = from;
    for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && order(heap[child + 1]!, heap[child]!) < 0) child += 1;
      if (order(set, heap[child]!) <= 0) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = set;
  };
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) sink(at);
  for (let isIn = false; heap.length > 0; ) {
    const first = heap[0]!;
    const end = next[first]!;
    const isHere = (set: number) => ((next[set]! ^ end) & 1) === 0 && compare(set, next[set]!, first, end) === 0;
    do {
      const set = heap[0]!;
      witnesses.turn(set);
      next[set]! += 1;
      if (next[set] === 2 * sets[set]!.length) {
        const last = heap.pop()!;
        if (heap.length === 0) break;
        heap[0] = last;
      }
      sink(0);
    } while (isHere(heap[0]!));
    if (witnesses.agree === isIn) continue;
    isIn = !isIn;
    edge(isIn, first, end);
  }
}
