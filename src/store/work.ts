/**
 * Transactions written once for both dialects: a generator yields statements and receives their results. SQLite runs them without a pause,
 * PostgreSQL awaits each.
 */
import { inChunks } from '../schedule/chunks.ts';
import type { Row } from './rows.ts';

export type Value = string | number | null | Uint8Array;

export interface Statement {
  /** With PostgreSQL placeholders `$1`, `$2`, … */
  readonly text: string;
  readonly values: readonly Value[];
  readonly reads: boolean;
  /** Prepared once per connection: frequent, and finds rows by key. */
  readonly plannedOnce?: boolean;
  /** Rows as arrays, at a third of the cost of objects. */
  readonly asArrays?: boolean;
  /** A notification of other processes: repeating it in a transaction has no effect. */
  readonly notifies?: boolean;
}

export interface Outcome {
  readonly rows: Row[];
  readonly count: number;
}

export type Work<T> = Generator<Statement, T, Outcome>;

export interface TransactOptions {
  /** May run twice if the outcome is unknown. */
  readonly repeatable?: boolean;
  /** Excludes migrations and the first key. */
  readonly alone?: boolean;
  /** Changes nothing that anybody waits for: other processes are not notified. */
  readonly isQuiet?: boolean;
  /** Timeout of the transaction, ms, if supported. */
  readonly limit?: number;
}

/** Runs all of the work in one transaction. `now`: SQL expression of the store's clock, ms. */
export type Transact = <T>(work: (now: string) => Work<T>, options?: TransactOptions) => Promise<T>;

export type Reads<T> = { readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Work<R> : never };

/** A port's writes as works; `now` as in `Transact`. */
export type Changes<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (now: string, ...args: A) => Work<R> : never;
};

type Driven<W> = { readonly [K in keyof W]: W[K] extends (...args: infer A) => Work<infer R> ? (...args: A) => Promise<R> : never };
type Transacted<W> = {
  readonly [K in keyof W]: W[K] extends (now: string, ...args: infer A) => Work<infer R> ? (...args: A) => Promise<R> : never;
};
type Called = (...args: unknown[]) => unknown;

export const driven = <W extends object>(works: W, drive: <T>(work: Work<T>) => Promise<T>): Driven<W> =>
  methodsOf(
    works,
    (work) =>
      (...args) =>
        drive(work(...args) as Work<unknown>),
  ) as Driven<W>;

/** `options`: per method. */
export const transacted = <W extends object>(
  changes: W,
  transact: Transact,
  options: { readonly [K in keyof W]?: TransactOptions },
): Transacted<W> =>
  methodsOf(
    changes,
    (change, name) =>
      (...args) =>
        transact((now) => change(now, ...args) as Work<unknown>, options[name as keyof W]),
  ) as Transacted<W>;

const methodsOf = (works: object, method: (work: Called, name: string) => Called): object =>
  Object.fromEntries(Object.entries(works).map(([name, work]) => [name, method(work as Called, name)]));

export function* run(text: string, ...values: Value[]): Work<number> {
  return (yield { text, values, reads: false }).count;
}

export function* all(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true }).rows;
}

export function* allArrays(text: string, ...values: Value[]): Work<unknown[][]> {
  return (yield { text, values, reads: true, asArrays: true }).rows as unknown as unknown[][];
}

export function* one(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* all(text, ...values))[0];
}

/** Placeholders from `$from`. */
export const placesOf = (values: readonly unknown[], from = 1): string => values.map((_, i) => `$${from + i}`).join(', ');

/** Limits of a statement. */
const [VALUES, ROWS] = [400, 100];

/** Reads in chunks of values; `text` gets their placeholders, after the ones of `before`. */
export function* allOf(values: readonly Value[], text: (places: string) => string, ...before: Value[]): Work<Row[]> {
  const rows: Row[] = [];
  for (const piece of inChunks(values, VALUES)) rows.push(...(yield* all(text(placesOf(piece, before.length + 1)), ...before, ...piece)));
  return rows;
}

/** Writes in chunks of rows; `text` gets the VALUES. */
export function* runRows(rows: Iterable<readonly Value[]>, text: (values: string) => string): Work<void> {
  for (const piece of inChunks(rows, ROWS))
    yield* run(text(piece.map((row, i) => `(${placesOf(row, i * row.length + 1)})`).join(', ')), ...piece.flat());
}

export function* notify(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield { text, values, reads: text.includes(' RETURNING '), notifies: true }).rows[0];
}

/** Combines changes: statements are prepared once, notifications sent once. */
export function* together<T>(work: Work<T>): Work<T> {
  const notified = new Map<string, Outcome>();
  let step = work.next();
  while (!step.done) {
    const { text, values, notifies = false } = step.value;
    const own = notifies ? JSON.stringify([text, ...values]) : '';
    const outcome = notified.get(own) ?? (yield { ...step.value, plannedOnce: true });
    if (notifies) notified.set(own, outcome);
    step = work.next(outcome);
  }
  return step.value;
}

/** Prepared once. */
export function* allByKey(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true, plannedOnce: true }).rows;
}

/** Prepared once. */
export function* oneByKey(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* allByKey(text, ...values))[0];
}
