export interface Histogram {
  /** Inclusive upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** One per bound, and a last one above all bounds. */
  readonly counts: Float64Array;
  sum: number;
}

export const newHistogram = (bounds: readonly number[]): Histogram => ({ bounds, counts: new Float64Array(bounds.length + 1), sum: 0 });

export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram;
  let bucket = 0;
  while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1;
  counts[bucket]! += 1;
  histogram.sum += value;
}
