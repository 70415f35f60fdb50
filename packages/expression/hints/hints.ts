/** Hints, one sentence each (D19.11). A hint refuses nothing. */

import { addressText } from '../address.ts';
import { agentNote } from '../agent.ts';
import type { Comparison, Expression, FilterAst, Value } from '../ast.ts';
import { printExpression, printValue } from '../print.ts';
import { readsOf, walkExpressions } from '../reads.ts';
import type { Scheme } from '../scheme.ts';
import { constantHint, joinedHint } from './constant-hints.ts';
import { regexHints } from './regex-hints.ts';

const MOST = 20;
const URI = 'http.request.uri';

function asksForStart(ast: FilterAst): boolean {
  let asks = false;
  walkExpressions(ast, (expression) => {
    if (expression.kind !== 'comparison') return;
    const { source } = innermost(expression.left);
    if (source.kind !== 'field' || source.name !== URI) return;
    const anywhere = expression.op === 'contains' || (expression.op === 'matches' && !expression.right.includes('^'));
    const starred = (expression.op === 'wildcard' || expression.op === 'strict wildcard') && expression.right.startsWith('*');
    asks ||= !anywhere && !starred;
  });
  return asks;
}

/** Each hint once, in order of occurrence. */
export function hintsOf(ast: FilterAst, scheme: Scheme): string[] {
  const hints = new Set<string>();
  const add = (hint: string | null): void => {
    if (hint !== null) hints.add(hint);
  };
  walkMissing(ast, [], false, add);
  walkExpressions(ast, (expression) => {
    if (expression.kind === 'combination') add(joinedHint(expression));
    if (expression.kind !== 'comparison') return;
    add(constantHint(expression));
    add(mappedHint(expression));
    if (expression.op === 'matches') for (const hint of regexHints(expression.left, expression.right)) add(hint);
  });
  if (scheme.kind === 'waf_rule') {
    for (const { field } of readsOf(ast)) if (field !== URI || asksForStart(ast)) add(agentNote(field));
  }
  return [...hints].slice(0, MOST);
}

/** Parts that are always true or never. */
export function constantHints(ast: FilterAst): string[] {
  const hints = new Set<string>();
  walkExpressions(ast, (expression) => {
    const found =
      expression.kind === 'combination'
        ? [joinedHint(expression)]
        : expression.kind === 'comparison'
          ? [constantHint(expression), mappedHint(expression)]
          : [];
    for (const hint of found) if (hint !== null) hints.add(hint);
  });
  return [...hints].slice(0, MOST);
}

/**
 * Adds hints on expressions that are true, or never true, because of a missing value. `beside`: operands joined by `and`; if one of them
 * requires the value, no hint is needed.
 */
function walkMissing(ast: Expression, beside: readonly Expression[], negated: boolean, add: (hint: string | null) => void): void {
  switch (ast.kind) {
    case 'combination':
      for (const item of ast.items) {
        const joined = ast.op === 'and' && !negated ? ast.items.filter((other) => other !== item) : [];
        walkMissing(item, [...beside, ...joined], negated, add);
      }
      return;
    case 'not':
      walkMissing(ast.argument, beside, !negated, add);
      return;
    case 'quantifier':
      if (ast.op === 'all' && !negated) add(allHint(ast.argument, beside));
      return;
    case 'comparison':
      add(missingHint(ast, beside, negated));
  }
}

function missingHint(ast: Comparison, beside: readonly Expression[], negated: boolean): string | null {
  const { left } = ast;
  if (left.mapped > 0 || !mayBeMissing(left) || beside.some((other) => needs(other, left))) return null;
  const source = sourceOf(left);
  if (ast.op === 'ne' && !negated)
    return `${cut(printExpression(ast))} is true of every request without ${source}: join it with ${present(left)}`;
  const empty = !negated && isEmptyTest(ast);
  return empty ? `${cut(printExpression(ast))} is false of requests without ${source}: those are found by not ${present(left)}` : null;
}

/** Such as `== ""`, `len(…) == 0`, `len(…) < 1`. */
function isEmptyTest(ast: Comparison): boolean {
  if (ast.op === 'eq') return ast.right.value === '' || (isLength(ast.left) && ast.right.value === 0n);
  return isLength(ast.left) && ((ast.op === 'lt' && ast.right.value === 1n) || (ast.op === 'le' && ast.right.value === 0n));
}

const isLength = ({ source }: Value): boolean => source.kind === 'call' && source.signature.name === 'len';

/** True exactly if the value is present. */
function present(value: Value): string {
  const inner = innermost(value);
  const element = inner.type.kind === 'Array' ? `${printValue(inner)}[0]` : printValue(inner);
  return inner.type.kind === 'Int' ? `${element} >= -9223372036854775808` : `${element} contains ""`;
}

function allHint(argument: Expression | Value, beside: readonly Expression[]): string | null {
  if (argument.kind !== 'comparison' || argument.left.mapped === 0) return null;
  const { left } = argument;
  const key = innermost(left).indexes[0];
  if (typeof key !== 'string' && key !== undefined && left.source.kind === 'field') return null;
  if (beside.some((other) => needs(other, left))) return null;
  return `all(…) is true of every request without ${sourceOf(left)}: join it with any(…)`;
}

/** Whether it is true only if the value is present. */
function needs(ast: Expression, value: Value): boolean {
  if (ast.kind === 'quantifier') return ast.op === 'any' && ast.argument.kind !== 'value' && needs(ast.argument, value);
  if (ast.kind === 'combination') {
    return ast.op === 'and'
      ? ast.items.some((item) => needs(item, value))
      : ast.op === 'or' && ast.items.every((item) => needs(item, value));
  }
  return ast.kind === 'comparison' && ast.op !== 'ne' && sourceOf(ast.left) === sourceOf(value);
}

/** Whether some requests lack the value. */
function mayBeMissing(value: Value): boolean {
  const { source, indexes } = value;
  if (indexes.length > 0) return true;
  if (source.kind === 'field') return false;
  const [first] = source.arguments;
  const name = source.signature.name;
  if (name.startsWith('json_lookup_') || name === 'concat' || name === 'uuid4') return false;
  return first.kind === 'value' && first.mapped === 0 && mayBeMissing(first);
}

/** The value inside all function calls. */
function innermost(value: Value): Value {
  if (value.source.kind === 'field') return value;
  const [first] = value.source.arguments;
  return first.kind === 'value' ? innermost(first) : value;
}

/** Text of a value, such as `http.request.headers["x"]`. */
function sourceOf(value: Value): string {
  const inner = innermost(value);
  return inner.source.kind === 'field' ? printValue({ ...inner, indexes: inner.indexes.slice(0, 1) }) : printValue(inner);
}

const MAPPED = '\0\0\0\0\0\0\0\0\0\0\xff\xff';

function mappedHint(ast: Comparison): string | null {
  if (ast.left.type.kind !== 'Ip' || ast.op === 'is true') return null;
  const literals =
    ast.op === 'in' ? ast.right.map((item) => (typeof item === 'object' ? item.first : item)) : [(ast.right as { value: unknown }).value];
  const mapped = literals.find((literal) => typeof literal === 'string' && literal.length === 16 && literal.startsWith(MAPPED));
  if (mapped === undefined) return null;
  const text = addressText(mapped as string);
  return `${text} is an IPv6 address and never equal to the IPv4 address ${text.slice(7)}: write that`;
}

const cut = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
