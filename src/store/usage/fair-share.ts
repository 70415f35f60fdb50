/** The limit per owner so that the total is at most `most` and smaller owners lose nothing; Infinity if not exceeded. */
export function fairShare(counts: readonly number[], most: number): number {
  let left = most;
  const sorted = counts.toSorted((a, b) => a - b);
  for (const [i, count] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - i));
    if (count > share) return share;
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}
