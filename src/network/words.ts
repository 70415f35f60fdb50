/** IPv6 addresses as numbers: four 32-bit words in an array, most significant first. */

const ONES = 0xffff_ffff;

/** Compares addresses: negative, zero or positive as the one at `a[i]` is below, equal to or above the one at `b[j]`. */
export function compareV6(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let k = 0; k < 4; k++) {
    const difference = a[i + k] - b[j + k];
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Writes the address after the one at `words[at]` to `into[to]`. The very last address is its own successor. */
export function successorV6(words: Uint32Array, at: number, into: Uint32Array, to = 0): void {
  let carry = true;
  for (let k = 3; k >= 0; k--) {
    const word = words[at + k];
    into[to + k] = word + (carry ? 1 : 0);
    carry &&= word === ONES;
  }
  if (carry) into.fill(ONES, to, to + 4);
}

/** Writes the address before the one at `words[at]` to `into[to]`. The very first address is its own predecessor. */
export function predecessorV6(words: Uint32Array, at: number, into: Uint32Array, to = 0): void {
  let borrow = true;
  for (let k = 3; k >= 0; k--) {
    const word = words[at + k];
    into[to + k] = word - (borrow ? 1 : 0);
    borrow &&= word === 0;
  }
  if (borrow) into.fill(0, to, to + 4);
}
