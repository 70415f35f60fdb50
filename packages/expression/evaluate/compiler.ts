/** Interface between the parts of the compiler. */
import type { Expression, Value as ValueNode } from '../ast.ts';
import type { Layout, Optional, Request, Value } from './value.ts';

/** undefined = missing. */
export type Getter = (request: Request) => Optional;

/** Values under `[*]`, in order; undefined if their container is missing. */
export type Elements = (request: Request) => readonly Value[] | undefined;

/** Throws `EvaluationError`. */
export type Run = (request: Request) => boolean;

/** Truth values under `[*]`. */
export type RunMany = (request: Request) => readonly boolean[];

export interface Compiler {
  readonly layout: Layout;
  /** Without `[*]`. */
  readonly value: (node: ValueNode) => Getter;
  /** With `[*]`. */
  readonly elements: (node: ValueNode) => Elements;
  /** Type Bool. */
  readonly truth: (node: Expression) => Run;
  /** Type Array(Bool). */
  readonly truths: (node: Expression) => RunMany;
}
