/** A histogram of plain numbers: cheap to add to, read only when somebody asks. */
export interface Histogram {
  /** The upper bound of each bucket, ascending, each included. */
  readonly bounds: readonly number[];
  /** How many values fell into each bucket; the last one, beyond all bounds, has no bound. */
  readonly counts: Float64Array;
  /** The sum of all values. */
  sum: number;
}

/** An empty histogram with these bounds. */
export const newHistogram = (bounds: readonly number[]): Histogram => ({ bounds, counts: new Float64Array(bounds.length + 1), sum: 0 });

/** Adds a value. */
export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
  counts[bucket]! += 1;
  histogram.sum += value;
}
