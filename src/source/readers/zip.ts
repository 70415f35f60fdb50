import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { WeirError } from '../../errors.ts';

/** It is in memory, because its directory is at the end. */
const MOST_ZIP = 16 << 20;

/** Signatures and lengths of records (APPNOTE 6.3.10, 4.3). */
const LOCAL = { signature: 0x0403_4b50, length: 30 };
const CENTRAL = { signature: 0x0201_4b50, length: 46 };
const END = { signature: 0x0605_4b50, length: 22 };
const ENCRYPTED = 1;
const [STORED, DEFLATED] = [0, 8];
const ELSEWHERE = 0xffff_ffff;

interface Member {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly at: number;
}

const fault = (what: string) => new WeirError('USAGE', `the file is a zip ${what}`);
const DAMAGED = 'that is truncated or damaged';

/** The zip has exactly one file. Rejects with USAGE for others, and for damaged or encrypted ones. */
export async function unzip(chunks: AsyncIterable<Buffer>): Promise<{ readonly name: string; readonly chunks: AsyncGenerator<Buffer> }> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MOST_ZIP) throw new WeirError('TOO_LARGE', `the file is a zip of more than ${MOST_ZIP / 2 ** 20} MiB`);
    parts.push(chunk);
  }
  const zip = Buffer.concat(parts);
  const members = membersOf(zip).filter(({ name }) => !/\/$|^__MACOSX\//.test(name));
  const [one, ...others] = members;
  if (one === undefined || others.length > 0) throw fault(`with ${members.length} files: give the list in it`);
  if ((one.flags & ENCRYPTED) !== 0) throw fault('that is encrypted');
  if (![STORED, DEFLATED].includes(one.method)) throw fault(`with compression ${one.method}: only deflate is read`);
  if ([one.size, one.packed, one.at].includes(ELSEWHERE)) throw fault('of more than 4 GiB (zip64)');
  return { name: one.name, chunks: inflated(one, packedBytes(zip, one)) };
}

function membersOf(zip: Buffer): Member[] {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  if (end < 0 || end + END.length > zip.length) throw fault(DAMAGED);
  const members: Member[] = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (at + CENTRAL.length > end || zip.readUInt32LE(at) !== CENTRAL.signature) throw fault(DAMAGED);
    const [name, extra, comment] = [28, 30, 32].map((offset) => zip.readUInt16LE(at + offset)) as [number, number, number];
    const [crc, packed, size] = [16, 20, 24].map((offset) => zip.readUInt32LE(at + offset)) as [number, number, number];
    members.push({
      name: zip.toString('utf8', at + CENTRAL.length, at + CENTRAL.length + name),
      flags: zip.readUInt16LE(at + 8),
      method: zip.readUInt16LE(at + 10),
      crc,
      packed,
      size,
      at: zip.readUInt32LE(at + 42),
    });
    at += CENTRAL.length + name + extra + comment;
  }
  return members;
}

function packedBytes(zip: Buffer, { at, packed }: Member): Buffer {
  if (at + LOCAL.length > zip.length || zip.readUInt32LE(at) !== LOCAL.signature) throw fault(DAMAGED);
  const from = at + LOCAL.length + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28);
  if (from + packed > zip.length) throw fault(DAMAGED);
  return zip.subarray(from, from + packed);
}

async function* inflated({ method, crc, size }: Member, packed: Buffer): AsyncGenerator<Buffer> {
  const unpacked = method === STORED ? Readable.from([packed]) : Readable.from([packed]).pipe(createInflateRaw());
  let [sum, read] = [0, 0];
  try {
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      sum = crc32(chunk, sum);
      read += chunk.length;
      if (read > size) break;
      yield chunk;
    }
  } catch (error) {
    if (!/^Z_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw fault(DAMAGED);
  } finally {
    unpacked.destroy();
  }
  if (sum !== crc || read !== size) throw fault(DAMAGED);
}
