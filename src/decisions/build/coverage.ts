/** Until when rules cover networks, and which lists the rules are of. */

/** Rules on networks of one family, by their start, those of one start by their end, the last one first. No two of them overlap but one lies in the other. */
export interface CoveringRules<T extends number | bigint> {
  readonly starts: ArrayLike<T>;
  /** The addresses after the last ones. */
  readonly ends: ArrayLike<T>;
  /** Whole seconds; Infinity: never. */
  readonly expires: ArrayLike<number>;
  /** Of the list that each rule is of, a number above 0. */
  readonly lists: ArrayLike<number>;
}

/** What holds for each of some networks. */
export interface Coverage {
  /** Whole seconds: when the first address of it is not covered any more; Infinity: never. */
  readonly lapses: Float64Array;
  /** The list that it is of; SEVERAL where it is of none alone. */
  readonly lists: Int32Array;
}

export const SEVERAL = -1;

/** How the lists of rules make the list that a network is of. */
export interface Attribution {
  /** The list of addresses that rules of two lists have. */
  around(list: number, other: number): number;
  /** The list of a network whose addresses are of two. */
  beside(list: number, other: number): number;
}

const alone = (list: number, other: number) => (list === other ? list : SEVERAL);
/** Its list where all rules are of one, else SEVERAL. */
export const ONE_LIST: Attribution = { around: alone, beside: alone };
/** The list that completes it, where lists are taken one after the other by their numbers (SPEC D31.2). */
export const COMPLETING_LIST: Attribution = { around: Math.min, beside: Math.max };

/**
 * The coverage of networks that are sorted, do not overlap, and are covered by the rules. Goes once through both: rules that lie
 * in each other form a stack, whose latest expiry holds for the addresses that only its rules have.
 */
export function coverageOf<T extends number | bigint>(
  rules: CoveringRules<T>,
  networks: Pick<CoveringRules<T>, 'starts' | 'ends'>,
  { around, beside }: Attribution = ONE_LIST,
): Coverage {
  const { starts, ends, expires, lists } = rules;
  const sweep = new Sweep(networks, beside);
  /** The rules around the place that the sweep has reached, the narrowest last, with the latest expiry and the list of all around them. */
  const stack: { readonly end: T; readonly expires: number; readonly list: number }[] = [];
  let reached: T | undefined;
  for (let rule = 0; rule < starts.length; rule++) {
    const start = starts[rule];
    let top = stack.at(-1);
    for (; top !== undefined && top.end <= start; top = stack.at(-1)) {
      if (reached! < top.end) sweep.cover(reached!, top.end, top.expires, top.list);
      reached = top.end;
      stack.pop();
    }
    // Most rules have no other around or in them.
    if (top === undefined && (rule + 1 === starts.length || starts[rule + 1] >= ends[rule])) {
      sweep.cover(start, ends[rule], expires[rule], lists[rule]);
      continue;
    }
    if (top !== undefined && reached! < start) sweep.cover(reached!, start, top.expires, top.list);
    reached = start;
    const list = top === undefined ? lists[rule] : around(top.list, lists[rule]);
    stack.push({ end: ends[rule], expires: Math.max(expires[rule], top?.expires ?? 0), list });
  }
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (reached! < top.end) sweep.cover(reached!, top.end, top.expires, top.list);
    reached = top.end;
  }
  return sweep;
}

/** Networks as they are covered from the lowest address on. */
class Sweep<T extends number | bigint> implements Coverage {
  readonly lapses: Float64Array;
  readonly lists: Int32Array;
  readonly #starts: ArrayLike<T>;
  readonly #ends: ArrayLike<T>;
  readonly #beside: Attribution['beside'];
  /** The first network that does not end before what is covered next. */
  #next = 0;

  constructor({ starts, ends }: Pick<CoveringRules<T>, 'starts' | 'ends'>, beside: Attribution['beside']) {
    this.#beside = beside;
    this.#starts = starts;
    this.#ends = ends;
    this.lapses = new Float64Array(starts.length).fill(Number.POSITIVE_INFINITY);
    this.lists = new Int32Array(starts.length);
  }

  /** Notes what holds from an address up to, and without, another. */
  cover(from: T, to: T, expires: number, list: number): void {
    const count = this.lapses.length;
    let next = this.#next;
    while (next < count && this.#ends[next] <= from) next++;
    this.#next = next;
    for (; next < count && this.#starts[next] < to; next++) {
      if (expires < this.lapses[next]) this.lapses[next] = expires;
      const known = this.lists[next];
      this.lists[next] = known === 0 ? list : this.#beside(known, list);
    }
  }
}
