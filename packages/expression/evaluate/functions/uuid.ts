/** `uuid4`: deterministic identifier of a value, from the first block of ChaCha with 12 rounds. */
import type { ByteString } from '../../bytes.ts';

/** Missing for the empty value. */
export function uuid4(value: ByteString): ByteString | undefined {
  if (value === '') return undefined;
  const bytes = firstBytes(keyOf(seedOf(value)));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** 64 bits, as two halves: XORs each byte in, then rotates left by 7. */
function seedOf(value: ByteString): bigint {
  let high = 0;
  let low = 0;
  for (let i = 0; i < value.length; i++) {
    const byte = value.charCodeAt(i) << (8 * (i & 3));
    if ((i & 4) === 0) low ^= byte;
    else high ^= byte;
    const turned = (high << 7) | (low >>> 25);
    low = (low << 7) | (high >>> 25);
    high = turned;
  }
  return ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)) ^ BigInt(value.length);
}

/** Eight words, by PCG32. */
function keyOf(seed: bigint): number[] {
  let state = seed;
  return Array.from({ length: 8 }, () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 11634580027462260723n);
    const shifted = Number(BigInt.asUintN(32, ((state >> 18n) ^ state) >> 27n));
    const turn = Number(state >> 59n);
    return ((shifted >>> turn) | (shifted << (-turn & 31))) >>> 0;
  });
}

const ROUNDS = 12;
/** Words of each quarter round: the columns, then the diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

function firstBytes(key: readonly number[]): Uint8Array {
  const start = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, ...key, 0, 0, 0, 0];
  const w = Uint32Array.from(start);
  for (let round = 0; round < ROUNDS; round += 2) for (const [a, b, c, d] of QUARTERS) quarterRound(w, a, b, c, d);
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) view.setUint32(i * 4, w[i] + start[i], true);
  return bytes;
}

function quarterRound(w: Uint32Array, a: number, b: number, c: number, d: number): void {
  for (const [first, second] of [
    [16, 12],
    [8, 7],
  ]) {
    w[a] += w[b];
    w[d] = turnLeft(w[d] ^ w[a], first);
    w[c] += w[d];
    w[b] = turnLeft(w[b] ^ w[c], second);
  }
}

function turnLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
