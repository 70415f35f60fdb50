/**
 * Where the parser stands, and the few moves that every part of the grammar is made of.
 * A part returns null when the text does not fit it, and has then left one fault in the cursor.
 */
import type { Field, Scheme } from './scheme.ts';

/** A stretch of the text, in characters; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text, or how to make one: most faults inside an attempt are thrown away. */
type Message = string | (() => string);

interface Fault extends Span {
  readonly message: Message;
}

export interface Cursor {
  readonly text: string;
  readonly scheme: Scheme;
  pos: number;
  fault: Fault | null;
  /** Characters looked at so far, repetitions included: the measure of the work. */
  steps: number;
  /** Precedence of the logical operator ahead, 0 when there is none, and where its right side begins. */
  ahead: number;
  aheadEnd: number;
  /** What the expression uses. */
  readonly fields: Set<Field>;
  regexes: number;
  /** The first named list, refused when nothing else is wrong. */
  list: Span | null;
}

/** Notes a fault on `[start, end)`. */
export function fail(c: Cursor, start: number, end: number, message: Message): null {
  c.fault = { start, end, message };
  return null;
}

/** Notes a fault on the rest of the text. */
export function failHere(c: Cursor, message: Message): null {
  return fail(c, c.pos, c.text.length, message);
}

/** Skips space, CR and LF; a tab is no white space in this language. */
export function skipSpace(c: Cursor): void {
  const { text } = c;
  const from = c.pos;
  let i = from;
  for (let code = text.charCodeAt(i); code === 0x20 || code === 0x0a || code === 0x0d; code = text.charCodeAt(i)) i++;
  c.pos = i;
  c.steps += i - from + 1;
}

/** What stands here, for the end of a message. */
function found(text: string, pos: number): string {
  return pos === text.length ? ', found the end' : `, found ${quote(String.fromCodePoint(text.codePointAt(pos)!))}`;
}

/** Notes that something else was expected here. */
export function failExpected(c: Cursor, what: string): null {
  const { text, pos } = c;
  return failHere(c, () => `expected ${what}${found(text, pos)}`);
}

/** Takes one character if it is the one expected. */
export function take(c: Cursor, code: number): boolean {
  c.steps++;
  if (c.text.charCodeAt(c.pos) !== code) return false;
  c.pos++;
  return true;
}

const WORD = 1;
const HEX = 2;
const LETTER = 4;
const CLASSES = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (/\w/.test(character)) CLASSES[code] |= WORD;
  if (/[0-9a-f]/i.test(character)) CLASSES[code] |= HEX;
  if (/[a-z_]/i.test(character)) CLASSES[code] |= LETTER;
}

/** A letter, a digit or `_`. Safe for the NaN that stands behind the end of a text. */
export function isWord(code: number): boolean {
  return code < 128 && (CLASSES[code] & WORD) !== 0;
}

export function isHex(code: number): boolean {
  return code < 128 && (CLASSES[code] & HEX) !== 0;
}

/** What an identifier may begin with. */
export function isLetter(code: number): boolean {
  return code < 128 && (CLASSES[code] & LETTER) !== 0;
}

/** Can only belong to an identifier, not to a number. */
export function isWordNotHex(code: number): boolean {
  return code < 128 && (CLASSES[code] & (WORD | HEX)) === WORD;
}

/** A user's text inside a message: on one line, not too long, and nothing in it invisible. */
export function quote(text: string): string {
  const characters = Array.from(text.slice(0, 100));
  const short = JSON.stringify(characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : text);
  return short.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
