/**
 * Function signatures of scheme files. A parameter is an optional kind, types and an optional `...`: `field Bytes`, `literal Bytes|Int...`,
 * `field Bytes|Array(_)`; in square brackets it is optional: `[literal Int]`. The kind is `field` (a field or a call) or `literal`; without
 * it both are allowed. `...` allows more arguments like the last one. The type `any` is Bytes or an array in the first parameter, and the
 * type of the first argument in the others.
 */
import { parseType, type Type } from './types.ts';

export interface FunctionSignature {
  readonly kind: 'function';
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly required: number;
  /** Maximum number of arguments; Infinity if the last parameter repeats. */
  readonly most: number;
  /** null = the type of the first argument. */
  readonly returns: Type | null;
}

interface Parameter {
  /** null = either. */
  readonly takes: 'field' | 'literal' | null;
  readonly types: readonly Type[];
  /** Accepts an array of any type. */
  readonly anyArray: boolean;
  /** Accepts only the type of the first argument. */
  readonly asFirst: boolean;
}

const PARAMETER = /^(\[)?(?:(field|literal) )?([A-Za-z()_|]+?)(\.\.\.)?(\])?$/;

/** Returns the fault in words if invalid. */
export function parseSignature(name: string, args: readonly string[], returns: string): FunctionSignature | string {
  const parameters: Parameter[] = [];
  let required = 0;
  let repeats = false;
  for (const [index, text] of args.entries()) {
    const parts = PARAMETER.exec(text);
    if (parts === null || (parts[1] === undefined) !== (parts[5] === undefined)) return `argument ${index} "${text}" is not understood`;
    const [, optional, takes, types, more] = parts;
    if (repeats) return `argument ${index} follows a repeated one`;
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

/** `index` from 0, below `most`. */
export function parameterAt(signature: FunctionSignature, index: number): Parameter {
  return signature.parameters[Math.min(index, signature.parameters.length - 1)];
}

export function accepts(parameter: Parameter, type: Type, first: Type): boolean {
  if (parameter.asFirst) return type === first;
  return parameter.types.includes(type) || (parameter.anyArray && type.kind === 'Array');
}

/** Accepted types, for messages. */
export function describeParameter(parameter: Parameter, first: Type): string {
  if (parameter.asFirst) return first.text;
  const types = parameter.types.map((type) => type.text);
  if (parameter.anyArray) types.push('an array');
  const last = types.pop()!;
  return types.length === 0 ? last : `${types.join(', ')} or ${last}`;
}
