/**
 * Compresses each part of a body independently (RFC 1952), hence unchanged parts are copied. The bytes depend only on the body and its
 * parts.
 */
import { constants, crc32, deflateRaw } from 'node:zlib';
import type { BodyPart } from '../formats/stamp.ts';
import { joinedCrc } from './crc.ts';

export interface Gzipped {
  readonly bytes: Uint8Array;
  readonly parts: ReadonlyMap<string, CompressedPart>;
}

interface CompressedPart {
  readonly bytes: Uint8Array;
  readonly crc: number;
  readonly length: number;
}

/** Much cheaper than the default for hardly more bytes. */
const LEVEL = 4;
const MIN_CHUNK = 1 << 10;
const MAX_PART = 1 << 20;

/** Deflate without name, time or system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
const END = Uint8Array.of(3, 0);
const TRAILER_LENGTH = 8;

/** Compresses outside this thread; deterministic for a given zlib. Copies parts of `before`, a body of the same variant. */
export async function gzipBody(
  identity: Uint8Array,
  parts: readonly BodyPart[] = partsOf(identity.length),
  before?: Gzipped,
): Promise<Gzipped> {
  const made: { readonly name: string | undefined; readonly part: CompressedPart }[] = [];
  let from = 0;
  let crc = 0;
  // Sequentially: each running compression allocates memory.
  for (const { to, name } of parts) {
    const known = name === undefined ? undefined : before?.parts.get(name);
    const part = known ?? (await compressed(identity.subarray(from, to)));
    made.push({ name, part });
    crc = joinedCrc(crc, part.crc, part.length);
    from = to;
  }
  return assembled(made, crc, identity.length);
}

const partsOf = (length: number): BodyPart[] =>
  Array.from({ length: Math.ceil(length / MAX_PART) }, (_, i) => ({ to: Math.min(length, (i + 1) * MAX_PART), name: undefined }));

function assembled(
  made: readonly { readonly name: string | undefined; readonly part: CompressedPart }[],
  crc: number,
  identityLength: number,
): Gzipped {
  const length = made.reduce((sum, { part }) => sum + part.bytes.length, HEADER.length + END.length + TRAILER_LENGTH);
  const bytes = new Uint8Array(length);
  const parts = new Map<string, CompressedPart>();
  bytes.set(HEADER);
  let at = HEADER.length;
  for (const { name, part } of made) {
    bytes.set(part.bytes, at);
    const end = at + part.bytes.length;
    if (name !== undefined) parts.set(name, { ...part, bytes: bytes.subarray(at, end) });
    at = end;
  }
  bytes.set(END, at);
  const trailer = new DataView(bytes.buffer, length - TRAILER_LENGTH);
  trailer.setUint32(0, crc, true);
  trailer.setUint32(4, identityLength, true);
  return { bytes, parts };
}

function compressed(part: Uint8Array): Promise<CompressedPart> {
  // Few, large chunks: each one is an event on this thread.
  const chunkSize = Math.min(Math.max(part.length >> 1, MIN_CHUNK), MAX_PART);
  return new Promise((resolve, reject) => {
    // Flushing ends the part at a byte boundary without ending the stream.
    deflateRaw(part, { level: LEVEL, chunkSize, finishFlush: constants.Z_SYNC_FLUSH }, (error, bytes) =>
      error === null ? resolve({ bytes, crc: crc32(part), length: part.length }) : reject(error),
    );
  });
}

/** Identifies every factor of `gzipBody`'s output except its input; `zlib` gives library version and machine. */
export const gzipCoding = (zlib: string): string => `gzip parts ${LEVEL} ${zlib}`;
