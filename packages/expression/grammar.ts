/** A recursive-descent parser. `depth` counts enclosing parentheses, negations, calls and quantifiers: the engine allows 128. */

import { parseAddress } from './address.ts';
import { type Argument, type Call, type Comparison, EACH, type Expression, type Index, type Value } from './ast.ts';
import { type Cursor, fail, failExpected, failHere, isHex, isLetter, isWord, isWordNotHex, skipSpace, take } from './cursor.ts';
import { mismatch } from './mismatch.ts';
import { describeIndex, indexedType, lexIndex, lexLiteral, lexTest } from './operand.ts';
import { LOGICAL, lexComparison, lookAhead, negationLength, operatorHint, quantifierParenthesis } from './operators.ts';
import { accepts, describeParameter, type FunctionSignature, parameterAt } from './signature.ts';
import { unknownName } from './suggest.ts';
import { arrayOf, BOOL, BOOL_ARRAY, BYTES, INT, IP, type Type } from './types.ts';

const MAX_DEPTH = 128;
const TOO_DEEP = `nested deeper than ${MAX_DEPTH} levels`;
const NO_INDEXES: readonly Index[] = [];

export function parseExpression(c: Cursor, depth: number): Expression | null {
  const first = parseOperand(c, depth);
  if (first === null) return null;
  lookAhead(c);
  return parseCombination(c, depth, first, 1);
}

/** Operators at least as strong as `weakest`, with their right sides. */
function parseCombination(c: Cursor, depth: number, first: Expression, weakest: number): Expression | null {
  let left = first;
  let items: Expression[] = [];
  let joined = 0;
  while (c.ahead !== 0 && c.ahead >= weakest) {
    const precedence = c.ahead;
    c.pos = c.aheadEnd;
    let right = parseOperand(c, depth);
    if (right === null) return null;
    lookAhead(c);
    while (c.ahead > precedence) {
      right = parseCombination(c, depth, right, c.ahead);
      if (right === null) return null;
    }
    if (!canJoin(left.type, right.type)) {
      const [expected, actual] = [left.type, right.type];
      return fail(c, c.ahead === 0 ? c.pos : c.aheadEnd, c.text.length, () => mismatch(expected, actual));
    }
    if (joined === precedence) items.push(right);
    else {
      items = [left, right];
      joined = precedence;
      left = { kind: 'combination', type: left.type, op: LOGICAL[precedence], items };
    }
  }
  return left;
}

function canJoin(left: Type, right: Type): boolean {
  return (left === BOOL && right === BOOL) || (left.kind === 'Array' && right.kind === 'Array');
}

/** A negation applies to the next operand only. */
function parseOperand(c: Cursor, depth: number): Expression | null {
  c.steps++;
  const start = c.pos;
  if (c.text.charCodeAt(start) === 0x28) {
    if (depth >= MAX_DEPTH) return fail(c, start, start + 1, TOO_DEEP);
    c.pos++;
    skipSpace(c);
    const inner = parseExpression(c, depth + 1);
    return inner !== null && close(c) ? inner : null;
  }
  const negation = negationLength(c);
  if (negation > 0) {
    if (depth >= MAX_DEPTH) return fail(c, start, start + negation, TOO_DEEP);
    c.pos += negation;
    skipSpace(c);
    const argument = parseOperand(c, depth + 1);
    return argument === null ? null : { kind: 'not', type: argument.type, argument };
  }
  const parenthesis = quantifierParenthesis(c);
  if (parenthesis !== -1) return parseQuantifier(c, depth, parenthesis);
  const value = parseValue(c, depth);
  return value === null ? null : parseComparison(c, value);
}

function close(c: Cursor): boolean {
  skipSpace(c);
  if (take(c, 0x29)) return true;
  return failExpected(c, '")"') !== null;
}

/** After a comparison a logical operator can follow only inside parentheses. */
function failInside(c: Cursor, expected: string): null {
  lookAhead(c);
  if (c.ahead === 0) return failExpected(c, expected);
  return failHere(c, 'joined comparisons need parentheses of their own here, as in any((… or …))');
}

function parseQuantifier(c: Cursor, depth: number, parenthesis: number): Expression | null {
  const op = c.text.charCodeAt(c.pos + 1) === 0x6e ? 'any' : 'all';
  if (depth >= MAX_DEPTH) return fail(c, parenthesis, parenthesis + 1, TOO_DEEP);
  c.pos = parenthesis + 1;
  skipSpace(c);
  const start = c.pos;
  const argument = parseArgument(c, depth + 1);
  if (argument === null) return null;
  if (argument.kind === 'literal' || argument.type !== BOOL_ARRAY) {
    return fail(c, start, c.pos, () => notTruths(op, argument));
  }
  skipSpace(c);
  return take(c, 0x29) ? { kind: 'quantifier', type: BOOL, op, argument } : failInside(c, '")"');
}

function notTruths(op: string, argument: Argument): string {
  if (argument.kind === 'value' && argument.mapped > 0) return `${op}(…) needs truth values: compare the elements with something`;
  return `${op}(…) needs an array of truth values, such as a comparison with [*], and this is ${argument.type.text}`;
}

/** A Bool value needs no test; any other value needs an operator. */
function parseComparison(c: Cursor, left: Value): Comparison | null {
  const { type, mapped } = left;
  if (type === BOOL) return { kind: 'comparison', type: mapped > 0 ? BOOL_ARRAY : BOOL, left, op: 'is true' };
  if (type.of === BOOL) {
    if (mapped > 0) return fail(c, c.pos, c.pos, 'an array of arrays of truth values cannot be used');
    return { kind: 'comparison', type, left, op: 'is true' };
  }
  skipSpace(c);
  const start = c.pos;
  const op = lexComparison(c);
  if (op === null) return fail(c, start, endOfWord(c, start), () => `expected an operator, such as == or in${operatorHint(c.text, start)}`);
  const test = lexTest(c, type, op, start);
  if (test === null) return null;
  // No spread: this runs for every comparison.
  const { op: tested, right } = test;
  return { kind: 'comparison', type: mapped > 0 ? BOOL_ARRAY : BOOL, left, op: tested, right } as Comparison;
}

function parseValue(c: Cursor, depth: number): Value | null {
  const start = c.pos;
  const name = lexName(c);
  if (name === null) return null;
  const definition = c.scheme.names.get(name);
  if (definition === undefined) return fail(c, start, c.pos, () => unknownName(name, c.scheme));
  if (definition.kind === 'field' && !c.fields.includes(definition)) c.fields.push(definition);
  const source = definition.kind === 'field' ? definition : parseCall(c, definition, depth);
  if (source === null) return null;
  if (c.text.charCodeAt(c.pos) !== 0x5b) return { kind: 'value', type: source.type, source, indexes: NO_INDEXES, mapped: 0 };
  return parseIndexes(c, source);
}

function lexName(c: Cursor): string | null {
  const { text } = c;
  const start = c.pos;
  let end = start;
  for (;;) {
    const from = end;
    while (isWord(text.charCodeAt(end))) end++;
    if (end === from) {
      c.pos = end;
      return failExpected(c, 'a field or a function');
    }
    if (text.charCodeAt(end) !== 0x2e) break;
    end++;
  }
  c.pos = end;
  c.steps += end - start;
  return text.slice(start, end);
}

function parseIndexes(c: Cursor, source: Value['source']): Value | null {
  const indexes: Index[] = [];
  let mapped = 0;
  let type = source.type;
  for (let start = c.pos; take(c, 0x5b); start = c.pos) {
    skipSpace(c);
    const index = lexIndex(c);
    if (index === null) return null;
    skipSpace(c);
    if (!take(c, 0x5d)) return failExpected(c, '"]"');
    const part = indexedType(type, index);
    if (part === null) {
      const indexed = type;
      return fail(c, start, c.pos, () => `${describeIndex(index)} cannot be used on a value of type ${indexed.text}`);
    }
    if (index === EACH) mapped++;
    indexes.push(index);
    type = part;
  }
  return { kind: 'value', type, source, indexes, mapped };
}

function parseCall(c: Cursor, signature: FunctionSignature, depth: number): Call | null {
  const { name, required, most } = signature;
  skipSpace(c);
  if (depth >= MAX_DEPTH) return fail(c, c.pos, c.pos + 1, TOO_DEEP);
  if (!take(c, 0x28)) return failExpected(c, `"(" because ${name} is a function`);
  skipSpace(c);
  const list: Argument[] = [];
  while (c.pos < c.text.length && c.text.charCodeAt(c.pos) !== 0x29) {
    if (list.length > 0 && !take(c, 0x2c)) return failInside(c, '"," or ")"');
    skipSpace(c);
    const start = c.pos;
    const argument = parseArgument(c, depth + 1);
    if (argument === null) return null;
    if (argument.kind === 'value' && argument.mapped > 0 && list.length > 0) {
      return fail(c, start, c.pos, '[*] can only be used in the first argument of a function');
    }
    if (list.length >= most) return fail(c, start, c.pos, `${name} takes no more than ${count(most)}`);
    if (!checkArgument(c, signature, list, argument, start)) return null;
    list.push(argument);
    skipSpace(c);
  }
  if (list.length < required) return failHere(c, `${name} needs at least ${count(required)}`);
  if (!take(c, 0x29)) return failExpected(c, '")"');
  const returned = signature.returns ?? list[0].type;
  const each = list.length > 0 && list[0].kind === 'value' && list[0].mapped > 0;
  return { kind: 'call', type: each ? arrayOf(returned) : returned, signature, arguments: list };
}

function count(args: number): string {
  return args === 1 ? '1 argument' : `${args} arguments`;
}

function checkArgument(c: Cursor, signature: FunctionSignature, before: readonly Argument[], argument: Argument, start: number): boolean {
  const parameter = parameterAt(signature, before.length);
  const { takes } = parameter;
  const ordinal = before.length + 1;
  if (takes !== null && (argument.kind === 'literal') !== (takes === 'literal')) {
    const expected = takes === 'field' ? 'a field or a function call' : 'a literal';
    return fail(c, start, c.pos, `argument ${ordinal} of ${signature.name} must be ${expected}`) !== null;
  }
  const first = before.length > 0 ? before[0].type : argument.type;
  if (accepts(parameter, argument.type, first)) return true;
  const message = () =>
    `argument ${ordinal} of ${signature.name} must be ${describeParameter(parameter, first)}, and this is ${argument.type.text}`;
  return fail(c, start, c.pos, message) !== null;
}

/**
 * Parses a string; an expression starting with a parenthesis, `not`, `any(` or `all(`; a value or a single comparison; or another literal.
 * As in the engine, three characters decide; in doubt it tries a value first.
 */
function parseArgument(c: Cursor, depth: number): Argument | null {
  const { text } = c;
  const start = c.pos;
  const [first, second, third] = [text.charCodeAt(start), text.charCodeAt(start + 1), text.charCodeAt(start + 2)];
  c.steps += 3;
  if (first === 0x22 || (first === 0x72 && (second === 0x23 || second === 0x22))) return lexLiteral(c, BYTES);
  if (first === 0x28 || negationLength(c) > 0 || quantifierParenthesis(c) !== -1) return parseExpression(c, depth);
  const named = isWord(first) && (isWordNotHex(first) || isWordNotHex(second) || (isWord(second) && isWordNotHex(third)));
  if (named) return parseValueArgument(c, depth);
  // Names start with a letter.
  const value = isLetter(first) ? parseValueArgument(c, depth) : null;
  if (value !== null) return value;
  c.pos = start;
  return lexOtherLiteral(c) ?? fail(c, start, text.length, 'expected an argument: a field, a function call, a comparison or a literal');
}

function parseValueArgument(c: Cursor, depth: number): Argument | null {
  const value = parseValue(c, depth);
  if (value === null) return null;
  const end = c.pos;
  skipSpace(c);
  const compared = lexComparison(c) !== null;
  c.pos = end;
  return compared ? parseComparison(c, value) : value;
}

/** Tries, in this order: an address, an integer, bytes in hexadecimal. */
function lexOtherLiteral(c: Cursor): Argument | null {
  const { text } = c;
  const start = c.pos;
  let end = start;
  for (let code = text.charCodeAt(end); isHex(code) || (code >= 0x2e && code <= 0x3a); code = text.charCodeAt(end)) end++;
  c.steps += end - start;
  const address = parseAddress(text.slice(start, end));
  if (address !== null) {
    c.pos = end;
    return { kind: 'literal', type: IP, value: address };
  }
  const integer = lexLiteral(c, INT);
  if (integer !== null) return integer;
  c.pos = start;
  return lexLiteral(c, BYTES);
}

/** End of the word, or of one character. */
function endOfWord(c: Cursor, start: number): number {
  let end = start;
  while (isWord(c.text.charCodeAt(end))) end++;
  return Math.max(end, start + 1);
}
