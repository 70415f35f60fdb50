/** Checks expressions against a scheme (docs/expressions.md). */
import type { FilterAst } from './ast.ts';
import { type Cursor, fail, failHere, quote } from './cursor.ts';
import { locate, type ParseError } from './fault.ts';
import { parseExpression as parseLogical } from './grammar.ts';
import { mismatch } from './mismatch.ts';
import type { Field, Scheme } from './scheme.ts';
import { BOOL } from './types.ts';
import { isWhiteSpace } from './white-space.ts';

/** Code points of a rule's expression. The caller checks the limit. */
export const MAX_CHARACTERS = 4096;
/** Regular expressions of a rule. The caller checks the limit. */
export const MAX_REGEXES = 64;

type ParseResult =
  | {
      readonly ok: true;
      readonly ast: FilterAst;
      /** `response`: a response field is used. */
      readonly phase: 'request' | 'response';
      /** In order of first use. */
      readonly fields: readonly string[];
      readonly regexes: number;
      /** Characters read: the measure of the work. */
      readonly steps: number;
    }
  | { readonly ok: false; readonly fault: ParseError; readonly steps: number };

/** Returns the fault that the engine would report. Never throws. */
export function parseExpression(text: string, scheme: Scheme): ParseResult {
  const [start, end] = trim(text);
  const c: Cursor = {
    text: start === 0 && end === text.length ? text : text.slice(start, end),
    scheme,
    pos: 0,
    fault: null,
    steps: 0,
    ahead: 0,
    aheadEnd: 0,
    fields: [],
    regexes: 0,
    list: null,
  };
  const ast = parseComplete(c);
  const { steps, regexes } = c;
  if (ast === null) {
    const { start: from, end: to, message } = c.fault!;
    return { ok: false, fault: locate(text, start + from, start + to, typeof message === 'string' ? message : message()), steps };
  }
  return { ok: true, ast, phase: phaseOf(c.fields), fields: c.fields.map((field) => field.name), regexes, steps };
}

function parseComplete(c: Cursor): FilterAst | null {
  const ast = parseLogical(c, 0);
  if (ast === null) return null;
  if (ast.type !== BOOL) return failHere(c, mismatch(BOOL, ast.type));
  if (c.pos < c.text.length) return failHere(c, () => leftOver(c.text.slice(c.pos)));
  if (c.list !== null) return fail(c, c.list.start, c.list.end, 'named lists are not supported: write the elements in braces');
  return ast;
}

function phaseOf(fields: readonly Field[]): 'request' | 'response' {
  for (const field of fields) if (field.phase === 'response') return 'response';
  return 'request';
}

/** After a complete expression. */
function leftOver(rest: string): string {
  const text = rest.trimStart();
  if (rest.startsWith('\t')) return 'a tab is no white space here';
  if (/^\s+(#|\/\/)/.test(rest)) return 'comments are not supported';
  if (/^(AND|OR|XOR)\b/.test(text)) return 'operators are lower case: "and", "or", "xor"';
  if (/^([=!<>]=|[<>&~]|(eq|ne|ge|le|gt|lt|in|contains|matches)\b)/.test(text))
    return 'the left side of this operator is a truth value already and takes no other comparison';
  if (text.startsWith(')')) return 'the closing parenthesis closes nothing';
  return `expected "and", "or", "xor" or the end, found ${quote(Array.from(text.slice(0, 40)).slice(0, 20).join(''))}`;
}

/** Bounds without white space: Unicode's White_Space, unlike JavaScript's. */
function trim(text: string): [start: number, end: number] {
  let start = 0;
  let end = text.length;
  while (start < end && isWhiteSpace(text.charCodeAt(start))) start++;
  if (start === end) return [0, 0];
  while (isWhiteSpace(text.charCodeAt(end - 1))) end--;
  return [start, end];
}
