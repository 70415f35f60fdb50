import type { TObject } from 'typebox';
import { normalizedFields, readObject, repeatedFields } from '../../manage/json-object.ts';
import type { Given, Operation } from '../../manage/operation.ts';
import { quoted } from '../../signal/check.ts';
import { type BatchFault, MOST_DETAILS } from '../../signal/faults.ts';
import { compile, type FieldFault } from '../../signal/validate.ts';
import { withDurations } from '../../text/duration.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { intendedParameter } from '../intended-parameter.ts';

export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

export type ReadInput = (raw: RawInput) => Given<Record<string, unknown>, Record<string, unknown>> | HttpFault;

type Fields = Readonly<Record<string, unknown>>;
type Validate = (value: unknown) => readonly FieldFault[];

export function inputReader({ query, body, validatesOwnBody }: Operation): ReadInput {
  const [queryFaults, bodyFaults] = [query, body].map((schema) => schema && validator(schema));
  return (raw) => {
    const given = typedQuery(query, raw.query);
    const wrong = faultsOf(given, query, queryFaults, 'a parameter');
    if (wrong.length > 0) return badRequest(wrong);
    const { params, bytes } = raw;
    if (body === undefined || validatesOwnBody === true) return { params, query: given, body: {}, bytes };
    const read = readObject(bytes);
    if ('fault' in read) return badRequest([{ ...read.fault, value: null }]);
    const fields = normalizedFields(read.fields, body.properties);
    const twice = repeatedFields(bytes).map((fault) => ({ ...fault, value: null }));
    const faults = [...twice, ...faultsOf(fields, body, bodyFaults, 'a field')];
    return faults.length > 0 ? badRequest(faults) : { params, query: given, body: fields, bytes };
  };
}

const validator = (schema: TObject): Validate => compile(schema);

/** Unknown fields are faults: a misspelt setting must not be ignored. */
function faultsOf(given: Fields, schema: TObject | undefined, validate: Validate | undefined, what: string): BatchFault[] {
  const known = Object.keys(schema?.properties ?? {});
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, MOST_DETAILS)
    .map((field) => ({ field, message: `is not ${what} of this operation${insteadOf(field, known)}` }));
  // Rendering a value takes time: no more than the response has.
  return [...unknown, ...(validate?.(given) ?? [])]
    .slice(0, MOST_DETAILS)
    .map(({ field, message }) => ({ field, message, value: isSecret(schema, field) ? null : quoted(valueAt(given, field)) }));
}

/** A suggestion for an unknown name, or all known names. */
function insteadOf(field: string, known: readonly string[]): string {
  const intended = intendedParameter(field, known);
  if (intended !== undefined) return `; did you mean ${intended}?`;
  return known.length === 0 ? '' : `; there are ${known.join(', ')}`;
}

/** A secret's value is never quoted. */
const isSecret = (schema: TObject | undefined, field: string): boolean =>
  (schema?.properties[field] as { readonly writeOnly?: boolean } | undefined)?.writeOnly === true;

/** `path`: such as `labels.0`. */
const valueAt = (given: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined | null)?.[name], given);

/** An invalid text stays for the schema to reject. */
const typedQuery = (schema: TObject | undefined, query: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(withDurations(query, schema?.properties ?? {})).map(([name, text]) => [name, typed(schema?.properties[name], text)]),
  );

function typed(schema: { readonly type?: unknown } | undefined, text: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (schema?.type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (schema?.type === 'boolean' && /^(1|true)$/.test(text)) return true;
  if (schema?.type === 'boolean' && /^(0|false)$/.test(text)) return false;
  return text;
}
