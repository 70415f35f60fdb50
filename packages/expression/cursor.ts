/**
 * The state of the parser, and the basic steps that every production of the grammar uses.
 * A production returns null when the text does not match, after noting one fault in the cursor.
 */
import type { Field, Scheme } from './scheme.ts';

/** In characters; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A function avoids work: most faults are dropped. */
type Message = string | (() => string);

interface Fault extends Span {
  readonly message: Message;
}

export interface Cursor {
  readonly text: string;
  readonly scheme: Scheme;
  /** In characters. */
  pos: number;
  fault: Fault | null;
  /** Characters read, including those read again: the measure of the work. */
  steps: number;
  /** Precedence of the logical operator ahead; 0: none. */
  ahead: number;
  /** Start of the right side of the operator ahead. */
  aheadEnd: number;
  /** Fields of the expression, in order of first use. */
  readonly fields: Field[];
  regexes: number;
  /** The first named list. It is a fault, but any other fault is reported first. */
  list: Span | null;
}

/** Notes a fault at `[start, end)`. */
export function fail(c: Cursor, start: number, end: number, message: Message): null {
  c.fault = { start, end, message };
  return null;
}

/** Notes a fault from here to the end of the text. */
export function failHere(c: Cursor, message: Message): null {
  return fail(c, c.pos, c.text.length, message);
}

/** Skips spaces, CR and LF. A tab is not white space in this language. */
export function skipSpace(c: Cursor): void {
  const { text } = c;
  const from = c.pos;
  let i = from;
  for (let code = text.charCodeAt(i); code === 0x20 || code === 0x0a || code === 0x0d; code = text.charCodeAt(i)) i++;
  c.pos = i;
  c.steps += i - from + 1;
}

/** The character at `pos`, for the end of a message. */
function found(text: string, pos: number): string {
  return pos === text.length ? ', found the end' : `, found ${quote(String.fromCodePoint(text.codePointAt(pos)!))}`;
}

export function failExpected(c: Cursor, what: string): null {
  const { text, pos } = c;
  return failHere(c, () => `expected ${what}${found(text, pos)}`);
}

/** Whether the next character was `code`; if so, moves past it. */
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

/** A letter, a digit or `_`. False for NaN, returned by `charCodeAt` after the end of a text. */
export function isWord(code: number): boolean {
  return code < 128 && (CLASSES[code] & WORD) !== 0;
}

export function isHex(code: number): boolean {
  return code < 128 && (CLASSES[code] & HEX) !== 0;
}

/** A letter or `_`: the start of an identifier. */
export function isLetter(code: number): boolean {
  return code < 128 && (CLASSES[code] & LETTER) !== 0;
}

/** A character of identifiers, but not of numbers. */
export function isWordNotHex(code: number): boolean {
  return code < 128 && (CLASSES[code] & (WORD | HEX)) === WORD;
}

/** On one line, shortened, with invisible characters escaped. */
export function quote(text: string): string {
  const characters = Array.from(text.slice(0, 100));
  const short = JSON.stringify(characters.length > 40 ? `${characters.slice(0, 40).join('')}…` : text);
  return short.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
