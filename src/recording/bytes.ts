/** Decompresses a recording and splits it into lines, or into entries of a HAR, as text of one character per byte. */

import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { ByteString } from '@weir/expression/bytes.ts';

/** The longest line or entry, in bytes; longer ones count as unreadable. */
const MAX_LENGTH = 16 * 1024 * 1024;

export const TOO_LONG = Symbol('too long');

/** A line or an entry. */
export type Piece = ByteString | typeof TOO_LONG;

const GZIP = [0x1f, 0x8b];
/** Bytes decompressed at a time. */
const CHUNK = 256 * 1024;

/** Decompresses gzip. Throws the error of zlib. */
export async function* decompressed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first = Buffer.alloc(0);
  while (first.length < GZIP.length) {
    const { done, value } = await iterator.next();
    if (done) break;
    first = Buffer.concat([first, value]);
  }
  const all = rejoin(first, iterator);
  if (!GZIP.every((byte, i) => first[i] === byte)) yield* all;
  // If the reader stops early, the pipeline's error has no handler.
  else yield* pipeline(Readable.from(all), createGunzip({ chunkSize: CHUNK }), () => {});
}

async function* rejoin(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Yields the lines, or the entries of a HAR, completed by each chunk. */
export async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Piece[]> {
  let split: Splitter | null = null;
  let head = '';
  for await (const chunk of chunks) {
    const text = chunk.toString('latin1');
    if (split === null) {
      head += text;
      if (head.length < HEAD && UNDECIDED.test(head)) continue;
      split = isHar(head) ? entrySplitter() : lineSplitter();
      yield split(head, false);
    } else yield split(text, false);
  }
  yield (split ?? (isHar(head) ? entrySplitter() : lineSplitter()))(split === null ? head : '', true);
}

const HEAD = 4096;
const isHar = (head: string): boolean => /^(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:/.test(head);
/** A possible prefix of a HAR. */
const UNDECIDED = /^(?:\xef(?:\xbb\xbf?)?)?\s*(?:\{\s*(?:"(?:l(?:o(?:g(?:"\s*)?)?)?)?)?)?$/;

/** Appends text; returns complete pieces. */
type Splitter = (text: string, end: boolean) => Piece[];

function lineSplitter(): Splitter {
  let rest = '';
  let dropping = false;
  return (text, end) => {
    // Join a line over many chunks once, not per chunk.
    const lines: Piece[] = text.includes('\n') ? (rest + text).split('\n') : [];
    rest = lines.length > 0 ? (lines.pop() as string) : rest + text;
    if (dropping && lines.length > 0) {
      lines[0] = TOO_LONG;
      dropping = false;
    }
    if (rest.length > MAX_LENGTH) {
      rest = '';
      dropping = true;
    }
    if (end && (rest !== '' || dropping)) lines.push(dropping ? TOO_LONG : rest);
    return lines;
  };
}

const ENTRIES = /"entries"\s*:\s*\[/;

/** Objects of the array "entries". */
function entrySplitter(): Splitter {
  let text = '';
  let at = -1;
  let start = -1;
  let depth = 0;
  let quoted = false;
  return (more) => {
    text += more;
    const found: Piece[] = [];
    if (at === -1) {
      const entries = ENTRIES.exec(text);
      if (entries === null) {
        text = text.slice(-HEAD);
        return found;
      }
      at = entries.index + entries[0].length;
    }
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (quoted) {
        if (code === 0x5c) at++;
        else if (code === 0x22) quoted = false;
      } else if (code === 0x22) quoted = true;
      else if (code === 0x7b) {
        if (depth++ === 0) start = at;
      } else if (code === 0x7d && depth > 0 && --depth === 0) {
        found.push(start === -1 ? TOO_LONG : text.slice(start, at + 1));
      } else if (code === 0x5d && depth === 0) {
        at = Number.POSITIVE_INFINITY;
        break;
      }
    }
    if (at === Number.POSITIVE_INFINITY) text = '';
    else if (depth === 0) [text, at] = [text.slice(at), Math.max(0, at - text.length)];
    else if (at - start > MAX_LENGTH) [text, at, start] = [text.slice(at), Math.max(0, at - text.length), -1];
    return found;
  };
}
