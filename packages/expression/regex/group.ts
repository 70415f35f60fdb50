/** Starts of groups, and flags. */
import { atEnd, bump, type Flags, peek, refuse, type Scanner, skipIgnored, takeText } from './scanner.ts';

/** `flags`, as in `(?i)`, is not a group: it changes the flags up to the end of the enclosing group. */
type Group = 'capture' | 'plain' | 'flags';

/** Relevant flags; U only selects among several matches. */
const FLAGS: ReadonlyMap<string, keyof Flags> = new Map([
  ['x', 'verbose'],
  ['u', 'unicode'],
  ['i', 'fold'],
  ['m', 'multiLine'],
  ['s', 'dotAll'],
  ['R', 'crlf'],
]);
const LOOK_AROUND = ['?=', '?!', '?<=', '?<!'];

/** Reads from `(` to the content of the group, or past the `)` of flags. Sets the flags. */
export function lexGroup(s: Scanner): Group | null {
  const start = s.pos;
  bump(s);
  skipIgnored(s);
  if (LOOK_AROUND.some((prefix) => takeText(s, prefix))) return refuse(s, start, 'look-around is not supported');
  if (takeText(s, '?P<') || takeText(s, '?<')) return lexName(s) ? 'capture' : null;
  if (!takeText(s, '?')) return 'capture';
  if (atEnd(s)) return refuse(s, start, 'the group is not closed');
  const first = s.pos;
  if (!lexFlags(s)) return null;
  const closed = peek(s) === 0x29;
  if (closed && s.pos === first) return refuse(s, start, 'there is nothing to repeat');
  bump(s);
  return closed ? 'flags' : 'plain';
}

function lexName(s: Scanner): boolean {
  const start = s.pos;
  while (!atEnd(s) && peek(s) !== 0x3e) {
    if (!isNameCharacter(peek(s), s.pos === start))
      return refuse(s, s.pos, 'a group name is letters, digits, "_", ".", "[" and "]", and begins with a letter or "_"') !== null;
    bump(s);
  }
  if (atEnd(s)) return refuse(s, start, 'the group name is not closed') !== null;
  const name = s.text.slice(start, s.pos);
  if (name === '') return refuse(s, start, 'the group name is empty') !== null;
  if (s.names.has(name)) return refuse(s, start, 'two groups have the same name') !== null;
  s.names.add(name);
  bump(s);
  return true;
}

function isNameCharacter(code: number, first: boolean): boolean {
  const character = String.fromCodePoint(code);
  return first ? /[_\p{Alphabetic}]/u.test(character) : /[_.[\]\p{Alphabetic}\p{N}]/u.test(character);
}

/** Reads flags up to `:` or `)`. Each may appear once, either set or cleared. */
function lexFlags(s: Scanner): boolean {
  let seen = '';
  while (peek(s) !== 0x3a && peek(s) !== 0x29) {
    const flag = s.text[s.pos];
    if (!'imsUuRx-'.includes(flag)) return refuse(s, s.pos, 'the flag is unknown; flags are i, m, s, R, U, u and x') !== null;
    if (seen.includes(flag)) return refuse(s, s.pos, flag === '-' ? 'flags are cleared twice' : 'the flag is repeated') !== null;
    const set = !seen.includes('-');
    const name = FLAGS.get(flag);
    if (name !== undefined) s[name] = set;
    seen += flag;
    if (!bump(s)) return refuse(s, s.pos, 'expected a flag') !== null;
  }
  return !seen.endsWith('-') || refuse(s, s.pos, 'expected a flag behind "-"') !== null;
}
