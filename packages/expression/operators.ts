/** Operators need no word boundary: `lt5` is `lt` and `5`, `nothttp.host` is `not` and `http.host`. */
import type { LogicalOperator, OrderingOperator } from './ast.ts';
import { type Cursor, skipSpace } from './cursor.ts';

/** By precedence, from 1 (weakest); 0 = none. */
export const LOGICAL: readonly LogicalOperator[] = ['or', 'or', 'xor', 'and'];
const [OR, XOR, AND] = [1, 2, 3];

export type ComparisonOperator = OrderingOperator | 'in' | 'bitwise_and' | 'contains' | 'matches' | 'wildcard' | 'strict wildcard';

/** Finds a logical operator after white space; notes it in the cursor, without moving it. */
export function lookAhead(c: Cursor): void {
  const start = c.pos;
  skipSpace(c);
  const { text, pos } = c;
  const second = text.charCodeAt(pos + 1);
  let precedence = 0;
  let length = 2;
  switch (text.charCodeAt(pos)) {
    case 0x6f: // o
      if (second === 0x72) precedence = OR;
      break;
    case 0x7c: // |
      if (second === 0x7c) precedence = OR;
      break;
    case 0x5e: // ^
      if (second === 0x5e) precedence = XOR;
      break;
    case 0x26: // &
      if (second === 0x26) precedence = AND;
      break;
    case 0x78: // x
      length = 3;
      if (second === 0x6f && text.charCodeAt(pos + 2) === 0x72) precedence = XOR;
      break;
    case 0x61: // a
      length = 3;
      if (second === 0x6e && text.charCodeAt(pos + 2) === 0x64) precedence = AND;
      break;
  }
  c.ahead = precedence;
  if (precedence !== 0) {
    c.pos = pos + length;
    skipSpace(c);
    c.aheadEnd = c.pos;
  }
  c.pos = start;
}

/** Length of `not` or `!`; 0: none. */
export function negationLength(c: Cursor): number {
  const code = c.text.charCodeAt(c.pos);
  if (code === 0x21) return 1;
  return code === 0x6e && c.text.charCodeAt(c.pos + 1) === 0x6f && c.text.charCodeAt(c.pos + 2) === 0x74 ? 3 : 0;
}

/** The parenthesis after `any` or `all` and white space; -1: no quantifier here. */
export function quantifierParenthesis(c: Cursor): number {
  const { text, pos } = c;
  if (text.charCodeAt(pos) !== 0x61 || !(text.startsWith('any', pos) || text.startsWith('all', pos))) return -1;
  c.pos = pos + 3;
  skipSpace(c);
  const at = c.pos;
  c.pos = pos;
  return text.charCodeAt(at) === 0x28 ? at : -1;
}

/** The longer of two operators. null, without moving, if there is none. */
export function lexComparison(c: Cursor): ComparisonOperator | null {
  const { text, pos } = c;
  const second = text.charCodeAt(pos + 1);
  c.steps++;
  switch (text.charCodeAt(pos)) {
    case 0x3d: // =
      return second === 0x3d ? step(c, 2, 'eq') : null;
    case 0x21: // !
      return second === 0x3d ? step(c, 2, 'ne') : null;
    case 0x3e: // >
      return second === 0x3d ? step(c, 2, 'ge') : step(c, 1, 'gt');
    case 0x3c: // <
      return second === 0x3d ? step(c, 2, 'le') : step(c, 1, 'lt');
    case 0x26: // &
      return step(c, 1, 'bitwise_and');
    case 0x7e: // ~
      return step(c, 1, 'matches');
    case 0x65: // e
      return second === 0x71 ? step(c, 2, 'eq') : null;
    case 0x6e: // n
      return second === 0x65 ? step(c, 2, 'ne') : null;
    case 0x67: // g
      return second === 0x65 ? step(c, 2, 'ge') : second === 0x74 ? step(c, 2, 'gt') : null;
    case 0x6c: // l
      return second === 0x65 ? step(c, 2, 'le') : second === 0x74 ? step(c, 2, 'lt') : null;
    case 0x69: // i
      return second === 0x6e ? step(c, 2, 'in') : null;
    case 0x63: // c
      return text.startsWith('contains', pos) ? step(c, 8, 'contains') : null;
    case 0x6d: // m
      return text.startsWith('matches', pos) ? step(c, 7, 'matches') : null;
    case 0x77: // w
      return text.startsWith('wildcard', pos) ? step(c, 8, 'wildcard') : null;
    case 0x73: // s
      return text.startsWith('strict wildcard', pos) ? step(c, 15, 'strict wildcard') : null;
    case 0x62: // b
      return text.startsWith('bitwise_and', pos) ? step(c, 11, 'bitwise_and') : null;
    default:
      return null;
  }
}

function step(c: Cursor, length: number, operator: ComparisonOperator): ComparisonOperator {
  c.pos += length;
  c.steps += length;
  return operator;
}

/** Empty: none. */
export function operatorHint(text: string, pos: number): string {
  for (const [written, hint] of MISTAKES) if (text.startsWith(written, pos)) return `; ${hint}`;
  return '';
}

const MISTAKES: readonly (readonly [written: string, hint: string])[] = [
  ['\t', 'a tab is no white space here'],
  ['\u00a0', 'a no-break space is no white space here'],
  ['=~', 'a regular expression is ~ or matches'],
  ['=', 'equality is == or eq'],
  ['!~', 'write "not" before the field'],
  ['!in', 'write "not" before the field'],
  ['not ', 'write "not" before the field'],
  ['starts_with', 'it is a function: starts_with(field, "…")'],
  ['ends_with', 'it is a function: ends_with(field, "…")'],
  ['icontains', 'write lower(field) contains "…"'],
  ['like', 'patterns are wildcard "…*"'],
  ['strict', 'it is "strict wildcard" with one space'],
  ['(', 'only functions take parentheses'],
  ['[', 'an index directly follows its field'],
  ['EQ', 'operators are lower case'],
  ['NE', 'operators are lower case'],
  ['IN', 'operators are lower case'],
  ['CONTAINS', 'operators are lower case'],
  ['MATCHES', 'operators are lower case'],
];
