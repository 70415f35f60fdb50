/** Files that are sent as they are. */
import { gzipSync } from 'node:zlib';
import { type Answer, NO_SNIFFING } from './answer.ts';
import type { Call } from './call.ts';
import { negotiateCoding } from './feeds/encoding.ts';

/** One file as it is sent. */
export interface File {
  readonly type: string;
  readonly bytes: Buffer;
  /** Made at the first call. */
  gzip(): Buffer;
}

/** A file of a media type. */
export function fileOf(type: string, bytes: Buffer): File {
  let compressed: Buffer | undefined;
  return {
    type,
    bytes,
    gzip() {
      compressed ??= gzipSync(bytes, { level: 9 });
      return compressed;
    },
  };
}

/** The answer with a file, compressed where the client takes that. */
export function fileAnswer({ request }: Call, file: File, own: readonly string[], vary = 'Accept-Encoding'): Answer {
  const isGzip = negotiateCoding(request.headers['accept-encoding']) === 'gzip';
  const body = isGzip ? file.gzip() : file.bytes;
  const coding = isGzip ? ['Content-Encoding', 'gzip'] : [];
  const common = ['Content-Type', file.type, 'Content-Length', String(body.length), 'Vary', vary, ...NO_SNIFFING];
  return { status: 200, headers: [...common, ...coding, ...own], body };
}
