import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { GeoKindData } from './data.ts';
import type { GeoSources } from './sources.ts';

/**
 * A second start reads no CSV. One file per kind: CRC-32 of header and words, length of the header, header (JSON), the table's words, the
 * names. An invalid file counts as a miss, never as a fault.
 */

/** To raise when the readers or the table change: older data is then invalid. */
const CACHE_VERSION = 3;
const PREAMBLE_BYTES = 8;

interface CacheHeader {
  readonly cacheVersion: number;
  /** Without the table's words and the names' bytes: they follow the header. */
  readonly data: GeoKindData;
}

const cacheFile = (dir: string, { kind }: Pick<GeoSources, 'kind'>) => join(dir, `geo-${kind}.bin`);

/** undefined: not exactly these files, or damaged. */
export async function readCache(dir: string, sources: GeoSources): Promise<GeoKindData | undefined> {
  try {
    await using file = await open(cacheFile(dir, sources));
    const { size } = await file.stat();
    const preamble = await readExactly(file, Buffer.alloc(PREAMBLE_BYTES), 0);
    const headerLength = preamble.readUInt32LE(4);
    if (headerLength > size - PREAMBLE_BYTES) return undefined;
    const header = await readExactly(file, Buffer.alloc(headerLength), PREAMBLE_BYTES);
    const { cacheVersion, data } = JSON.parse(header.toString('utf8')) as CacheHeader;
    if (cacheVersion !== CACHE_VERSION || data.signature !== sources.signature) return undefined;
    const begins = PREAMBLE_BYTES + headerLength;
    const words = new SharedArrayBuffer(4 * data.table.lengths.reduce((sum, length) => sum + length, 0));
    const bytes = await readExactly(file, new Uint8Array(words), begins);
    const names = new SharedArrayBuffer(size - begins - words.byteLength);
    const text = await readExactly(file, new Uint8Array(names), begins + words.byteLength);
    if (crc32(text, crc32(bytes, crc32(header))) !== preamble.readUInt32LE(0)) return undefined;
    return {
      ...data,
      origin: sources.origin,
      table: { ...data.table, words },
      ...(data.names && { names: { ...data.names, bytes: names } }),
    };
  } catch {
    return undefined;
  }
}

async function readExactly<T extends Uint8Array>(file: FileHandle, into: T, position: number): Promise<T> {
  const { bytesRead } = await file.read(into, 0, into.length, position);
  if (bytesRead !== into.length) throw new Error('truncated');
  return into;
}

/** Write failures only make the next start slower. */
export function writeCache(dir: string, data: GeoKindData): void {
  const target = cacheFile(dir, data);
  const temporary = `${target}.${process.pid}.tmp`;
  const words = new Uint8Array(data.table.words);
  const { words: _, ...table } = data.table;
  const text = data.names === undefined ? new Uint8Array() : new Uint8Array(data.names.bytes);
  const names = data.names && { count: data.names.count };
  const header = Buffer.from(JSON.stringify({ cacheVersion: CACHE_VERSION, data: { ...data, table, names } }));
  const preamble = Buffer.alloc(PREAMBLE_BYTES);
  preamble.writeUInt32LE(crc32(text, crc32(words, crc32(header))), 0);
  preamble.writeUInt32LE(header.length, 4);
  const isWritten = attempt(() => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([preamble, header, words, text]), { mode: 0o600 });
    renameSync(temporary, target);
  });
  if (!isWritten) attempt(() => rmSync(temporary, { force: true }));
}

function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
