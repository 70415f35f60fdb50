/** Quoted and with escapes, raw, or bytes in hexadecimal. */
import { type ByteString, encodeText } from '../bytes.ts';
import { type Cursor, fail, failExpected, isHex, type Span } from '../cursor.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MAX_HASHES = 255;
const NO_END = 'the closing quote is missing';

/** All three forms. */
export function lexBytes(c: Cursor): ByteString | null {
  const code = c.text.charCodeAt(c.pos);
  if (code === QUOTE || code === 0x72) return lexString(c);
  return c.pos === c.text.length ? failExpected(c, 'a string in quotes') : lexHexPairs(c);
}

/** Quoted or raw. */
export function lexString(c: Cursor): ByteString | null {
  const code = c.text.charCodeAt(c.pos);
  c.steps++;
  if (code === QUOTE) return lexQuoted(c);
  if (code !== 0x72) return failExpected(c, 'a string in quotes');
  const inner = lexRaw(c);
  return inner === null ? null : encodeText(c.text.slice(inner.start, inner.end));
}

function lexQuoted(c: Cursor): ByteString | null {
  const { text } = c;
  const start = c.pos + 1;
  let bytes = '';
  let from = start;
  for (let i = start; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      c.pos = i + 1;
      c.steps += c.pos - start;
      return bytes + encodeText(text.slice(from, i));
    }
    if (code !== BACKSLASH) continue;
    bytes += encodeText(text.slice(from, i));
    c.pos = i + 1;
    const byte = lexEscape(c, start);
    if (byte === null) return null;
    bytes += byte;
    from = c.pos;
    i = from - 1;
  }
  c.steps += text.length - start;
  return fail(c, start, text.length, NO_END);
}

/** After the backslash: a quote, a backslash, `xHH` or three octal digits. */
function lexEscape(c: Cursor, literalStart: number): ByteString | null {
  const { text } = c;
  const start = c.pos;
  const code = text.charCodeAt(start);
  if (start === text.length) return fail(c, literalStart, text.length, NO_END);
  if (code === QUOTE || code === BACKSLASH) {
    c.pos++;
    return text[start];
  }
  if (code === 0x78) {
    c.pos++;
    return lexHexPair(c, 'expected two hexadecimal digits behind \\x');
  }
  if (code >= 0x30 && code <= 0x37) {
    const digits = text.slice(start, start + 3);
    const byte = /^[0-7]{3}$/.test(digits) ? Number.parseInt(digits, 8) : 256;
    if (byte > 255) return fail(c, start, endOfCharacters(text, start, 3), 'an octal escape is three digits, from 000 to 377');
    c.pos += 3;
    return String.fromCharCode(byte);
  }
  return fail(
    c,
    start,
    endOfCharacters(text, start, 1),
    'a backslash is allowed only before ", \\, xHH or three octal digits; a raw string r"…" needs no escapes',
  );
}

/** Two or more pairs of hexadecimal digits, joined by `:`, `-` or `.`. */
function lexHexPairs(c: Cursor): ByteString | null {
  const first = lexHexPair(c, 'expected a string in quotes, or bytes such as 6f:72:67');
  if (first === null) return null;
  if (!isSeparator(c.text.charCodeAt(c.pos))) {
    return fail(c, c.pos, endOfCharacters(c.text, c.pos, 1), 'expected ":", "-" or ".": bytes are at least two pairs, such as 6f:72');
  }
  let bytes = first;
  while (isSeparator(c.text.charCodeAt(c.pos))) {
    c.pos++;
    const byte = lexHexPair(c, 'expected two hexadecimal digits');
    if (byte === null) return null;
    bytes += byte;
  }
  return bytes;
}

function lexHexPair(c: Cursor, expected: string): ByteString | null {
  const { text } = c;
  const start = c.pos;
  c.steps += 3;
  // The engine's number parser accepts a plus sign as a digit: "+f" is 15.
  const signed = text.charCodeAt(start) === 0x2b;
  if ((!signed && !isHex(text.charCodeAt(start))) || !isHex(text.charCodeAt(start + 1))) {
    return fail(c, start, endOfCharacters(text, start, 2), expected);
  }
  c.pos += 2;
  return String.fromCharCode(Number.parseInt(text.slice(signed ? start + 1 : start, start + 2), 16));
}

/** r"…" or r#"…"#; returns the span between its quotes. */
export function lexRaw(c: Cursor): Span | null {
  const { text } = c;
  const start = c.pos + 1;
  let open = start;
  while (text.charCodeAt(open) === 0x23) open++;
  const hashes = open - start;
  c.steps += hashes + 1;
  if (hashes > MAX_HASHES) return fail(c, start, open, `a raw string has at most ${MAX_HASHES} hashes`);
  if (text.charCodeAt(open) !== QUOTE) return fail(c, open, endOfCharacters(text, open, 1), 'expected a quote or # in a raw string');
  const ending = `"${'#'.repeat(hashes)}`;
  const end = text.indexOf(ending, open + 1);
  c.steps += (end === -1 ? text.length : end + ending.length) - open;
  if (end === -1) return fail(c, start, text.length, NO_END);
  c.pos = end + ending.length;
  return { start: open + 1, end };
}

function isSeparator(code: number): boolean {
  return code === 0x3a || code === 0x2d || code === 0x2e;
}

/** The position after `count` code points, or the end of the text. */
function endOfCharacters(text: string, from: number, count: number): number {
  let end = from;
  for (let i = 0; i < count && end < text.length; i++) end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  return end;
}
