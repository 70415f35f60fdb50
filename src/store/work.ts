/**
 * The work of a transaction, written once for both dialects: a generator that yields its statements one after the other and is handed
 * what each of them did. SQLite drives it without a pause, so that no other statement of its connection comes between two of them;
 * PostgreSQL awaits each.
 */
import { inChunks } from '../schedule/chunks.ts';
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
  /** Whether its rows are arrays, which cost a third of what objects do where there are very many. */
  readonly asArrays?: boolean;
  /** Whether doing it again in the same transaction does nothing that counts: it tells others that something has changed. */
  readonly tells?: boolean;
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

/** Each read of a port as the work that it is. */
export type Reads<T> = { readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (...args: A) => Work<R> : never };

/** Each write of a port as the work of its transaction; `now` as for `Transact`. */
export type Changes<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => Promise<infer R> ? (now: string, ...args: A) => Work<R> : never;
};

type Driven<W> = { readonly [K in keyof W]: W[K] extends (...args: infer A) => Work<infer R> ? (...args: A) => Promise<R> : never };
type Transacted<W> = {
  readonly [K in keyof W]: W[K] extends (now: string, ...args: infer A) => Work<infer R> ? (...args: A) => Promise<R> : never;
};
type Called = (...args: unknown[]) => unknown;

/** The methods whose work this is; `drive` does it. */
export const driven = <W extends object>(works: W, drive: <T>(work: Work<T>) => Promise<T>): Driven<W> =>
  methodsOf(
    works,
    (work) =>
      (...args) =>
        drive(work(...args) as Work<unknown>),
  ) as Driven<W>;

/** The same of changes, each in a transaction; `options` of those that have some. */
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

/** Runs a statement without rows; returns how many rows it wrote. */
export function* run(text: string, ...values: Value[]): Work<number> {
  return (yield { text, values, reads: false }).count;
}

/** The rows of a statement. */
export function* all(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true }).rows;
}

/** The rows of a statement, each the values of its columns in their order. */
export function* allArrays(text: string, ...values: Value[]): Work<unknown[][]> {
  return (yield { text, values, reads: true, asArrays: true }).rows as unknown as unknown[][];
}

/** The first row of a statement. */
export function* one(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* all(text, ...values))[0];
}

/** The places of values in a statement, the first one being `$from`. */
export const placesOf = (values: readonly unknown[], from = 1): string => values.map((_, i) => `$${from + i}`).join(', ');

/** Values, and rows, of one statement: databases take so many. */
const [VALUES, ROWS] = [400, 100];

/** The rows of a statement that asks for any number of values, some at a time: `text` is given their places, which follow those of `before`. */
export function* allOf(values: readonly Value[], text: (places: string) => string, ...before: Value[]): Work<Row[]> {
  const rows: Row[] = [];
  for (const piece of inChunks(values, VALUES)) rows.push(...(yield* all(text(placesOf(piece, before.length + 1)), ...before, ...piece)));
  return rows;
}

/** Runs a statement with any number of rows, some at a time: `text` is given them as they stand behind VALUES. */
export function* runRows(rows: Iterable<readonly Value[]>, text: (values: string) => string): Work<void> {
  for (const piece of inChunks(rows, ROWS))
    yield* run(text(piece.map((row, i) => `(${placesOf(row, i * row.length + 1)})`).join(', ')), ...piece.flat());
}

/** The first row of a statement that tells others that something has changed. */
export function* tell(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield { text, values, reads: text.includes(' RETURNING '), tells: true }).rows[0];
}

/** The work of many changes that are one: their statements are planned once, and others are told once. */
export function* together<T>(work: Work<T>): Work<T> {
  const told = new Map<string, Outcome>();
  let step = work.next();
  while (!step.done) {
    const { text, values, tells = false } = step.value;
    const own = tells ? JSON.stringify([text, ...values]) : '';
    const outcome = told.get(own) ?? (yield { ...step.value, plannedOnce: true });
    if (tells) told.set(own, outcome);
    step = work.next(outcome);
  }
  return step.value;
}

/** The rows of a statement that is planned once. */
export function* allByKey(text: string, ...values: Value[]): Work<Row[]> {
  return (yield { text, values, reads: true, plannedOnce: true }).rows;
}

/** The first row of a statement that is planned once. */
export function* oneByKey(text: string, ...values: Value[]): Work<Row | undefined> {
  return (yield* allByKey(text, ...values))[0];
}
