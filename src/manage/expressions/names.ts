/** SPEC D18.76. */
import type { Scheme } from '@weir/expression/scheme.ts';
import type { FunctionSignature } from '@weir/expression/signature.ts';

export interface ExpressionName {
  readonly name: string;
  readonly kind: 'field' | 'function';
  /** Of a function: the return type. */
  readonly type: string;
  /** Such as `field Bytes, Bytes`; null for a field. */
  readonly takes: string | null;
}

const QUANTIFIERS: readonly ExpressionName[] = ['any', 'all'].map((name) => ({
  name,
  kind: 'function',
  type: 'Bool',
  takes: 'Array(Bool)',
}));

/** Sorted: fields first. */
export function expressionNames({ names }: Scheme): ExpressionName[] {
  const all = [...names.values()].map(
    (each): ExpressionName =>
      each.kind === 'field'
        ? { name: each.name, kind: 'field', type: each.type.text, takes: null }
        : { name: each.name, kind: 'function', type: each.returns?.text ?? 'type of first', takes: takesOf(each) },
  );
  return [...all, ...QUANTIFIERS].toSorted((a, b) => a.kind.localeCompare(b.kind) || (a.name < b.name ? -1 : 1));
}

const takesOf = ({ parameters, required, most }: FunctionSignature): string =>
  parameters
    .map(({ takes, types, anyArray, asFirst }, i) => {
      const accepted = asFirst ? ['type of first'] : [...types.map(({ text }) => text), ...(anyArray ? ['Array'] : [])];
      const text = `${takes === null ? '' : `${takes} `}${accepted.join(' or ')}`;
      if (i >= required) return `[${text}]`;
      return most === Number.POSITIVE_INFINITY && i === parameters.length - 1 ? `${text}, …` : text;
    })
    .join(', ');
