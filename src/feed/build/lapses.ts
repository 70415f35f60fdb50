/** Until when rules cover networks, and which lists the rules are of. */

/** Rules on networks of one family, in no order. No two of them overlap but one lies in the other. */
export interface CoveringRules<T extends number | bigint> {
  readonly starts: ArrayLike<T>;
  /** The addresses after the last ones. */
  readonly ends: ArrayLike<T>;
  /** Whole seconds; Infinity: never. */
  readonly expires: ArrayLike<number>;
  /** Of the list that each rule is of, a number above 0. */
  readonly lists: ArrayLike<number>;
  /** The rules by their start, those of one start by their end, the last one first. */
  readonly order: ArrayLike<number>;
}

/** What holds for each of some networks. */
export interface Coverage {
  /** Whole seconds: when the first address of it is not covered any more; Infinity: never. */
  readonly lapses: Float64Array;
  /** The list whose rules cover it; SEVERAL where they are of several. */
  readonly lists: Int32Array;
}

export const SEVERAL = -1;

/**
 * The coverage of networks that are sorted, do not overlap, and are covered by the rules. Goes once through both: rules that lie
 * in each other form a stack, whose latest expiry holds for the addresses that only its rules have.
 */
export function coverageOf<T extends number | bigint>(
  rules: CoveringRules<T>,
  networks: Pick<CoveringRules<T>, 'starts' | 'ends'>,
): Coverage {
  const count = networks.starts.length;
  const lapses = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  const lists = new Int32Array(count);
  /** The first network that does not end before the place that the sweep has reached. */
  let next = 0;
  const cover = (from: T, to: T, expires: number, list: number) => {
    while (next < count && networks.ends[next] <= from) next++;
    for (let i = next; i < count && networks.starts[i] < to; i++) {
      if (expires < lapses[i]) lapses[i] = expires;
      if (lists[i] === 0) lists[i] = list;
      else if (lists[i] !== list) lists[i] = SEVERAL;
    }
  };
  const ends: T[] = [];
  const latest: number[] = [];
  const ofLists: number[] = [];
  let reached: T | undefined;
  const close = () => {
    const end = ends.pop()!;
    const [expires, list] = [latest.pop()!, ofLists.pop()!];
    if (reached! < end) cover(reached!, end, expires, list);
    reached = end;
  };
  for (let n = 0; n < rules.order.length; n++) {
    const rule = rules.order[n];
    const start = rules.starts[rule];
    while (ends.length > 0 && ends[ends.length - 1] <= start) close();
    const top = ends.length - 1;
    if (top >= 0 && reached! < start) cover(reached!, start, latest[top], ofLists[top]);
    reached = start;
    ends.push(rules.ends[rule]);
    latest.push(top < 0 ? rules.expires[rule] : Math.max(rules.expires[rule], latest[top]));
    ofLists.push(top < 0 || ofLists[top] === rules.lists[rule] ? rules.lists[rule] : SEVERAL);
  }
  while (ends.length > 0) close();
  return { lapses, lists };
}
