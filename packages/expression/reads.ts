import type { Argument, Expression, FilterAst, Value } from './ast.ts';
import { type ByteString, encodeText } from './bytes.ts';

/** null: the complete field. */
export interface Read {
  readonly field: string;
  readonly key: ByteString | null;
}

/** Each once, in order of first use. */
export function readsOf(ast: FilterAst): Read[] {
  const reads = new Map<string, Read>();
  walkValues(ast, ({ source, indexes }) => {
    if (source.kind !== 'field') return;
    const [first] = indexes;
    const key = source.type.kind === 'Map' && typeof first === 'string' ? encodeText(first) : null;
    reads.set(`${source.name} ${key ?? '*'}`, { field: source.name, key });
  });
  return [...reads.values()];
}

/** Visits fields and calls, from left to right, outer ones first. */
export function walkValues(ast: Argument, visit: (value: Value) => void): void {
  switch (ast.kind) {
    case 'literal':
      return;
    case 'value':
      visit(ast);
      if (ast.source.kind === 'call') for (const argument of ast.source.arguments) walkValues(argument, visit);
      return;
    case 'combination':
      for (const item of ast.items) walkValues(item, visit);
      return;
    case 'not':
    case 'quantifier':
      walkValues(ast.argument, visit);
      return;
    case 'comparison':
      walkValues(ast.left, visit);
  }
}

/** Visits all expressions, including arguments; `negated`: after an odd number of `not`. */
export function walkExpressions(ast: Argument, visit: (expression: Expression, negated: boolean) => void, negated = false): void {
  if (ast.kind === 'literal') return;
  if (ast.kind === 'value') {
    if (ast.source.kind === 'call') for (const argument of ast.source.arguments) walkExpressions(argument, visit);
    return;
  }
  visit(ast, negated);
  if (ast.kind === 'combination') for (const item of ast.items) walkExpressions(item, visit, negated);
  else if (ast.kind === 'not') walkExpressions(ast.argument, visit, !negated);
  else if (ast.kind === 'quantifier') walkExpressions(ast.argument, visit, negated);
  else walkExpressions(ast.left, visit);
}
