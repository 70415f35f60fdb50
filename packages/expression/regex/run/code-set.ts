/** A set of bytes or characters: sorted disjoint ranges, not adjacent, as `[first, last, first, last, …]`. */
export type CodeSet = readonly number[];

/** In any order. */
export function codeSet(ranges: Iterable<readonly [first: number, last: number]>): CodeSet {
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [first, last] of sorted) {
    if (out.length > 0 && first <= out[out.length - 1] + 1) out[out.length - 1] = Math.max(out[out.length - 1], last);
    else out.push(first, last);
  }
  return out;
}

export function* rangesOf(set: CodeSet): Generator<[first: number, last: number]> {
  for (let i = 0; i < set.length; i += 2) yield [set[i], set[i + 1]];
}

export function union(...sets: readonly CodeSet[]): CodeSet {
  return codeSet(sets.flatMap((set) => [...rangesOf(set)]));
}

/** Within 0 to `most`. */
export function complement(set: CodeSet, most: number): CodeSet {
  const out: number[] = [];
  let from = 0;
  for (const [first, last] of rangesOf(set)) {
    if (first > from) out.push(from, first - 1);
    from = last + 1;
  }
  if (from <= most) out.push(from, most);
  return out;
}

export function intersection(a: CodeSet, b: CodeSet): CodeSet {
  const out: number[] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const first = Math.max(a[i], b[j]);
    const last = Math.min(a[i + 1], b[j + 1]);
    if (first <= last) out.push(first, last);
    if (a[i + 1] < b[j + 1]) i += 2;
    else j += 2;
  }
  return out;
}
