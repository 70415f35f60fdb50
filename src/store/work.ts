/**
 * The work of a transaction, written once for both dialects: a generator that yields its statements one after the other and is handed
 * what each of them did. SQLite drives it without a pause, so that no other statement of its connection comes between two of them;
 * PostgreSQL awaits each.
 */
import type { Row } from './rows.ts';

export type Value = string | number | null | Uint8Array;

export interface Statement {
  /** Placeholders are PostgreSQL's: `$1`, `$2`, … */
  readonly text: string;
  readonly values: readonly Value[];
  /** Whether its rows are wanted. */
  readonly reads: boolean;
  /** Whether it is planned once for each connection, whatever its values: it comes often, and finds its rows by keys. */
  readonly plannedOnce?: boolean;
}

export interface Outcome {
  readonly rows: Row[];
  /** Rows read or written. */
  readonly count: number;
}

export type Work<T> = Generator<Statement, T, Outcome>;

export interface TransactOptions {
  /** May be done twice: a dialect may try it again when it does not know whether it was done. */
  readonly repeatable?: boolean;
  /** No other process migrates or makes the first key meanwhile. */
  readonly alone?: boolean;
  /** ms until the whole of it is given up, where that can happen. */
  readonly limit?: number;
}

/** Does all of the work in one transaction, or nothing. `now` is the store's clock, ms since 1970, as an expression of the dialect. */
export type Transact = <T>(work: (now: string) => Work<T>, options?: TransactOptions) => Promise<T>;

/** Runs a statement without rows; returns how many rows it wrote. */
export function* run(text: string, ...values: Value[]): Work<number> {
  return (yield { text, values, reads: false }).count;
}

/** The rows of a statement. */
export function* all(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true }).rows;
}

/** The first row of a statement. */
export function* one(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* all(text, ...values))[0];
}

/** The rows of a statement that is planned once. */
export function* allByKey(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true, plannedOnce: true }).rows;
}

/** The first row of a statement that is planned once. */
export function* oneByKey(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* allByKey(text, ...values))[0];
}
