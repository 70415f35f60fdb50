/** Binary files by their first bytes. */

interface Kind {
  readonly name: string;
  readonly bytes: Buffer;
  readonly at?: number;
}

const kind = (name: string, bytes: string, at = 0): Kind => ({ name, bytes: Buffer.from(bytes, 'latin1'), at });

const GZIP = kind('packed twice (gzip)', '\x1f\x8b');
const ZIP = kind('packed twice (zip)', 'PK\x03\x04');

const KINDS: readonly Kind[] = [
  GZIP,
  ZIP,
  kind('an empty zip', 'PK\x05\x06'),
  kind('bzip2', '1AY&SY', 4),
  kind('xz', '\xfd7zXZ\0'),
  kind('zstd', '\x28\xb5\x2f\xfd'),
  kind('lz4', '\x04\x22\x4d\x18'),
  kind('lzip', 'LZIP\x01'),
  kind('a 7z archive', '7z\xbc\xaf\x27\x1c'),
  kind('a RAR archive', 'Rar!\x1a\x07'),
  kind('a tar archive', 'ustar', 257),
  kind('a PDF', '%PDF'),
  kind('an SQLite database', 'SQLite format 3\0'),
  kind('an old Office document', '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'),
  kind('Parquet', 'PAR1\x15'),
  kind('a packet capture', '\xd4\xc3\xb2\xa1'),
  kind('a packet capture', '\x0a\x0d\x0d\x0a'),
  kind('a program', '\x7fELF'),
  kind('a program', 'MZ\x90\0'),
  kind('a PNG picture', '\x89PNG'),
  kind('a JPEG picture', '\xff\xd8\xff'),
  kind('UTF-32', '\xff\xfe\0\0'),
  kind('UTF-32', '\0\0\xfe\xff'),
  kind('UTF-16', '\xff\xfe'),
  kind('UTF-16', '\xfe\xff'),
];

const MOST_KIND_BYTES = 262;

const isOf = (head: Uint8Array, { bytes, at = 0 }: Kind): boolean => bytes.equals(head.subarray(at, at + bytes.length));

/** Of gzip and zip, by the first byte. */
export const packedBytes = (first: number | undefined): number => (first === ZIP.bytes[0] ? ZIP.bytes : GZIP.bytes).length;
export const isGzip = (head: Uint8Array): boolean => isOf(head, GZIP);
export const isZip = (head: Uint8Array): boolean => isOf(head, ZIP);

export function kindOf(head: Uint8Array, isComplete: boolean): string | undefined {
  const known = KINDS.find((each) => isOf(head, each))?.name;
  return known ?? (head.includes(0) && (isComplete || head.length >= MOST_KIND_BYTES) ? zeroKind(head) : undefined);
}

/** UTF-16 Latin text has every other byte zero. */
function zeroKind(head: Uint8Array): string {
  const [even, odd] = [0, 1].map((first) => head.filter((byte, i) => i % 2 === first && byte === 0).length) as [number, number];
  return Math.max(even, odd) > head.length / 4 && Math.min(even, odd) === 0 ? 'UTF-16' : 'no text (it has zero bytes)';
}
