import type { Argument, Call } from '../ast.ts';
import type { Compiler, Getter } from './compiler.ts';
import { FUNCTIONS } from './functions/table.ts';
import { CannotRun, toInt, type Value } from './value.ts';

/** A missing result is missing; under `[*]` such elements are dropped (D19.4). */
export function compileCall(call: Call, compiler: Compiler): Getter {
  const { name } = call.signature;
  if (!Object.hasOwn(FUNCTIONS, name)) throw new CannotRun(`weir does not know what the function ${name} does`);
  const [first, ...others] = call.arguments;
  const apply = FUNCTIONS[name](
    others.map((argument) => (argument.kind === 'literal' ? argument.value : null)),
    others.map((argument) => compileArgument(argument, compiler)),
  );
  if (first.kind !== 'value' || first.mapped === 0) {
    const get = compileArgument(first, compiler);
    return (request) => apply(get(request), request);
  }
  const get = compiler.elements(first);
  return (request) => {
    const elements = get(request);
    if (elements === undefined) return undefined;
    const results: Value[] = [];
    for (const element of elements) {
      const result = apply(element, request);
      if (result !== undefined) results.push(result);
    }
    return results;
  };
}

function compileArgument(argument: Argument, compiler: Compiler): Getter {
  if (argument.kind === 'literal') {
    const value = typeof argument.value === 'bigint' ? toInt(argument.value) : argument.value;
    return () => value;
  }
  if (argument.kind === 'value') return compiler.value(argument);
  return argument.type.kind === 'Bool' ? compiler.truth(argument) : compiler.truths(argument);
}
