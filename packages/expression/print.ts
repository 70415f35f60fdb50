/** Prints a tree as text that parses to the same tree. */

import { addressText } from './address.ts';
import {
  type Argument,
  EACH,
  type Expression,
  type Index,
  type Item,
  type Literal,
  type LogicalOperator,
  type OrderingOperator,
  type Test,
  type Value,
} from './ast.ts';
import { type ByteString, decodeText } from './bytes.ts';
import { IP } from './types.ts';

const PRECEDENCE: Readonly<Record<LogicalOperator, number>> = { or: 1, xor: 2, and: 3 };
const TIGHTEST = 4;

export function printExpression(ast: Expression): string {
  return print(ast, 0);
}

const ORDERS: Readonly<Record<OrderingOperator, string>> = { eq: '==', ne: '!=', ge: '>=', le: '<=', gt: '>', lt: '<' };

/** Adds parentheses if the context binds at least as strongly. */
function print(ast: Expression, around: number): string {
  switch (ast.kind) {
    case 'combination': {
      const precedence = PRECEDENCE[ast.op];
      const text = ast.items.map((item) => print(item, precedence)).join(` ${ast.op} `);
      return precedence > around ? text : `(${text})`;
    }
    case 'not':
      return `not ${print(ast.argument, TIGHTEST)}`;
    case 'quantifier':
      return `${ast.op}(${printArgument(ast.argument)})`;
    case 'comparison':
      return `${printValue(ast.left)}${printTest(ast)}`;
  }
}

function printTest(test: Test): string {
  switch (test.op) {
    case 'is true':
      return '';
    case 'in':
      return ` in {${test.right.map(printItem).join(' ')}}`;
    case 'bitwise_and':
      return ` & ${test.right}`;
    case 'matches':
      return ` matches ${printRaw(test.right)}`;
    case 'contains':
    case 'wildcard':
    case 'strict wildcard':
      return ` ${test.op} ${printBytes(test.right)}`;
    default:
      return ` ${ORDERS[test.op]} ${printLiteral(test.right)}`;
  }
}

export function printValue(value: Value): string {
  const { source } = value;
  const name = source.kind === 'field' ? source.name : `${source.signature.name}(${source.arguments.map(printArgument).join(', ')})`;
  return name + value.indexes.map(printIndex).join('');
}

/** In an argument, a combination needs parentheses. */
function printArgument(argument: Argument): string {
  if (argument.kind === 'value') return printValue(argument);
  if (argument.kind === 'literal') return printLiteral(argument);
  // Without parentheses, a Bool value would parse as a value, not as a comparison.
  const bare = argument.kind === 'comparison' && argument.op !== 'is true';
  return bare ? print(argument, 0) : `(${print(argument, 0)})`;
}

function printIndex(index: Index): string {
  if (index === EACH) return '[*]';
  return typeof index === 'number' ? `[${index}]` : `["${(index as string).replace(/["\\]/g, '\\$&')}"]`;
}

function printLiteral(literal: Literal): string {
  if (typeof literal.value === 'bigint') return `${literal.value}`;
  return literal.type === IP ? addressText(literal.value) : printBytes(literal.value);
}

function printItem(item: Item): string {
  if (typeof item === 'string') return printBytes(item);
  const [first, last] =
    typeof item.first === 'bigint' ? [item.first, item.last] : [addressText(item.first), addressText(item.last as ByteString)];
  return first === last ? `${first}` : `${first}..${last}`;
}

export function printBytes(bytes: ByteString): string {
  return `"${escapeText(decodeText(bytes)) ?? escapeBytes(bytes)}"`;
}

/** With as many hashes as needed. */
function printRaw(text: string): string {
  let hashes = '';
  while (text.includes(`"${hashes}`)) hashes += '#';
  return `r${hashes}"${text}"${hashes}`;
}

/** Escapes invisible characters only. */
function escapeText(text: string | null): string | null {
  return text === null || /[^\P{C}\0-\x7f]|[\u2028\u2029]/u.test(text) ? null : escapeHidden(text, /\p{Cc}/gu);
}

const escapeBytes = (bytes: ByteString): string => escapeHidden(bytes, /[^ -~]/g);

function escapeHidden(text: string, hidden: RegExp): string {
  return text.replace(/["\\]/g, '\\$&').replace(hidden, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
