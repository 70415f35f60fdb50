/** Values of expressions, and requests as their source. */
import type { ByteString } from '../bytes.ts';
import type { Field, Scheme } from '../scheme.ts';
import type { Type } from '../types.ts';

/** A 64-bit signed integer: a number if exact, else a bigint. Equal integers are identical (`===`). */
export type Int = number | bigint;

/** Bool, Int, Bytes, Ip (its 4 or 16 bytes), an array, or a map with keys in byte order. */
export type Value = boolean | Int | ByteString | readonly Value[] | ReadonlyMap<ByteString, Value>;

/** undefined: absent key, index past the end, function without a result (D19.3). */
export type Optional = Value | undefined;

/** Fields in a fixed order: compiled expressions use the index of a field. */
export interface Layout {
  readonly scheme: Scheme;
  readonly fields: readonly Field[];
  readonly slots: ReadonlyMap<string, number>;
}

/** Fields are converted on first use and cached. */
export interface Request {
  /** By index in the layout; undefined = not read yet. */
  readonly values: Optional[];
  /** Converts a field; undefined = absent. */
  readonly source: (field: Field) => Optional;
  /** Bytes created by functions in the current evaluation. */
  made: number;
}

/** Expressions must have the same layout as their requests. */
export function layoutOf(scheme: Scheme): Layout {
  const fields = [...scheme.names.values()].filter((definition) => definition.kind === 'field');
  return { scheme, fields, slots: new Map(fields.map((field, slot) => [field.name, slot])) };
}

export function requestOf(layout: Layout, source: Request['source']): Request {
  return { values: new Array(layout.fields.length).fill(undefined), source, made: 0 };
}

/** An absent field has the agent's default; an address has none (D19.6). */
export function readField(request: Request, field: Field, slot: number): Value {
  const known = request.values[slot];
  if (known !== undefined) return known;
  const value = request.source(field) ?? defaultOf(field.type);
  if (value === undefined) throw new EvaluationError('panic', `${field.name} is not set, and an address has no default`);
  request.values[slot] = value;
  return value;
}

/** The agent's default of an absent field; undefined for an address. */
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
 * `panic`: the engine itself would fail (D19.6); `budget`: functions create more than `MAX_MADE` bytes; `request`: a field of the request
 * is of another type.
 */
export class EvaluationError extends Error {
  readonly code: 'panic' | 'budget' | 'request';
  constructor(code: EvaluationError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A valid expression that cannot run: a function of an operator's own scheme, a regular expression too large. */
export class CannotRun extends Error {}

/** Bytes that functions may create in one evaluation. */
export const MAX_MADE = 8 * 1024 * 1024;

/** Call before creating the bytes. */
export function spend(request: Request, bytes: number): void {
  request.made += bytes;
  if (request.made > MAX_MADE) throw new EvaluationError('budget', `its functions make more than ${MAX_MADE / 1024 / 1024} MiB of values`);
}

/** The canonical form of an integer. */
export function toInt(value: bigint): Int {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
