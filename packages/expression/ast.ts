/** Only the parser builds the tree and checks it against a scheme, so every tree is valid. It has no parentheses or escapes. */
import type { ByteString } from './bytes.ts';
import type { Field } from './scheme.ts';
import type { FunctionSignature } from './signature.ts';
import type { Type } from './types.ts';

/** An expression of type Bool. */
export type FilterAst = Expression;

/** Type Bool, or Array(Bool) under `[*]`. */
export type Expression = Combination | Negation | Quantifier | Comparison;

/** `&&`, `||` and `^^` are other spellings. */
export type LogicalOperator = 'or' | 'xor' | 'and';

/** Two or more operands, from left to right. */
interface Combination {
  readonly kind: 'combination';
  readonly type: Type;
  readonly op: LogicalOperator;
  readonly items: readonly Expression[];
}

interface Negation {
  readonly kind: 'not';
  readonly type: Type;
  readonly argument: Expression;
}

/** `any(…)` or `all(…)`: reduces an Array(Bool) to Bool. */
interface Quantifier {
  readonly kind: 'quantifier';
  readonly type: Type;
  readonly op: 'any' | 'all';
  readonly argument: Expression | Value;
}

export type Comparison = {
  readonly kind: 'comparison';
  readonly type: Type;
  readonly left: Value;
} & Test;

export type OrderingOperator = 'eq' | 'ne' | 'ge' | 'le' | 'gt' | 'lt';

/** `is true` tests a Bool value without an operator. */
export type Test = { readonly op: 'is true' } | RightTest;

export type RightTest =
  | { readonly op: OrderingOperator; readonly right: Literal }
  | { readonly op: 'in'; readonly right: readonly Item[] }
  | { readonly op: 'bitwise_and'; readonly right: bigint }
  | { readonly op: 'contains' | 'wildcard' | 'strict wildcard'; readonly right: ByteString }
  | { readonly op: 'matches'; readonly right: string };

/** A field or a function call, optionally indexed. */
export interface Value {
  readonly kind: 'value';
  /** The type after all indexes: with `[*]`, the element type. */
  readonly type: Type;
  readonly source: Field | Call;
  readonly indexes: readonly Index[];
  /** Number of `[*]` indexes. */
  readonly mapped: number;
}

/** An array index, a map key, or `[*]`: every element. */
export type Index = number | string | typeof EACH;
export const EACH = Symbol('[*]');

export interface Call {
  readonly kind: 'call';
  readonly type: Type;
  readonly signature: FunctionSignature;
  readonly arguments: readonly Argument[];
}

export type Argument = Expression | Value | Literal;

/** An address is its 4 or 16 bytes, so addresses of one family compare as strings do. */
export type Literal =
  | { readonly kind: 'literal'; readonly type: Type; readonly value: bigint }
  | { readonly kind: 'literal'; readonly type: Type; readonly value: ByteString };

/** One element of a list: a range of integers or addresses, or a string. */
export type Item = Range<bigint> | Range<ByteString> | ByteString;

/** Both ends included. */
export interface Range<T> {
  readonly first: T;
  readonly last: T;
}
