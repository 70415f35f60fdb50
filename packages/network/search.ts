/** The first of `length` sorted items that reaches a bound, as `reaches` says, from `from` on; `length` when none does. */
export function firstReaching(length: number, reaches: (i: number) => boolean, from = 0): number {
  let [low, high] = [from, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (reaches(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Where one of two sets of ranges is so many times smaller, the runs of the other between its ranges are copied whole. */
export const FEW = 32;
