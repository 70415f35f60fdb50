/** The values that expressions work on, and how a request is asked for them. */
import type { ByteString } from '../bytes.ts';
import type { Field, Scheme } from '../scheme.ts';
import type { Type } from '../types.ts';

/** A 64-bit integer with sign: a number where that is exact, else a bigint. So equal integers are the same (`===`). */
export type Int = number | bigint;

/** A value: Bool, Int, Bytes, Ip (its 4 or 16 bytes), an array, or a map whose keys are in byte order. */
export type Value = boolean | Int | ByteString | readonly Value[] | ReadonlyMap<ByteString, Value>;

/** A value, or none: an absent key, an index past the end, a function that yields nothing (D19.3). */
export type Optional = Value | undefined;

/** The fields of a scheme in a fixed order: a compiled expression knows a field by its place. */
export interface Layout {
  readonly scheme: Scheme;
  readonly fields: readonly Field[];
  readonly slots: ReadonlyMap<string, number>;
}

/** One request that expressions are evaluated on. Its fields are converted when first read, and kept. */
export interface Request {
  /** By place in the layout; undefined where the field has not been read. */
  readonly values: Optional[];
  /** Converts a field; undefined = it is not carried. */
  readonly source: (field: Field) => Optional;
  /** The bytes that growing functions have made in the evaluation under way. */
  made: number;
}

/** The order of fields of a scheme. Expressions and requests that meet must have the same one. */
export function layoutOf(scheme: Scheme): Layout {
  const fields = [...scheme.names.values()].filter((definition) => definition.kind === 'field');
  return { scheme, fields, slots: new Map(fields.map((field, slot) => [field.name, slot])) };
}

/** A request whose fields come from `source`. */
export function requestOf(layout: Layout, source: Request['source']): Request {
  return { values: new Array(layout.fields.length).fill(undefined), source, made: 0 };
}

/** The value of a field; what is not carried has the agent's default, and an address has none (D19.6). */
export function readField(request: Request, field: Field, slot: number): Value {
  const known = request.values[slot];
  if (known !== undefined) return known;
  const value = request.source(field) ?? defaultOf(field.type);
  if (value === undefined) throw new EvaluationError('panic', `${field.name} is not set, and an address has no default`);
  request.values[slot] = value;
  return value;
}

/** What the agent puts into a field that it has nothing for; undefined for an address. */
export function defaultOf(type: Type): Optional {
  switch (type.kind) {
    case 'Bool':
      return false;
    case 'Int':
      return 0;
    case 'Bytes':
      return '';
    case 'Array':
      return [];
    case 'Map':
      return new Map();
    case 'Ip':
      return undefined;
  }
}

/**
 * Why an evaluation ended without a result: `panic` = the engine itself would fail (D19.6); `budget` = functions make more than
 * `MAX_MADE` bytes; `request` = a field of the request is of another type.
 */
export class EvaluationError extends Error {
  readonly code: 'panic' | 'budget' | 'request';
  constructor(code: EvaluationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Why an expression that is valid cannot be run: a function of an operator's own scheme, a regular expression too large. */
export class CannotRun extends Error {}

/** The most bytes that the functions of one evaluation may make out of shorter values. */
export const MAX_MADE = 8 * 1024 * 1024;

/** Counts bytes that a function is about to make. */
export function spend(request: Request, bytes: number): void {
  request.made += bytes;
  if (request.made > MAX_MADE) throw new EvaluationError('budget', `its functions make more than ${MAX_MADE / 1024 / 1024} MiB of values`);
}

/** The canonical form of an integer. */
export function toInt(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
