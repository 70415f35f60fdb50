/**
 * Function signatures as data. A parameter is written `[kind ]types[...]`, in square brackets when optional:
 * `field Bytes`, `literal Bytes|Int...`, `[literal Int]`, `field Bytes|Array(_)`. The kind is `field` (a field or a
 * call), `literal`, or absent for both; `...` on the last one means one or more. `any` alone takes Bytes or an array,
 * and after the first parameter the type of the first argument.
 */
import { parseType, type Type } from './types.ts';

export interface FunctionSignature {
  readonly kind: 'function';
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** Least number of arguments. */
  readonly required: number;
  /** Greatest number of arguments; Infinity when the last parameter repeats. */
  readonly most: number;
  /** Null: the type of the first argument. */
  readonly returns: Type | null;
}

interface Parameter {
  /** `null`: either. */
  readonly takes: 'field' | 'literal' | null;
  readonly types: readonly Type[];
  readonly anyArray: boolean;
  readonly asFirst: boolean;
}

const PARAMETER = /^(\[)?(?:(field|literal) )?([A-Za-z()_|]+?)(\.\.\.)?(\])?$/;

/** Reads one function of a scheme file; a string says what is wrong with it. */
export function parseSignature(name: string, args: readonly string[], returns: string): FunctionSignature | string {
  const parameters: Parameter[] = [];
  let required = 0;
  let repeats = false;
  for (const [index, text] of args.entries()) {
    const parts = PARAMETER.exec(text);
    if (parts === null || (parts[1] === undefined) !== (parts[5] === undefined)) return `argument ${index} "${text}" is not understood`;
    const [, optional, takes, types, more] = parts;
    if (repeats) return `argument ${index} stands behind one that repeats`;
    if (optional === undefined && required < index) return `argument ${index} is mandatory behind an optional one`;
    if (optional !== undefined && more !== undefined) return `argument ${index} cannot be optional and repeat`;
    const parameter = parseParameter(takes as 'field' | 'literal' | undefined, types, index);
    if (parameter === null) return `argument ${index} "${text}" has an unknown type`;
    parameters.push(parameter);
    if (optional === undefined) required++;
    repeats = more !== undefined;
  }
  const returned = returns === 'type of first' ? null : parseType(returns);
  if (returned === null && (returns !== 'type of first' || required === 0)) return `"${returns}" is no type to return`;
  return { kind: 'function', name, parameters, required, most: repeats ? Number.POSITIVE_INFINITY : parameters.length, returns: returned };
}

function parseParameter(takes: 'field' | 'literal' | undefined, types: string, index: number): Parameter | null {
  const any = types === 'any';
  const parameter = { takes: takes ?? null, types: [] as Type[], anyArray: any && index === 0, asFirst: any && index > 0 };
  for (const text of any ? ['Bytes'] : types.split('|')) {
    const type = parseType(text);
    if (type !== null) parameter.types.push(type);
    else if (text === 'Array(_)') parameter.anyArray = true;
    else return null;
  }
  return parameter;
}

/** The parameter that takes the argument with this index (from 0, below `most`). */
export function parameterAt(signature: FunctionSignature, index: number): Parameter {
  return signature.parameters[Math.min(index, signature.parameters.length - 1)];
}

export function accepts(parameter: Parameter, type: Type, first: Type): boolean {
  if (parameter.asFirst) return type === first;
  return parameter.types.includes(type) || (parameter.anyArray && type.kind === 'Array');
}

/** What a parameter takes, for messages. */
export function describeParameter(parameter: Parameter, first: Type): string {
  if (parameter.asFirst) return first.text;
  const types = parameter.types.map((type) => type.text);
  if (parameter.anyArray) types.push('an array');
  const last = types.pop()!;
  return types.length === 0 ? last : `${types.join(', ')} or ${last}`;
}
