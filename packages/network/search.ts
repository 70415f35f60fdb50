/** Index of the first of `length` sorted items, from `from` on, with `reaches` true; `length` if none. */
export function firstReaching(length: number, reaches: (i: number) => boolean, from = 0): number {
  let [low, high] = [from, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (reaches(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** If one set of ranges is this many times smaller, runs of the other are copied in bulk. */
export const FEW = 32;
