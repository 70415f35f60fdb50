/** Compiles expressions (D19.1 to D19.6). */
import type { Comparison, Expression, FilterAst, LogicalOperator, Value as ValueNode } from '../ast.ts';
import { compileTest } from './comparison.ts';
import type { Compiler, Run, RunMany } from './compiler.ts';
import { compileElements, compileValue } from './operand.ts';
import type { Layout, Value } from './value.ts';

/** For requests of the same layout. */
export function compilerOf(layout: Layout): Compiler {
  const compiler: Compiler = {
    layout,
    value: (node) => compileValue(node, compiler),
    elements: (node) => compileElements(node, compiler),
    truth: (node) => compileTruth(node, compiler),
    truths: (node) => compileTruths(node, compiler),
  };
  return compiler;
}

/** For requests of the same layout. Throws `CannotRun`. */
export function compileExpression(ast: FilterAst, layout: Layout): Run {
  const run = compileTruth(ast, compilerOf(layout));
  return (request) => {
    request.made = 0;
    return run(request);
  };
}

/** Type Bool. */
function compileTruth(ast: Expression, compiler: Compiler): Run {
  switch (ast.kind) {
    case 'combination':
      return COMBINED[ast.op](ast.items.map((item) => compileTruth(item, compiler)));
    case 'not': {
      const run = compileTruth(ast.argument, compiler);
      return (request) => !run(request);
    }
    case 'quantifier':
      return compileQuantifier(ast.op, ast.argument, compiler);
    case 'comparison': {
      const get = compileValue(ast.left, compiler);
      const test = compileTest(ast, ast.left.type);
      const missing = ast.op === 'ne';
      return (request) => {
        const value = get(request);
        return value === undefined ? missing : test(value);
      };
    }
  }
}

const COMBINED: Readonly<Record<LogicalOperator, (items: readonly Run[]) => Run>> = {
  and: (items) => (request) => {
    for (let i = 0; i < items.length; i++) if (!items[i](request)) return false;
    return true;
  },
  or: (items) => (request) => {
    for (let i = 0; i < items.length; i++) if (items[i](request)) return true;
    return false;
  },
  xor: (items) => (request) => {
    let result = false;
    for (let i = 0; i < items.length; i++) result = items[i](request) !== result;
    return result;
  },
};

/** A missing bare value fails both any and all; after a comparison it is the empty array (D19.3). */
function compileQuantifier(op: 'any' | 'all', argument: Expression | ValueNode, compiler: Compiler): Run {
  const some = op === 'any';
  if (argument.kind === 'value') {
    const get = argument.mapped > 0 ? compileElements(argument, compiler) : compileValue(argument, compiler);
    return (request) => {
      const truths = get(request);
      return truths !== undefined && (truths as readonly Value[]).includes(some) === some;
    };
  }
  const run = compileTruths(argument, compiler);
  return (request) => run(request).includes(some) === some;
}

/** Type Array(Bool). */
function compileTruths(ast: Expression, compiler: Compiler): RunMany {
  switch (ast.kind) {
    case 'combination':
      return compileEntries(
        ast.op,
        ast.items.map((item) => compileTruths(item, compiler)),
      );
    case 'not': {
      const run = compileTruths(ast.argument, compiler);
      return (request) => run(request).map((truth) => !truth);
    }
    case 'comparison':
      return compileMany(ast, compiler);
    case 'quantifier':
      throw new Error('a quantifier gives a single truth value');
  }
}

const ENTRIES: Readonly<Record<LogicalOperator, (a: boolean, b: boolean) => boolean>> = {
  and: (a, b) => a && b,
  or: (a, b) => a || b,
  xor: (a, b) => a !== b,
};

/** Entry by entry, cut to the shortest. */
function compileEntries(op: LogicalOperator, items: readonly RunMany[]): RunMany {
  const join = ENTRIES[op];
  return (request) =>
    items
      .map((item) => item(request))
      .reduce((left, right) => (left.length <= right.length ? left : left.slice(0, right.length)).map((truth, i) => join(truth, right[i])));
}

const NONE: readonly boolean[] = [];

function compileMany(ast: Comparison, compiler: Compiler): RunMany {
  const { left } = ast;
  if (left.mapped === 0) {
    const get = compileValue(left, compiler);
    return (request) => (get(request) as readonly boolean[] | undefined) ?? NONE;
  }
  const get = compileElements(left, compiler);
  const test = compileTest(ast, left.type);
  return (request) => get(request)?.map(test) ?? NONE;
}
