/** Each part with its value (D19.10). */

import { addressText } from '../address.ts';
import type { Argument, Expression, FilterAst, Value as ValueNode } from '../ast.ts';
import { type ByteString, decodeText } from '../bytes.ts';
import { printExpression, printValue } from '../print.ts';
import { IP, type Type } from '../types.ts';
import { compilerOf } from './compile.ts';
import type { Compiler, Getter } from './compiler.ts';
import { EvaluationError, type Layout, type Optional, type Request, type Value } from './value.ts';

/** A value as JSON: bytes outside UTF-8 as `{"latin1": …}`; long values are cut. */
export type RenderedValue =
  | boolean
  | number
  | string
  | null
  | { readonly latin1: string }
  | readonly RenderedValue[]
  | { readonly [key: string]: RenderedValue };

export interface Part {
  /** Source text; long parts are cut. */
  readonly text: string;
  /** null: missing or failed. */
  readonly value: RenderedValue;
  readonly state: 'value' | 'missing' | 'failed' | 'not reached';
  readonly parts: readonly Part[];
}

const MOST_TEXT = 200;
const MOST_ENTRIES = 20;

export function explainExpression(ast: FilterAst, layout: Layout, request: Request): Part {
  return explain(ast, compilerOf(layout), request, true);
}

function explain(ast: Expression, compiler: Compiler, request: Request, reached: boolean): Part {
  const single = ast.type.kind === 'Bool';
  const own = part(printExpression(ast), (single ? compiler.truth : compiler.truths)(ast), ast.type, request, reached);
  return { ...own, parts: partsOf(ast, compiler, request, reached) };
}

function partsOf(ast: Expression, compiler: Compiler, request: Request, reached: boolean): Part[] {
  switch (ast.kind) {
    case 'combination': {
      const parts: Part[] = [];
      // `and` ends at the first false operand, `or` at the first true one.
      let open = reached;
      for (const item of ast.items) {
        const made = explain(item, compiler, request, open);
        parts.push(made);
        if (ast.type.kind === 'Bool' && ast.op !== 'xor' && made.value === (ast.op === 'or')) open = false;
      }
      return parts;
    }
    case 'not':
      return [explain(ast.argument, compiler, request, reached)];
    case 'quantifier':
      return argumentParts([ast.argument], compiler, request, reached);
    case 'comparison':
      return ast.op === 'is true' && ast.left.source.kind === 'field' && ast.left.indexes.length === 0
        ? []
        : [explainValue(ast.left, compiler, request, reached)];
  }
}

function explainValue(node: ValueNode, compiler: Compiler, request: Request, reached: boolean): Part {
  const get: Getter = node.mapped > 0 ? compiler.elements(node) : compiler.value(node);
  const own = part(printValue(node), get, node.type, request, reached);
  return { ...own, parts: node.source.kind === 'call' ? argumentParts(node.source.arguments, compiler, request, reached) : [] };
}

function argumentParts(list: readonly Argument[], compiler: Compiler, request: Request, reached: boolean): Part[] {
  return list
    .filter((argument) => argument.kind !== 'literal')
    .map((argument) => (argument.kind === 'value' ? explainValue : explain)(argument as never, compiler, request, reached));
}

function part(text: string, get: Getter, type: Type, request: Request, reached: boolean): Part {
  const base = { text: cut(text), value: null, parts: [] };
  if (!reached) return { ...base, state: 'not reached' };
  request.made = 0;
  try {
    const value: Optional = get(request);
    return value === undefined ? { ...base, state: 'missing' } : { ...base, state: 'value', value: showValue(value, type) };
  } catch (error) {
    if (error instanceof EvaluationError) return { ...base, state: 'failed', value: error.message };
    throw error;
  }
}

/** `type` is that of the value, or of its elements. */
export function showValue(value: Value, type: Type): RenderedValue {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return baseOf(type) === IP ? addressText(value) : showBytes(value);
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const elements = value.slice(0, MOST_ENTRIES).map((element) => showValue(element, type));
    return value.length > MOST_ENTRIES ? [...elements, `… ${value.length - MOST_ENTRIES} more`] : elements;
  }
  const entries = [...(value as ReadonlyMap<ByteString, Value>)].slice(0, MOST_ENTRIES);
  return Object.fromEntries(entries.map(([key, inner]) => [cut(decodeText(key) ?? key), showValue(inner, type)]));
}

function baseOf(type: Type): Type {
  return type.of === null ? type : baseOf(type.of);
}

function showBytes(bytes: ByteString): RenderedValue {
  const text = decodeText(bytes);
  return text === null ? { latin1: cut(bytes) } : cut(text);
}

function cut(text: string): string {
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
