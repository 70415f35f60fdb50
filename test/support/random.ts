/** A seeded source of numbers: equal seeds give equal runs. */
export interface Random {
  /** 32 random bits, as an unsigned number. */
  bits(): number;
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  /** One of these. */
  pick<T>(items: ArrayLike<T>): T;
}

/** The generator mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const bits = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const below = (limit: number) => Math.floor((bits() / 2 ** 32) * limit);
  return { bits, below, pick: (items) => items[below(items.length)] };
}
