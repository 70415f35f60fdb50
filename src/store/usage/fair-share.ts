/** How many each may keep, so that all together have at most `most` and who has fewer keeps them; Infinity where that holds. */
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
