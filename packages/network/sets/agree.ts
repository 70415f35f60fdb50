/** Which addresses enough of several sets have. Sets are told by their places. */
import { V4Ranges, V6Ranges } from '../ranges.ts';
import { compareV6, copyV6, predecessorV6, successorV6 } from '../words.ts';

/** When an address is in the result. */
export interface Quorum {
  /** It has so many witnesses: sets that have it, but those that copy another set which has it too. */
  readonly least: number;
  /** Fewer than these, and none that is enough alone; undefined: it is in with more, and with one that is enough. */
  readonly below?: number | undefined;
  /** Whether a set is enough alone. */
  readonly always: readonly boolean[];
  /** For each set those that it copies, directly or by another; no two copy each other. */
  readonly copies: readonly (readonly number[])[];
}

/** The IPv4 addresses on which the sets agree. Merges them in place. */
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
        // Where one set ends and the next begins there is no address between.
        if (start <= end) agreed.push(start, end);
      }
    },
  );
  agreed.merge();
  return agreed;
}

/** The same of IPv6 addresses. */
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

/** Ranges of one family. */
interface Ranges<R> {
  readonly length: number;
  without(others: R): R;
  united(others: R): R;
  pushOverlapping(others: R, touched: R): void;
  changedFrom(before: R): R;
}

/** A part of the ranges that changed beyond which going over all of them is no dearer. */
const MOST_CHANGED = 1 / 8;

/**
 * What `agreed` gives of the sets, where it is known of as many sets before, place by place, with the same quorum: only where they differ are
 * they gone over.
 */
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

/** Which sets have the place that a sweep has reached. */
class Witnesses {
  readonly #quorum: Quorum;
  readonly #has: Uint8Array;
  /** For each set how many of those that it copies have the place. */
  readonly #copied: Int32Array;
  /** For each set those that copy it. */
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

  /** A set begins, or ends. */
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
 * Goes once over the ends of the ranges of all sets, in their order: the even ones are first addresses, the odd ones last. Calls `edge`
 * where agreement begins or ends, with an end that lies there.
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
  // What begins at an address comes before what ends with it.
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
