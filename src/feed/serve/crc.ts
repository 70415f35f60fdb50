/**
 * Combines CRC-32s (RFC 1952, 8): as polynomials over GF(2), bit 31 first, the first CRC is multiplied by x to the power of the following
 * bits.
 */

const POLYNOMIAL = 0xedb8_8320;
const ONE = 0x8000_0000;
const X = 0x4000_0000;

/** Product modulo the CRC polynomial. */
function product(a: number, b: number): number {
  let [sum, factor] = [0, b];
  for (let bit = 31; bit >= 0; bit--) {
    if ((a >>> bit) & 1) sum ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return sum >>> 0;
}

const POWERS: number[] = [X];
while (POWERS.length < 56) POWERS.push(product(POWERS.at(-1)!, POWERS.at(-1)!));

/** x to the power of 8 × bytes. */
function powerOf(bytes: number): number {
  let power = ONE;
  for (let [rest, bit] = [bytes, 3]; rest > 0; rest = Math.floor(rest / 2), bit++) if (rest % 2 === 1) power = product(POWERS[bit], power);
  return power;
}

/** `length` belongs to the second. */
export const joinedCrc = (first: number, second: number, length: number): number => (product(powerOf(length), first) ^ second) >>> 0;
