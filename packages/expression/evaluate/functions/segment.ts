/** Finds a text with placeholders in UTF-8 bytes, in linear time: a bit per possible position in the text. */
import type { ByteString } from '../../bytes.ts';
import { foldCodePoint } from './fold.ts';

/** `?` matches one character except a newline. */
export interface Segment {
  /** Characters. */
  readonly length: number;
  /** Case-insensitive. */
  readonly folded: boolean;
  /** Positions of each character, 32 bits per word. */
  readonly places: ReadonlyMap<number, Uint32Array>;
  /** Positions of `?`. */
  readonly any: Uint32Array;
}

const NEWLINE = 0x0a;

export function compileSegment(text: string, folded: boolean): Segment {
  const characters = Array.from(text, (character) => character.codePointAt(0)!);
  const words = Math.max(1, Math.ceil(characters.length / 32));
  const any = new Uint32Array(words);
  for (const [i, code] of characters.entries()) if (code === 0x3f) set(any, i);
  const places = new Map<number, Uint32Array>();
  for (const [i, code] of characters.entries()) {
    if (code === 0x3f) continue;
    const key = folded ? foldCodePoint(code) : code;
    if (!places.has(key)) places.set(key, key === NEWLINE ? new Uint32Array(words) : any.slice());
    set(places.get(key)!, i);
  }
  return { length: characters.length, folded, places, any };
}

function set(words: Uint32Array, bit: number): void {
  words[bit >> 5] |= 1 << (bit & 31);
}

/** At or after `from`, without a newline or invalid UTF-8 before it; with `here` only at `from`. -1: none. */
export function findSegment(segment: Segment, value: ByteString, from: number, here: boolean): number {
  const { length, places, any, folded } = segment;
  if (length === 0) return from;
  const state = new Uint32Array(any.length);
  let open = true;
  for (let at = from; at < value.length; ) {
    const size = characterSize(value, at);
    if (size === 0) return -1;
    const code = size === 1 ? value.charCodeAt(at) : decode(value, at, size);
    at += size;
    const allowed = places.get(folded ? foldCodePoint(code) : code) ?? (code === NEWLINE ? null : any);
    let carried = open ? 1 : 0;
    let alive = 0;
    for (let i = 0; i < state.length; i++) {
      const word = state[i];
      state[i] = allowed === null ? 0 : ((word << 1) | carried) & allowed[i];
      carried = word >>> 31;
      alive |= state[i];
    }
    if ((state[(length - 1) >> 5] & (1 << ((length - 1) & 31))) !== 0) return at;
    if (code === NEWLINE || here) open = false;
    if (!open && alive === 0) return -1;
  }
  return -1;
}

/** Start of the last `characters` before `end`. */
export function stepBack(value: ByteString, end: number, characters: number): number {
  let at = end;
  for (let left = characters; left > 0; left--) {
    at--;
    while ((value.charCodeAt(at) & 0xc0) === 0x80) at--;
  }
  return at;
}

/** Bytes of the character; 0: not valid UTF-8. */
function characterSize(value: ByteString, at: number): number {
  const lead = value.charCodeAt(at);
  if (lead < 0x80) return 1;
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  // After the end, charCodeAt returns NaN: no continuation byte.
  for (let k = 1; k < size; k++) if ((value.charCodeAt(at + k) & 0xc0) !== 0x80) return 0;
  const code = decode(value, at, size);
  const wrong = (size === 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000))) || (size === 4 && (code < 0x10000 || code > 0x10ffff));
  return wrong ? 0 : size;
}

function decode(value: ByteString, at: number, size: number): number {
  let code = value.charCodeAt(at) & (0xff >> (size + 1));
  for (let k = 1; k < size; k++) code = (code << 6) | (value.charCodeAt(at + k) & 0x3f);
  return code;
}
