/** The lines of a file or a pipe. Only LF ends a line: U+2028, U+2029, NEL, vertical tab and form feed are text. */
import { WeirError } from '../../errors.ts';

/** Bytes that a line has at most: as many as the service takes in one request. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const LF = 0x0a;

/** A line that says something, without its LF. */
export interface Line {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
  /** Whether the content ends within it: no LF follows. */
  readonly isOpen: boolean;
}

export interface LineLimits {
  /** Lines that are read at most, those that say nothing included; undefined: any number. */
  readonly most?: number | undefined;
  /** Whether a line says nothing besides blank ones. Asked of the bytes from the first that is no blank on. */
  readonly saysNothing?: ((bytes: Uint8Array) => boolean) | undefined;
}

/** Refuses what has too many lines. */
export const tooManyLines = (most: number) => new WeirError('TOO_LARGE', `the file has more than ${most} lines`);

/**
 * The lines that say something, in constant memory; what says nothing costs no turn of whoever waits. Rejects with USAGE when a line is
 * longer than MAX_LINE_BYTES, with TOO_LARGE when there are more than allowed.
 */
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

/** Whether a line says nothing. */
export const isBlank = (bytes: Uint8Array): boolean => firstByte(bytes) === bytes.length;

/** Where the first byte stands that is neither a blank, a tab nor a CR. */
function firstByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] === 0x20 || bytes[at] === 0x09 || bytes[at] === 0x0d)) at += 1;
  return at;
}

const HASH = 0x23;
const SEMICOLON = 0x3b;
const SLASH = 0x2f;

/** Whether a line is a comment. */
export const isComment = (bytes: Uint8Array): boolean =>
  bytes[0] === HASH || bytes[0] === SEMICOLON || (bytes[0] === SLASH && bytes[1] === SLASH);

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes, with its byte order mark; undefined when they are not UTF-8. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
