/** Only LF ends a line; U+2028, U+2029, NEL, vertical tab and form feed are text. */
import { WeirError } from '../../errors.ts';

/** As the service's request limit. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const LF = 0x0a;

export interface Line {
  readonly number: number;
  readonly bytes: Buffer;
  /** No LF follows. */
  readonly isOpen: boolean;
}

export interface LineLimits {
  /** Including empty lines; undefined: no limit. */
  readonly most?: number | undefined;
  /** Further lines to ignore, besides blank ones; receives the bytes from the first non-blank. */
  readonly saysNothing?: ((bytes: Uint8Array) => boolean) | undefined;
}

export const tooManyLines = (most: number) => new WeirError('TOO_LARGE', `the file has more than ${most} lines`);

export async function* readLines(chunks: AsyncIterable<Uint8Array>, { most, saysNothing }: LineLimits = {}): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  const line = (last: Uint8Array, isOpen: boolean): Line | undefined => {
    const bytes = parts.length === 0 ? Buffer.from(last.buffer, last.byteOffset, last.length) : Buffer.concat([...parts, last]);
    const from = firstByte(bytes);
    return from === bytes.length || saysNothing?.(bytes.subarray(from)) ? undefined : { number, bytes, isOpen };
  };
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, at < 0 ? chunk.length : at);
      from += part.length + 1;
      length += part.length;
      if (length > MAX_LINE_BYTES) throw new WeirError('USAGE', `line ${number} is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
      if (at < 0) {
        parts.push(part);
        break;
      }
      if (most !== undefined && number > most) throw tooManyLines(most);
      const found = length === 0 ? undefined : line(part, false);
      if (found !== undefined) yield found;
      if (parts.length > 0) parts = [];
      length = 0;
      number += 1;
    }
  }
  const found = length === 0 ? undefined : line(Buffer.alloc(0), true);
  if (found !== undefined) yield found;
}

export const isBlank = (bytes: Uint8Array): boolean => firstByte(bytes) === bytes.length;

function firstByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at += 1;
  return at;
}

const HASH = 0x23;
const SEMICOLON = 0x3b;
const SLASH = 0x2f;

export const isComment = (bytes: Uint8Array): boolean =>
  bytes[0] === HASH || bytes[0] === SEMICOLON || (bytes[0] === SLASH && bytes[1] === SLASH);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Keeps a byte order mark; undefined: invalid UTF-8. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
