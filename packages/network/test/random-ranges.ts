import type { Random } from '../../../test/support/random.ts';
import { BITS, type Family, type SlowRange } from '../../../test/support/slow-networks.ts';

/** `prefix`: only for networks. */
export interface RandomRange extends SlowRange {
  readonly prefix?: number;
}

const max = (family: Family) => 2n ** BITS[family] - 1n;
const clamp = (value: bigint, family: Family) => (value < 0n ? 0n : value > max(family) ? max(family) : value);

function randomBits(random: Random, bits: bigint): bigint {
  let value = 0n;
  for (let k = 0n; k < bits; k += 32n) value = (value << 32n) | BigInt(random.bits());
  return value >> ((32n - (bits % 32n)) % 32n);
}

/** A typical place of faults: an end of the address space, a boundary between 32-bit words, or anywhere. */
function landmark(random: Random, family: Family): bigint {
  const bits = BITS[family];
  switch (random.below(4)) {
    case 0:
      return 0n;
    case 1:
      return max(family);
    case 2:
      return randomBits(random, bits);
    default: {
      const shift = 32n * BigInt(random.below(Number(bits / 32n)));
      return (randomBits(random, bits) >> shift) << shift;
    }
  }
}

/** Ranges of one family, close to few places: they overlap and touch; a third of them are networks. */
export function randomRanges(random: Random, family: Family): RandomRange[] {
  const bits = BITS[family];
  const places = Array.from({ length: 1 + random.below(3) }, () => landmark(random, family));
  const spread = 1 + random.below(random.below(3) === 0 ? Number(bits) : 12);
  const size = random.below(20) === 0 ? 500 : 1 + random.below(30);
  return Array.from({ length: size }, () => {
    const offset = randomBits(random, BigInt(1 + random.below(spread)));
    const start = clamp(random.pick(places) + (random.below(2) === 0 ? offset : -offset), family);
    if (random.below(3) > 0) return { start, end: clamp(start + randomBits(random, BigInt(random.below(spread))), family) };
    const hostBits = BigInt(random.below(Math.min(spread, Number(bits)) + 1));
    const first = (start >> hostBits) << hostBits;
    return { start: first, end: first + 2n ** hostBits - 1n, prefix: Number(bits - hostBits) };
  });
}
