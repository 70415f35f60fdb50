/** The names that expressions of a kind may use, for who writes one (SPEC D18.76). */
import type { Scheme } from '@weir/expression/scheme.ts';
import type { FunctionSignature } from '@weir/expression/signature.ts';

/** A field, or a function with what it takes, as text. */
export interface ExpressionName {
  readonly name: string;
  readonly kind: 'field' | 'function';
  /** Of a field its own; of a function what it returns. */
  readonly type: string;
  /** What a function takes, such as `field Bytes, Bytes`; null for a field. */
  readonly takes: string | null;
}

/** What the grammar has built in. */
const QUANTIFIERS: readonly ExpressionName[] = ['any', 'all'].map((name) => ({
  name,
  kind: 'function',
  type: 'Bool',
  takes: 'Array(Bool)',
}));

/** The names of a scheme, fields first, each sort in alphabetical order. */
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
