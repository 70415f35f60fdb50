/** The lines of a file or a pipe. Only LF ends a line: U+2028, U+2029, NEL, vertical tab and form feed are text. */
import { WeirError } from '../../errors.ts';

/** Bytes that a line has at most: as many as the service takes in one request. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

const LF = 0x0a;

/** The bytes of each line without its LF, in constant memory. Rejects with USAGE when a line is longer than MAX_LINE_BYTES. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const at = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, at < 0 ? chunk.length : at);
      from += part.length + 1;
      parts.push(part);
      length += part.length;
      if (length > MAX_LINE_BYTES) throw new WeirError('USAGE', `line ${number} is longer than ${MAX_LINE_BYTES / 2 ** 20} MiB`);
      if (at < 0) break;
      yield Buffer.concat(parts, length);
      parts = [];
      length = 0;
      number += 1;
    }
  }
  if (length > 0) yield Buffer.concat(parts, length);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes, with its byte order mark; undefined when they are not UTF-8. */
export function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
