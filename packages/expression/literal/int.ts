/** Decimal, octal (leading zero) or hexadecimal (0x), 64 bits with sign. */
import type { Range } from '../ast.ts';
import { type Cursor, fail, failExpected, isHex, quote } from '../cursor.ts';

const LEAST = -(2n ** 63n);
const GREATEST = 2n ** 63n - 1n;
/** More digits fit 64 bits in no radix. */
const MOST_DIGITS = 22;
/** Integers up to this length are exact as numbers, in any radix. */
const EXACT_DIGITS = 13;

const RADIX_NAMES: Readonly<Record<number, string>> = { 8: 'octal (it begins with 0)', 10: 'decimal', 16: 'hexadecimal' };
const PREFIXES: Readonly<Record<number, string>> = { 8: '0o', 10: '', 16: '0x' };

export function lexInt(c: Cursor): bigint | null {
  const { text } = c;
  const start = c.pos;
  const first = text.charCodeAt(start);
  if (first === 0x30) {
    if (text.charCodeAt(start + 1) !== 0x78) return lexDigits(c, start, 8, false);
    c.pos += 2;
    return lexDigits(c, c.pos, 16, false);
  }
  const negative = first === 0x2d;
  if (negative) c.pos++;
  return lexDigits(c, start, 10, negative);
}

/** As the engine: hexadecimal digits in any radix, checked afterwards, so `50and` is a faulty `50a`. */
function lexDigits(c: Cursor, start: number, radix: number, negative: boolean): bigint | null {
  const { text } = c;
  const from = c.pos;
  let end = from;
  while (isHex(text.charCodeAt(end))) end++;
  c.steps += end - from + 1;
  if (end === from) return failExpected(c, 'an integer');
  let significant = from;
  while (significant < end - 1 && text.charCodeAt(significant) === 0x30) significant++;
  let value = 0;
  for (let i = significant; i < end; i++) {
    const code = text.charCodeAt(i);
    const digit = code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
    if (digit >= radix) return fail(c, start, end, () => badDigits(text, start, end, radix));
    value = value * radix + digit;
  }
  c.pos = end;
  const count = end - significant;
  if (count <= EXACT_DIGITS) return BigInt(negative ? -value : value);
  if (count <= MOST_DIGITS) {
    const magnitude = BigInt(PREFIXES[radix] + text.slice(significant, end));
    const exact = negative ? -magnitude : magnitude;
    if (exact >= LEAST && exact <= GREATEST) return exact;
  }
  return fail(c, start, end, () => `${quote(text.slice(start, end))} does not fit a 64-bit integer`);
}

function badDigits(text: string, start: number, end: number, radix: number): string {
  const glued = text.startsWith('and', end - 1) ? '; a space is missing before "and"' : '';
  return `${quote(text.slice(start, end))} is no ${RADIX_NAMES[radix]} integer${glued}`;
}

/** `first..last`, or one integer. */
export function lexIntRange(c: Cursor): Range<bigint> | null {
  const start = c.pos;
  const first = lexInt(c);
  if (first === null) return null;
  if (c.text.charCodeAt(c.pos) !== 0x2e || c.text.charCodeAt(c.pos + 1) !== 0x2e) return { first, last: first };
  c.pos += 2;
  const last = lexInt(c);
  if (last === null) return null;
  if (last < first) return fail(c, start, c.pos, 'the range ends before it begins');
  return { first, last };
}
