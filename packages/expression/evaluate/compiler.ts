/** What the parts of the compiler ask of each other. */
import type { Expression, Value as ValueNode } from '../ast.ts';
import type { Layout, Optional, Request, Value } from './value.ts';

/** Gives a value of a request; undefined = missing. */
export type Getter = (request: Request) => Optional;

/** Gives the values under `[*]`, in order; undefined when what they stand in is missing. */
export type Elements = (request: Request) => readonly Value[] | undefined;

/** Whether an expression is true for a request. Throws `EvaluationError`. */
export type Run = (request: Request) => boolean;

/** The truth values of an expression under `[*]`. */
export type RunMany = (request: Request) => readonly boolean[];

/** Compiles parts of an expression for requests of one layout. */
export interface Compiler {
  readonly layout: Layout;
  /** A value without `[*]`. */
  readonly value: (node: ValueNode) => Getter;
  /** A value with `[*]`. */
  readonly elements: (node: ValueNode) => Elements;
  /** An expression of type Bool. */
  readonly truth: (node: Expression) => Run;
  /** An expression of type Array(Bool). */
  readonly truths: (node: Expression) => RunMany;
}
