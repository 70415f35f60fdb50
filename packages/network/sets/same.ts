/** Words per comparison: most of the input is equal. */
const CHUNK = 1 << 12;

/** Number of equal words of `a` from `i` on and `b` from `j` on; at most `most`. */
export function commonRun(a: Uint32Array, i: number, b: Uint32Array, j: number, most: number): number {
  let same = 0;
  while (same < most) {
    const count = Math.min(CHUNK, most - same);
    if (!areSame(a, i + same, b, j + same, count)) break;
    same += count;
  }
  const end = Math.min(most, same + CHUNK);
  while (same < end && a[i + same] === b[j + same]) same++;
  return same;
}

export const areSame = <A extends Uint32Array | Uint8Array>(a: A, i: number, b: A, j: number, count: number): boolean =>
  Buffer.compare(bytesOf(a, i, count), bytesOf(b, j, count)) === 0;

const bytesOf = ({ buffer, byteOffset, BYTES_PER_ELEMENT: size }: Uint32Array | Uint8Array, from: number, count: number) =>
  new Uint8Array(buffer, byteOffset + from * size, count * size);
