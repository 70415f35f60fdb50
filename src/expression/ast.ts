/**
 * The tree of a filter expression. Only the parser builds one, against a scheme, so a tree that the scheme
 * forbids does not exist. It holds what the text means, not how it was spelt: no parentheses, no escapes.
 */
import type { ByteString } from './bytes.ts';
import type { Field } from './scheme.ts';
import type { FunctionSignature } from './signature.ts';
import type { Type } from './types.ts';

/** A whole expression: its type is Bool. */
export type FilterAst = Expression;

/** What has a truth value (type Bool), or several (Array(Bool), under `[*]`). */
export type Expression = Combination | Negation | Quantifier | Comparison;

export type LogicalOperator = 'or' | 'xor' | 'and';

/** Two or more operands of one operator, left to right. */
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

/** `any(…)` or `all(…)`: one truth value from an Array(Bool). */
interface Quantifier {
  readonly kind: 'quantifier';
  readonly type: Type;
  readonly op: 'any' | 'all';
  readonly argument: Expression | Value;
}

/** A value and what is asked of it. */
export type Comparison = {
  readonly kind: 'comparison';
  readonly type: Type;
  readonly left: Value;
} & Test;

export type OrderingOperator = 'eq' | 'ne' | 'ge' | 'le' | 'gt' | 'lt';

export type Test =
  | { readonly op: 'is true' }
  | { readonly op: OrderingOperator; readonly right: Literal }
  | { readonly op: 'in'; readonly right: readonly Item[] }
  | { readonly op: 'bitwise_and'; readonly right: bigint }
  | { readonly op: 'contains' | 'wildcard' | 'strict wildcard'; readonly right: ByteString }
  | { readonly op: 'matches'; readonly right: string };

/** The value of a field or of a call, or a part of it. */
export interface Value {
  readonly kind: 'value';
  /** The type of one element when `mapped` is not 0. */
  readonly type: Type;
  readonly source: Field | Call;
  readonly indexes: readonly Index[];
  /** How many of the indexes are `[*]`. */
  readonly mapped: number;
}

/** An array index, a map key, or every element. */
export type Index = number | string | typeof EACH;
export const EACH = Symbol('[*]');

export interface Call {
  readonly kind: 'call';
  readonly type: Type;
  readonly signature: FunctionSignature;
  readonly arguments: readonly Argument[];
}

export type Argument = Expression | Value | Literal;

/** An address is its 4 or 16 bytes, so that addresses of one family compare as strings do. */
export type Literal =
  | { readonly kind: 'literal'; readonly type: Type; readonly value: bigint }
  | { readonly kind: 'literal'; readonly type: Type; readonly value: ByteString };

/** One element of a list: a range of integers or addresses (both ends included), or a string. */
export type Item = Range<bigint> | Range<ByteString> | ByteString;

export interface Range<T> {
  readonly first: T;
  readonly last: T;
}
