import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes that are taken in one turn of this thread: about 2 ms. */
const SLICE = 1 << 20;

/** The MD5 of bytes, lowercase hexadecimal. Other work gets its turn in between. */
export async function md5Of(bytes: Uint8Array): Promise<string> {
  const hash = createHash('md5');
  for (let from = 0; from < bytes.length; from += SLICE) {
    if (from > 0) await nextTurn();
    hash.update(bytes.subarray(from, from + SLICE));
  }
  return hash.digest('hex');
}
