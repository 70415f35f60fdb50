/** Escapes in a pattern. */
import { assertion, charClass, type Node, unicodeClass } from './node.ts';
import { atEnd, bump, bumpSpace, peek, refuse, type Scanner } from './scanner.ts';
import type { SetTree, Tree, WordAssertion } from './tree.ts';
import { unicodeClassFault, unicodeClassSize } from './unicode.ts';

/** One escape or character; `byte` marks a bare byte, not a character of UTF-8. */
export type Atom =
  | { readonly kind: 'character'; readonly code: number; readonly byte: boolean }
  | { readonly kind: 'class'; readonly node: Node; readonly set: SetTree }
  | { readonly kind: 'assertion'; readonly node: Node };

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['f', 0x0c],
  ['t', 0x09],
  ['n', 0x0a],
  ['r', 0x0d],
  ['v', 0x0b],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);
/** The Perl classes: number of ranges in ASCII, and size of the automaton in Unicode, in bytes. */
const PERL: ReadonlyMap<string, readonly [ranges: number, unicodeSize: number]> = new Map([
  ['d', [1, 5_100]],
  ['D', [2, 5_500]],
  ['s', [2, 700]],
  ['S', [3, 1_000]],
  ['w', [4, 50_000]],
  ['W', [5, 47_000]],
]);
const BOUNDARIES: ReadonlyMap<string, WordAssertion> = new Map([
  ['start', 'word start'],
  ['end', 'word end'],
  ['start-half', 'word start half'],
  ['end-half', 'word end half'],
]);
const SHORT_BOUNDARIES: ReadonlyMap<string, WordAssertion> = new Map([
  ['B', 'not word boundary'],
  ['<', 'word start'],
  ['>', 'word end'],
]);

/** Starts at the backslash. */
export function lexEscape(s: Scanner): Atom | null {
  const start = s.pos;
  if (!bump(s)) return refuse(s, start, 'the pattern ends behind a backslash');
  const letter = s.text[s.pos];
  const code = peek(s);
  if (code >= 0x30 && code <= 0x39) return refuse(s, start, 'backreferences and octal escapes are not supported');
  if (HEX_DIGITS.has(letter)) return lexHex(s, start, letter);
  if (letter === 'p' || letter === 'P') return lexProperty(s, start, letter === 'P');
  bump(s);
  const perl = PERL.get(letter);
  if (perl !== undefined) {
    const name = letter.toLowerCase() as 'd' | 's' | 'w';
    const set: SetTree = { kind: 'perl', name, negated: name !== letter };
    const tree: Tree = { kind: 'set', set, unicode: s.unicode };
    return { kind: 'class', set, node: s.unicode ? unicodeClass(tree, perl[1]) : charClass(tree, perl[0]) };
  }
  const control = CONTROLS.get(letter);
  if (control !== undefined) return character(control, false);
  if (letter === 'b') return lexBoundary(s, start);
  const word = SHORT_BOUNDARIES.get(letter);
  if (word !== undefined) return wordAssertion(s, word);
  if (letter === 'A' || letter === 'z') return { kind: 'assertion', node: assertion(letter === 'A' ? 'start' : 'end') };
  // All other ASCII characters except letters may be escaped.
  if (code < 0x80 && !/[A-Za-z]/.test(letter)) return character(code, false);
  return refuse(s, start, `the escape \\${String.fromCodePoint(code)} is unknown`);
}

function character(code: number, byte: boolean): Atom {
  return { kind: 'character', code, byte };
}

/** `\xHH`, `\uHHHH`, `\UHHHHHHHH`, or one of them with braces. Only `\xHH` can be a bare byte. */
function lexHex(s: Scanner, start: number, letter: string): Atom | null {
  if (!bumpSpace(s)) return refuse(s, start, 'the escape is not complete');
  if (peek(s) === 0x7b) return lexHexBraces(s, start);
  const digits = HEX_DIGITS.get(letter)!;
  let code = 0;
  for (let i = 0; i < digits; i++) {
    if (i > 0 && !bumpSpace(s)) return refuse(s, start, 'the escape is not complete');
    const digit = hexDigit(peek(s));
    if (digit === -1) return refuse(s, s.pos, 'expected a hexadecimal digit');
    code = code * 16 + digit;
  }
  bumpSpace(s);
  return scalar(s, start, code, letter === 'x');
}

function lexHexBraces(s: Scanner, start: number): Atom | null {
  let code = 0;
  let digits = 0;
  while (bumpSpace(s) && peek(s) !== 0x7d) {
    const digit = hexDigit(peek(s));
    if (digit === -1) return refuse(s, s.pos, 'expected a hexadecimal digit');
    code = Math.min(code * 16 + digit, 0x110000);
    digits++;
  }
  if (atEnd(s)) return refuse(s, start, 'the escape is not complete');
  bumpSpace(s);
  if (digits === 0) return refuse(s, start, 'the escape holds no digits');
  return scalar(s, start, code, false);
}

function scalar(s: Scanner, start: number, code: number, byte: boolean): Atom | null {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return refuse(s, start, 'the escape names no character');
  return character(code, byte);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** `\pL`, `\p{Greek}` or `\P{…}`; they need the flag u. */
function lexProperty(s: Scanner, start: number, negated: boolean): Atom | null {
  if (!bumpSpace(s)) return refuse(s, start, 'the escape is not complete');
  let name = '';
  if (peek(s) === 0x7b) {
    while (bumpSpace(s) && peek(s) !== 0x7d) name += String.fromCodePoint(peek(s));
    if (atEnd(s)) return refuse(s, start, 'the escape is not complete');
    bump(s);
  } else {
    if (peek(s) === 0x5c) return refuse(s, s.pos, 'expected a Unicode property');
    name = String.fromCodePoint(peek(s));
    bumpSpace(s);
  }
  if (!s.unicode) return refuse(s, start, 'Unicode properties need the flag u, as in (?u)');
  const fault = unicodeClassFault(name);
  if (fault !== null) return refuse(s, start, fault);
  const set: SetTree = { kind: 'property', name, negated, fold: s.fold };
  return { kind: 'class', set, node: unicodeClass({ kind: 'set', set, unicode: true }, unicodeClassSize(name)) };
}

/** `\b`, `\b{start}` and the like. Braces without a letter or hyphen are a repetition. */
function lexBoundary(s: Scanner, start: number): Atom | null {
  const boundary = wordAssertion(s, 'word boundary');
  if (peek(s) !== 0x7b) return boundary;
  const brace = s.pos;
  if (!bumpSpace(s)) return refuse(s, start, 'the braces are not closed');
  if (!isBoundaryLetter(peek(s))) {
    s.pos = brace;
    return boundary;
  }
  let name = '';
  while (isBoundaryLetter(peek(s))) {
    name += s.text[s.pos];
    bumpSpace(s);
  }
  if (peek(s) !== 0x7d) return refuse(s, brace, 'the braces are not closed');
  bump(s);
  const named = BOUNDARIES.get(name);
  return named !== undefined ? wordAssertion(s, named) : refuse(s, brace, 'a word boundary is one of: start, end, start-half, end-half');
}

function wordAssertion(s: Scanner, name: WordAssertion): Atom {
  return { kind: 'assertion', node: assertion(s.unicode ? `unicode ${name}` : name) };
}

function isBoundaryLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a) || code === 0x2d;
}
