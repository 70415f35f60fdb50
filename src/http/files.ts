import { promisify } from 'node:util';
import { brotliCompress, gzip, constants as zlib } from 'node:zlib';
import { type Answer, NO_SNIFFING } from './answer.ts';
import type { Call } from './call.ts';
import { negotiateCoding } from './feeds/encoding.ts';

/** At the best level: each file is compressed once. */
export type Packing = 'gzip' | 'br';

export interface File {
  readonly type: string;
  readonly bytes: Buffer;
  /** Compressed on first use, off the main thread. */
  packed(packing: Packing): Promise<Buffer>;
}

const [pack, packSmaller] = [promisify(gzip), promisify(brotliCompress)];
/** Above, Brotli at its best level takes more than a second per megabyte. */
const MOST_BROTLI = 200_000;
const BROTLI = { params: { [zlib.BROTLI_PARAM_MODE]: zlib.BROTLI_MODE_TEXT, [zlib.BROTLI_PARAM_QUALITY]: zlib.BROTLI_MAX_QUALITY } };

export function fileOf(type: string, bytes: Buffer): File {
  const made = new Map<Packing, Promise<Buffer>>();
  return {
    type,
    bytes,
    packed(packing) {
      const packed = made.get(packing) ?? (packing === 'br' ? packSmaller(bytes, BROTLI) : pack(bytes, { level: 9 }));
      made.set(packing, packed);
      return packed;
    },
  };
}

export async function fileAnswer({ request }: Call, file: File, own: readonly string[], vary = 'Accept-Encoding'): Promise<Answer> {
  const packing = packingFor(request.headers['accept-encoding'], file);
  const body = packing === undefined ? file.bytes : await file.packed(packing);
  const coding = packing === undefined ? [] : ['Content-Encoding', packing];
  const common = ['Content-Type', file.type, 'Content-Length', String(body.length), 'Vary', vary, ...NO_SNIFFING];
  return { status: 200, headers: [...common, ...coding, ...own], body };
}

/** Brotli if named without a weight, as browsers do, else gzip. */
function packingFor(accepted: string | undefined, { bytes }: File): Packing | undefined {
  if (negotiateCoding(accepted) !== 'gzip') return undefined;
  return bytes.length <= MOST_BROTLI && /(?:^|[\s,])br(?:[\s,]|$)/.test(accepted!) ? 'br' : 'gzip';
}
