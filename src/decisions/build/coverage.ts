/** Rules of one family, sorted by start, then by end descending. Two rules are either disjoint or nested. */
export interface CoveringRules<T extends number | bigint> {
  readonly starts: ArrayLike<T>;
  /** Exclusive. */
  readonly ends: ArrayLike<T>;
  /** Whole seconds; Infinity: never. */
  readonly expires: ArrayLike<number>;
  /** List number of each rule, from 1. */
  readonly lists: ArrayLike<number>;
}

export interface Coverage {
  /** When the first address is no longer covered, whole seconds; Infinity: never. */
  readonly expires: Float64Array;
  /** SEVERAL: no single list covers it. */
  readonly lists: Int32Array;
}

export const SEVERAL = -1;

export interface Attribution {
  /** The list of addresses that rules of two lists cover. */
  around(list: number, other: number): number;
  /** The list of a network whose addresses belong to two lists. */
  beside(list: number, other: number): number;
}

const alone = (list: number, other: number) => (list === other ? list : SEVERAL);
/** The common list of all rules, else SEVERAL. */
export const ONE_LIST: Attribution = { around: alone, beside: alone };
/** The list that completes the network when lists are added in the order of their numbers (SPEC D31.2). */
export const COMPLETING_LIST: Attribution = { around: Math.min, beside: Math.max };

/**
 * Networks are sorted, disjoint and covered by the rules. One pass over both: nested rules form a stack, whose latest expiry applies to the
 * addresses between their bounds.
 */
export function coverageOf<T extends number | bigint>(
  rules: CoveringRules<T>,
  networks: Pick<CoveringRules<T>, 'starts' | 'ends'>,
  { around, beside }: Attribution = ONE_LIST,
): Coverage {
  const { starts, ends, expires, lists } = rules;
  const sweep = new Sweep(networks, beside);
  /** Rules around the current address, the narrowest last, each with the latest expiry and the list of all rules around it. */
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
    // Fast path: most rules are not nested.
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

class Sweep<T extends number | bigint> implements Coverage {
  readonly expires: Float64Array;
  readonly lists: Int32Array;
  readonly #starts: ArrayLike<T>;
  readonly #ends: ArrayLike<T>;
  readonly #beside: Attribution['beside'];
  /** The first network that ends after the last covered address. */
  #next = 0;

  constructor({ starts, ends }: Pick<CoveringRules<T>, 'starts' | 'ends'>, beside: Attribution['beside']) {
    this.#beside = beside;
    this.#starts = starts;
    this.#ends = ends;
    this.expires = new Float64Array(starts.length).fill(Number.POSITIVE_INFINITY);
    this.lists = new Int32Array(starts.length);
  }

  /** `to` is exclusive. */
  cover(from: T, to: T, expires: number, list: number): void {
    const count = this.expires.length;
    let next = this.#next;
    while (next < count && this.#ends[next] <= from) next++;
    this.#next = next;
    for (; next < count && this.#starts[next] < to; next++) {
      if (expires < this.expires[next]) this.expires[next] = expires;
      const known = this.lists[next];
      this.lists[next] = known === 0 ? list : this.#beside(known, list);
    }
  }
}
