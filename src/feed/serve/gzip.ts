import { gzip } from 'node:zlib';

/** The level that costs a third of the default's time for 1% more bytes. */
const LEVEL = 4;
const MIN_CHUNK = 1 << 10;
const MAX_CHUNK = 1 << 20;

/** Compresses off this thread; equal input gives equal output of the same zlib. */
export function gzipBody(identity: Uint8Array): Promise<Uint8Array> {
  // Few, well-filled pieces: each one is a turn of this thread, and an unfilled one would be kept whole.
  const chunkSize = Math.min(Math.max(identity.length >> 2, MIN_CHUNK), MAX_CHUNK);
  return new Promise((resolve, reject) => {
    gzip(identity, { level: LEVEL, chunkSize }, (error, compressed) =>
      error === null
        ? resolve(compressed.length * 2 < compressed.buffer.byteLength ? new Uint8Array(compressed) : compressed)
        : reject(error),
    );
  });
}

/** What the bytes of `gzipBody` depend on besides its input; `zlib` names the library's version and the machine it is built for. */
export const gzipCoding = (zlib: string): string => `gzip ${LEVEL} ${zlib}`;
