/** IPv6 addresses as numbers: four 32-bit words in an array, most significant first. */

const ONES = 0xffff_ffff;

/** Compares the addresses at `a[i]` and `b[j]`: negative, zero or positive. */
export function compareV6(a: Uint32Array, i: number, b: Uint32Array, j: number): number {
  for (let k = 0; k < 4; k++) {
    const difference = a[i + k] - b[j + k];
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Whether the address at `b[j]` is at most one above the one at `a[i]`. */
export function touchesV6(a: Uint32Array, i: number, b: Uint32Array, j: number): boolean {
  for (let k = 0; k < 4; k++) {
    const difference = b[j + k] - a[i + k];
    if (difference < 0) return true;
    if (difference > 1) return false;
    if (difference === 1) return followsV6(a, i, b, j, k + 1);
  }
  return true;
}

/** Whether the words from `k` on carry: all ones in `a`, zeros in `b`. */
function followsV6(a: Uint32Array, i: number, b: Uint32Array, j: number, k: number): boolean {
  for (let word = k; word < 4; word++) if (a[i + word] !== ONES || b[j + word] !== 0) return false;
  return true;
}

/** Without a loop: it is called for every row. */
export function copyV6(from: ArrayLike<number>, at: number, into: Uint32Array, to: number): void {
  into[to] = from[at];
  into[to + 1] = from[at + 1];
  into[to + 2] = from[at + 2];
  into[to + 3] = from[at + 3];
}

/** Writes the address of 16 bytes at `bytes[at]` to `into[to]`. */
export function readV6(bytes: Uint8Array, at: number, into: Uint32Array, to: number): void {
  for (let k = 0; k < 4; k++) {
    const byte = at + 4 * k;
    into[to + k] = (bytes[byte] << 24) | (bytes[byte + 1] << 16) | (bytes[byte + 2] << 8) | bytes[byte + 3];
  }
}

/** Writes the address after `words[at]` to `into[to]`. The last address wraps to the first. */
export function successorV6(words: Uint32Array, at: number, into: Uint32Array, to = 0): void {
  let carry = true;
  for (let k = 3; k >= 0; k--) {
    const word = words[at + k];
    into[to + k] = word + (carry ? 1 : 0);
    carry &&= word === ONES;
  }
}

/** Writes the address before `words[at]` to `into[to]`. The first address wraps to the last. */
export function predecessorV6(words: Uint32Array, at: number, into: Uint32Array, to = 0): void {
  let borrow = true;
  for (let k = 3; k >= 0; k--) {
    const word = words[at + k];
    into[to + k] = word - (borrow ? 1 : 0);
    borrow &&= word === 0;
  }
}

/** Number of addresses from `from[at]` to `end[to]`, with the precision of a double. */
export function sizeV6(from: Uint32Array, at: number, end: Uint32Array, to: number): number {
  let size = 0;
  // Word by word: a double cannot represent the small difference of large ends.
  for (let word = 0; word < 4; word += 1) size = size * 2 ** 32 + (end[to + word] - from[at + word]);
  return size + 1;
}
