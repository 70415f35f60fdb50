import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const SIZE = 16;
const pool = new Uint8Array(SIZE * 1024);
let used = pool.length;

/** A new UUIDv7 of an instant (ms). Randomness is drawn for many at once: a batch needs a thousand. */
export function signalId(msecs: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + SIZE);
  used += SIZE;
  return v7({ msecs, random });
}
