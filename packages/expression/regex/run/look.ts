/** Context of assertions: the bytes on both sides of a position. */
import { type ByteString, decodeText } from '../../bytes.ts';
import type { Assertion, WordAssertion } from '../tree.ts';

/** The edge of the value, a letter, digit or `_`, LF, CR, or anything else. */
export type Neighbour = 0 | 1 | 2 | 3 | 4;
export const EDGE = 0;
const WORD = 1;
const LF = 2;
const CR = 3;
const OTHER = 4;

const NEIGHBOURS = Uint8Array.from({ length: 256 }, (_, byte) =>
  /\w/.test(String.fromCharCode(byte)) ? WORD : byte === 0x0a ? LF : byte === 0x0d ? CR : OTHER,
);

export const neighbourOf = (byte: number): Neighbour => NEIGHBOURS[byte] as Neighbour;

type Holds = (before: Neighbour, after: Neighbour) => boolean;
const HOLDS: Readonly<Record<Exclude<Assertion, `unicode ${string}`>, Holds>> = {
  start: (before) => before === EDGE,
  end: (_, after) => after === EDGE,
  'line start': (before) => before === EDGE || before === LF,
  'line end': (_, after) => after === EDGE || after === LF,
  'crlf start': (before, after) => before === EDGE || before === LF || (before === CR && after !== LF),
  'crlf end': (before, after) => after === EDGE || after === CR || (after === LF && before !== CR),
  'word boundary': (before, after) => (before === WORD) !== (after === WORD),
  'not word boundary': (before, after) => (before === WORD) === (after === WORD),
  'word start': (before, after) => before !== WORD && after === WORD,
  'word end': (before, after) => before === WORD && after !== WORD,
  'word start half': (before) => before !== WORD,
  'word end half': (_, after) => after !== WORD,
};

/** Whether two neighbouring bytes decide the assertion; others need full characters. */
export const isLocal = (assertion: Assertion): assertion is keyof typeof HOLDS => assertion in HOLDS;

export const holdsBetween = (assertion: keyof typeof HOLDS, before: Neighbour, after: Neighbour): boolean =>
  HOLDS[assertion](before, after);

export function holdsAt(assertion: Assertion, value: ByteString, at: number): boolean {
  if (isLocal(assertion)) {
    const before = at === 0 ? EDGE : neighbourOf(value.charCodeAt(at - 1));
    return holdsBetween(assertion, before, at === value.length ? EDGE : neighbourOf(value.charCodeAt(at)));
  }
  const before = at === 0 ? 'edge' : characterBefore(value, at);
  const after = at === value.length ? 'edge' : characterAt(value, at);
  return UNICODE[assertion.slice('unicode '.length) as WordAssertion](before, after);
}

/** `invalid`: not UTF-8. */
type Character = 'edge' | 'word' | 'other' | 'invalid';
const UNICODE: Readonly<Record<WordAssertion, (before: Character, after: Character) => boolean>> = {
  'word boundary': (before, after) => (before === 'word') !== (after === 'word'),
  // Invalid UTF-8 is on neither side of a word.
  'not word boundary': (before, after) => before !== 'invalid' && after !== 'invalid' && (before === 'word') === (after === 'word'),
  'word start': (before, after) => before !== 'word' && after === 'word',
  'word end': (before, after) => before === 'word' && after !== 'word',
  'word start half': (before) => before !== 'invalid' && before !== 'word',
  'word end half': (_, after) => after !== 'invalid' && after !== 'word',
};

function characterAt(value: ByteString, at: number): Character {
  for (let size = 1; size <= 4 && at + size <= value.length; size++) {
    const text = decodeText(value.slice(at, at + size));
    if (text !== null) return /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u.test(text) ? 'word' : 'other';
  }
  return 'invalid';
}

function characterBefore(value: ByteString, at: number): Character {
  let start = at - 1;
  while (start > Math.max(0, at - 4) && (value.charCodeAt(start) & 0xc0) === 0x80) start--;
  return characterAt(value, start);
}
