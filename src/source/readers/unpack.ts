import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WeirError } from '../../errors.ts';

/** Rejects with USAGE for damaged or truncated data. */
export async function* gunzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const packed = Readable.from(chunks);
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error));
  try {
    for await (const chunk of packed.pipe(unpacked)) yield chunk;
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new WeirError('USAGE', `the file is gzip that is cut or damaged (${(error as Error).message})`);
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

/** Rejects with TOO_LARGE above `most` bytes. */
export async function* atMost(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw new WeirError('TOO_LARGE', `the file is larger than ${most / 2 ** 20} MiB unpacked`);
    yield chunk;
  }
}
