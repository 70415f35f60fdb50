/** Hints on constant parts (D19.11). */
import type { Comparison, Expression, Value } from '../ast.ts';
import { printExpression, printValue } from '../print.ts';

/** null: no constant result is known. */
export function constantHint(ast: Comparison): string | null {
  const why = never(ast) ?? neverInt(ast);
  if (why !== null) return `${cut(printExpression(ast))} is never true: ${why}`;
  const always = alwaysTrue(ast);
  return always === null ? null : `${cut(printExpression(ast))} is always true: ${always}`;
}

function never(ast: Comparison): string | null {
  const { left } = ast;
  if (ast.op === 'in' && ast.right.length === 0) return 'the list is empty';
  if (ast.op === 'bitwise_and' && ast.right === 0n) return 'no bit is set in 0';
  if (ast.op === 'lt' && ast.right.value === '') return 'nothing is less than the empty text';
  const [key] = left.indexes;
  const isHeader = left.source.kind === 'field' && left.source.type.kind === 'Map' && typeof key === 'string';
  if (isHeader && /[A-Z]/.test(key as string) && ast.op !== 'ne')
    return `header names are lower case: ["${(key as string).toLowerCase()}"]`;
  for (const text of literalsOf(ast)) {
    if (/[A-Z]/.test(text) && isCall(left, 'lower')) return 'lower(…) returns no upper-case letter';
    if (/[a-z]/.test(text) && isCall(left, 'upper')) return 'upper(…) returns no lower-case letter';
    if (!isField(left, 'http.request.path')) continue;
    if (text.includes('?')) return 'a path ends before the question mark: http.request.query is behind it';
    if (ast.op === 'eq' && !text.startsWith('/')) return 'a path begins with /';
  }
  return null;
}

/** Integers of a known range. */
const BOUNDS: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  'http.request.port': [0n, 65_535n],
  'tcp.srcport': [0n, 65_535n],
  'tcp.dstport': [0n, 65_535n],
  'udp.srcport': [0n, 65_535n],
  'udp.dstport': [0n, 65_535n],
  'http.response.code': [0n, 999n],
  'threat.score': [0n, 4_294_967_295n],
  'ip.src.asn': [0n, 4_294_967_295n],
  'ip.ttl': [0n, 255n],
  'http.request.content_length': [0n, 2n ** 63n - 1n],
};

function boundsOf(value: Value): readonly [bigint, bigint] | null {
  if (isCall(value, 'len')) return [0n, 2n ** 62n];
  if (value.source.kind !== 'field' || value.indexes.length > 0) return null;
  return Object.hasOwn(BOUNDS, value.source.name) ? BOUNDS[value.source.name] : null;
}

function neverInt(ast: Comparison): string | null {
  const bounds = boundsOf(ast.left);
  if (bounds === null || ast.op === 'is true' || ast.op === 'in' || ast.op === 'bitwise_and') return null;
  const right = (ast.right as { value: unknown }).value;
  if (typeof right !== 'bigint') return null;
  const [least, most] = bounds;
  const beyond =
    (ast.op === 'eq' && (right < least || right > most)) ||
    (ast.op === 'gt' && right >= most) ||
    (ast.op === 'ge' && right > most) ||
    (ast.op === 'lt' && right <= least) ||
    (ast.op === 'le' && right < least);
  return beyond ? `it is from ${least} to ${most}` : null;
}

function alwaysTrue(ast: Comparison): string | null {
  if (ast.left.indexes.length > 0 || ast.left.source.kind !== 'field') return null;
  if (ast.op === 'contains' && ast.right === '') return 'every value contains the empty text';
  if (ast.op === 'ge' && ast.right.value === '') return 'nothing is less than the empty text';
  if (ast.op === 'matches' && ast.right === '') return 'the empty regular expression matches everything';
  if ((ast.op === 'wildcard' || ast.op === 'strict wildcard') && ast.right === '*') return 'a star is any value';
  const bounds = boundsOf(ast.left);
  if (bounds === null || (ast.op !== 'ge' && ast.op !== 'gt')) return null;
  const right = ast.right.value;
  const all = typeof right === 'bigint' && (ast.op === 'ge' ? right <= bounds[0] : right < bounds[0]);
  return all ? `it is ${bounds[0]} at least` : null;
}

/** `a == 1 and a == 2` is never true, `a != 1 or a != 2` always. */
export function joinedHint(ast: Expression & { kind: 'combination' }): string | null {
  if (ast.type.kind !== 'Bool' || ast.op === 'xor') return null;
  const op = ast.op === 'and' ? 'eq' : 'ne';
  const seen = new Map<string, string>();
  for (const item of ast.items) {
    if (item.kind !== 'comparison' || item.op !== op || item.left.mapped > 0) continue;
    const value = printValue(item.left);
    const right = `${typeof item.right.value} ${item.right.value}`;
    const before = seen.get(value);
    if (before === undefined) seen.set(value, right);
    else if (before !== right)
      return op === 'eq'
        ? `${value} cannot be equal to two values: the and is never true`
        : `${value} is always different from one of two values: the or is always true; use and instead`;
  }
  return null;
}

/** Literals required of a value; an `in` list must have one element. */
function literalsOf(ast: Comparison): string[] {
  switch (ast.op) {
    case 'eq':
      return typeof ast.right.value === 'string' && ast.left.type.kind === 'Bytes' ? [ast.right.value] : [];
    case 'contains':
      return [ast.right];
    case 'in':
      return ast.right.length === 1 && typeof ast.right[0] === 'string' ? [ast.right[0]] : [];
    default:
      return [];
  }
}

const isCall = ({ source, indexes }: Value, name: string): boolean =>
  source.kind === 'call' && source.signature.name === name && (indexes.length === 0 || source.type.kind === 'Array');
const isField = ({ source, indexes }: Value, name: string): boolean =>
  source.kind === 'field' && source.name === name && indexes.length === 0;
const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
