/**
 * The syntax tree of a filter expression. Only the parser builds it and checks it against a scheme, so every tree is
 * valid. It holds what the text means, not how it is written: no parentheses, no escapes.
 */
import type { ByteString } from './bytes.ts';
import type { Field } from './scheme.ts';
import type { FunctionSignature } from './signature.ts';
import type { Type } from './types.ts';

/** A whole expression; its type is Bool. */
export type FilterAst = Expression;

/** Anything that gives a truth value (type Bool), or several under `[*]` (type Array(Bool)). */
export type Expression = Combination | Negation | Quantifier | Comparison;

/** An operator between truth values; `&&`, `||` and `^^` are other spellings. */
export type LogicalOperator = 'or' | 'xor' | 'and';

/** Two or more operands of the same operator, from left to right. */
interface Combination {
  readonly kind: 'combination';
  readonly type: Type;
  readonly op: LogicalOperator;
  readonly items: readonly Expression[];
}

/** `not` and its operand. */
interface Negation {
  readonly kind: 'not';
  readonly type: Type;
  readonly argument: Expression;
}

/** `any(…)` or `all(…)`, which make one truth value of an Array(Bool). */
interface Quantifier {
  readonly kind: 'quantifier';
  readonly type: Type;
  readonly op: 'any' | 'all';
  readonly argument: Expression | Value;
}

/** A value and a test of it. */
export type Comparison = {
  readonly kind: 'comparison';
  readonly type: Type;
  readonly left: Value;
} & Test;

/** An operator between values that have an order. */
export type OrderingOperator = 'eq' | 'ne' | 'ge' | 'le' | 'gt' | 'lt';

/** The operator and the right side of a comparison; `is true` is a truth value alone. */
export type Test = { readonly op: 'is true' } | RightTest;

/** An operator with a right side. */
export type RightTest =
  | { readonly op: OrderingOperator; readonly right: Literal }
  | { readonly op: 'in'; readonly right: readonly Item[] }
  | { readonly op: 'bitwise_and'; readonly right: bigint }
  | { readonly op: 'contains' | 'wildcard' | 'strict wildcard'; readonly right: ByteString }
  | { readonly op: 'matches'; readonly right: string };

/** The value of a field or a function call, or a part of it. */
export interface Value {
  readonly kind: 'value';
  /** The type after all indexes: with `[*]`, that of one element. */
  readonly type: Type;
  readonly source: Field | Call;
  readonly indexes: readonly Index[];
  /** How many of the indexes are `[*]`. */
  readonly mapped: number;
}

/** An array index, a map key, or `[*]`: every element. */
export type Index = number | string | typeof EACH;
/** The index `[*]`. */
export const EACH = Symbol('[*]');

/** A function call. */
export interface Call {
  readonly kind: 'call';
  readonly type: Type;
  readonly signature: FunctionSignature;
  readonly arguments: readonly Argument[];
}

/** An argument of a function call. */
export type Argument = Expression | Value | Literal;

/** A literal. An address is its 4 or 16 bytes, so addresses of one family compare as strings do. */
export type Literal =
  | { readonly kind: 'literal'; readonly type: Type; readonly value: bigint }
  | { readonly kind: 'literal'; readonly type: Type; readonly value: ByteString };

/** One element of a list: a range of integers or addresses, or a string. */
export type Item = Range<bigint> | Range<ByteString> | ByteString;

/** A range, both ends included. */
export interface Range<T> {
  readonly first: T;
  readonly last: T;
}
