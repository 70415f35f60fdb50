/** Reads one JSON text strictly and returns the value at the path. */
import { type ByteString, decodeText, encodeCodePoint } from '../../bytes.ts';
import { type Int, type Optional, toInt } from '../value.ts';

/** Deeper nesting of arrays and objects makes the text invalid. */
const MAX_DEPTH = 127;

/** The string or integer at the path; other types are missing. */
interface Found {
  readonly kind: 'string' | 'integer';
  readonly value: Int | ByteString;
}

interface Reader {
  readonly text: ByteString;
  pos: number;
  readonly path: readonly (Int | ByteString)[];
}

/** Internal. */
const INVALID = Symbol('invalid JSON');

/** undefined: no JSON text, or no value of this kind at the path. */
export function compileJsonLookup(path: readonly (Int | ByteString)[], kind: Found['kind']): (text: ByteString) => Optional {
  return (text) => {
    if (decodeText(text) === null) return undefined;
    const r: Reader = { text, pos: 0, path };
    try {
      skip(r);
      const found = readValue(r, 0, 0);
      skip(r);
      return r.pos === text.length && found?.kind === kind ? found.value : undefined;
    } catch (error) {
      if (error === INVALID) return undefined;
      throw error;
    }
  };
}

function skip(r: Reader): void {
  for (;;) {
    const code = r.text.charCodeAt(r.pos);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return;
    r.pos++;
  }
}

/** `step`: matched elements of the path; -1 = not on the path. */
function readValue(r: Reader, depth: number, step: number): Found | null {
  const wanted = step === r.path.length;
  switch (r.text[r.pos]) {
    case '{':
      return readContainer(r, depth, step, readMember);
    case '[':
      return readContainer(r, depth, step, readElement);
    case '"': {
      const value = readString(r, wanted);
      return wanted ? { kind: 'string', value } : null;
    }
    case 't':
      return readWord(r, 'true');
    case 'f':
      return readWord(r, 'false');
    case 'n':
      return readWord(r, 'null');
    default: {
      const value = readNumber(r);
      return wanted && value !== null ? { kind: 'integer', value } : null;
    }
  }
}

function readWord(r: Reader, word: string): null {
  if (!r.text.startsWith(word, r.pos)) throw INVALID;
  r.pos += word.length;
  return null;
}

/** Returns the matched length of the path. */
type ReadPart = (r: Reader, index: number, step: number) => number;

function readContainer(r: Reader, depth: number, step: number, part: ReadPart): Found | null {
  if (depth >= MAX_DEPTH) throw INVALID;
  const close = r.text[r.pos] === '{' ? '}' : ']';
  let found: Found | null = null;
  r.pos++;
  skip(r);
  if (r.text[r.pos] === close) {
    r.pos++;
    return null;
  }
  for (let index = 0; ; index++) {
    const next = part(r, index, step);
    skip(r);
    const value = readValue(r, depth + 1, next);
    // The last duplicate name counts.
    if (next !== -1) found = value;
    skip(r);
    const end = r.text[r.pos++];
    if (end === close) return found;
    if (end !== ',') throw INVALID;
    skip(r);
  }
}

function readElement(r: Reader, index: number, step: number): number {
  return r.path[step] === index ? step + 1 : -1;
}

function readMember(r: Reader, _: number, step: number): number {
  if (r.text[r.pos] !== '"') throw INVALID;
  const onPath = typeof r.path[step] === 'string';
  const name = readString(r, onPath);
  skip(r);
  if (r.text[r.pos++] !== ':') throw INVALID;
  return onPath && name === r.path[step] ? step + 1 : -1;
}

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function readString(r: Reader, decoded: boolean): ByteString {
  const { text } = r;
  const parts: ByteString[] = [];
  let from = ++r.pos;
  for (;;) {
    const code = text.charCodeAt(r.pos);
    if (code === 0x22) {
      if (decoded) parts.push(text.slice(from, r.pos));
      r.pos++;
      return parts.length === 1 ? parts[0] : parts.join('');
    }
    if (!(code >= 0x20)) throw INVALID;
    if (code !== 0x5c) {
      r.pos++;
      continue;
    }
    if (decoded) parts.push(text.slice(from, r.pos));
    const bytes = readEscape(r);
    if (decoded) parts.push(bytes);
    from = r.pos;
  }
}

function readEscape(r: Reader): ByteString {
  const letter = r.text[r.pos + 1];
  r.pos += 2;
  if (letter !== 'u') {
    if (letter === undefined || !Object.hasOwn(ESCAPES, letter)) throw INVALID;
    return ESCAPES[letter];
  }
  const code = readHex(r);
  if (code < 0xd800 || code >= 0xe000) return encodeCodePoint(code);
  if (code >= 0xdc00 || !r.text.startsWith('\\u', r.pos)) throw INVALID;
  r.pos += 2;
  const low = readHex(r);
  if (low < 0xdc00 || low >= 0xe000) throw INVALID;
  return encodeCodePoint(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
}

function readHex(r: Reader): number {
  const digits = r.text.slice(r.pos, r.pos + 4);
  if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw INVALID;
  r.pos += 4;
  return Number.parseInt(digits, 16);
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const MOST_INTEGER = 2n ** 63n;

/** Null unless it is an integer of 64 bits. A number beyond the range of a double makes the text invalid. */
function readNumber(r: Reader): Int | null {
  NUMBER.lastIndex = r.pos;
  const match = NUMBER.exec(r.text);
  if (match === null) throw INVALID;
  const [digits, fraction, exponent] = match;
  r.pos += digits.length;
  const number = Number(digits);
  if (!Number.isFinite(number)) throw INVALID;
  if (fraction !== undefined || exponent !== undefined || digits === '-0') return null;
  if (Number.isSafeInteger(number)) return number;
  if (digits.length > 20) return null;
  const exact = BigInt(digits);
  return exact >= -MOST_INTEGER && exact < MOST_INTEGER ? toInt(exact) : null;
}
