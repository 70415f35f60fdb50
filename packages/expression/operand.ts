/** Right sides of comparisons, by the type of the left side, and indexes of values. */
import { EACH, type Index, type Item, type Literal, type RightTest } from './ast.ts';
import { type ByteString, decodeText } from './bytes.ts';
import { type Cursor, fail, failExpected, failHere, quote, skipSpace, take } from './cursor.ts';
import { lexInt, lexIntRange } from './literal/int.ts';
import { lexAddress, lexAddressRange } from './literal/ip.ts';
import { lexRegex } from './literal/regex.ts';
import { lexBytes, lexString } from './literal/string.ts';
import type { ComparisonOperator } from './operators.ts';
import { BYTES, INT, IP, type Type } from './types.ts';
import { checkWildcard } from './wildcard.ts';

/** `opStart`: of the operator. */
export function lexTest(c: Cursor, type: Type, op: ComparisonOperator, opStart: number): RightTest | null {
  const opEnd = c.pos;
  skipSpace(c);
  if (type === BYTES || type === INT || type === IP) {
    if (op === 'in') return c.text.charCodeAt(c.pos) === 0x24 ? lexNamedList(c) : lexList(c, type);
    if (op === 'bitwise_and') {
      if (type === INT) return withRight(op, lexInt(c));
    } else if (op === 'contains') {
      if (type === BYTES) return withRight(op, lexBytes(c));
    } else if (op === 'matches') {
      if (type === BYTES) return withRight(op, lexRegex(c));
    } else if (op === 'wildcard' || op === 'strict wildcard') {
      if (type === BYTES) return withRight(op, lexWildcard(c));
    } else return withRight(op, lexRight(c, type));
  }
  return fail(c, opStart, opEnd, () => unsupported(op, type));
}

function withRight<O extends string, R>(op: O, right: R | null): { op: O; right: R } | null {
  return right === null ? null : { op, right };
}

/** A field is a fault: the engine cannot compare two fields. */
function lexRight(c: Cursor, type: Type): Literal | null {
  const start = c.pos;
  const literal = lexLiteral(c, type);
  const name = literal === null ? /^[\w.]+/.exec(c.text.slice(start, start + 128)) : null;
  if (name === null || !c.scheme.names.has(name[0])) return literal;
  return fail(c, c.fault!.start, c.fault!.end, `the right side must be a literal: ${name[0]} is not allowed there`);
}

export function lexLiteral(c: Cursor, type: Type): Literal | null {
  const value = type === INT ? lexInt(c) : type === IP ? lexAddress(c) : lexBytes(c);
  return value === null ? null : ({ kind: 'literal', type, value } as Literal);
}

function lexList(c: Cursor, type: Type): RightTest | null {
  if (!take(c, 0x7b)) return failExpected(c, 'a list in braces, such as {1 2 3}');
  const lexItem: (c: Cursor) => Item | null = type === INT ? lexIntRange : type === IP ? lexAddressRange : lexBytes;
  const right: Item[] = [];
  for (;;) {
    skipSpace(c);
    if (take(c, 0x7d)) return { op: 'in', right };
    if (c.text.charCodeAt(c.pos) === 0x2c) return fail(c, c.pos, c.pos + 1, 'the elements of a list are separated by spaces, not commas');
    if (c.pos === c.text.length) return failHere(c, 'the closing brace of the list is missing');
    const item = lexItem(c);
    if (item === null) return null;
    right.push(item);
  }
}

/** The fault is reported only if the rest of the text is valid: the engine has named lists. */
function lexNamedList(c: Cursor): RightTest | null {
  const start = c.pos;
  const name = /[a-z0-9_.]*/y;
  name.lastIndex = start + 1;
  const found = name.exec(c.text)![0];
  c.steps += found.length + 1;
  if (found === '' || found.startsWith('.') || found.endsWith('.')) {
    return fail(
      c,
      start + 1,
      start + 1 + found.length,
      'a list name is lower-case letters, digits, "_" and ".", and neither begins nor ends with "."',
    );
  }
  c.pos = start + 1 + found.length;
  c.list ??= { start, end: c.pos };
  return { op: 'in', right: [] };
}

function lexWildcard(c: Cursor): ByteString | null {
  const start = c.pos;
  const pattern = lexString(c);
  if (pattern === null) return null;
  const fault = checkWildcard(pattern);
  return fault === null ? pattern : fail(c, start, c.pos, fault);
}

function unsupported(op: ComparisonOperator, type: Type): string {
  if (type.kind === 'Map') return `a map cannot be compared; take one entry with ["name"], or each with [*]`;
  if (type.kind === 'Array') return `an array cannot be compared; take one element with [0], or each with [*] inside any(…) or all(…)`;
  return `${op} cannot be used on a value of type ${type.text}`;
}

const MAX_INDEX = 2n ** 32n - 1n;
const INDEX_EXPECTED = 'expected "*", a number or a quoted name';

/** The text between the brackets after a value. */
export function lexIndex(c: Cursor): Index | null {
  const start = c.pos;
  if (take(c, 0x2a)) return EACH;
  if (c.text.charCodeAt(start) === 0x22) {
    const bytes = lexString(c);
    if (bytes === null) return null;
    return decodeText(bytes) ?? fail(c, start, c.pos, 'a name in brackets must be UTF-8 text');
  }
  const index = lexInt(c);
  if (index === null) return fail(c, start, start + 1, INDEX_EXPECTED);
  if (index < 0n || index > MAX_INDEX) return fail(c, start, c.pos, `an index is from 0 to ${MAX_INDEX}`);
  return Number(index);
}

/** null: the type has no such index. */
export function indexedType(type: Type, index: Index): Type | null {
  if (index === EACH) return type.of;
  return type.kind === (typeof index === 'number' ? 'Array' : 'Map') ? type.of : null;
}

export function describeIndex(index: Index): string {
  return index === EACH ? '[*]' : typeof index === 'number' ? `[${index}]` : `[${quote(index as string)}]`;
}
