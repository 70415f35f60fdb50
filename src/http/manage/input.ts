/** What a request gives an operation, judged by the schemas of its row. */
import type { TObject } from 'typebox';
import { asMeant, readObject, repeatedFields } from '../../manage/json-object.ts';
import type { Given, Operation } from '../../manage/operation.ts';
import { shown } from '../../signal/check.ts';
import { type BatchFault, MOST_DETAILS } from '../../signal/faults.ts';
import { compile, type FieldFault } from '../../signal/validate.ts';
import { withDurations } from '../../text/duration.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { meantParameter } from '../meant-parameter.ts';

/** A request as it came: the decoded parts of its path, its query, the bytes of its body. */
export interface RawInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** Reads the input of an operation, or says what is wrong with it. */
export type ReadInput = (raw: RawInput) => Given<Record<string, unknown>, Record<string, unknown>> | HttpFault;

type Fields = Readonly<Record<string, unknown>>;
type Validate = (value: unknown) => readonly FieldFault[];

/** The reader of an operation's input; compiles its schemas. */
export function inputReader({ query, body, isReadWhereItRuns }: Operation): ReadInput {
  const [queryFaults, bodyFaults] = [query, body].map((schema) => schema && validator(schema));
  return (raw) => {
    const given = typedQuery(query, raw.query);
    const wrong = faultsOf(given, query, queryFaults, 'a parameter');
    if (wrong.length > 0) return badRequest(wrong);
    const { params, bytes } = raw;
    if (body === undefined || isReadWhereItRuns === true) return { params, query: given, body: {}, bytes };
    const read = readObject(bytes);
    if ('fault' in read) return badRequest([{ ...read.fault, value: null }]);
    const fields = asMeant(read.fields, body.properties);
    const twice = repeatedFields(bytes).map((fault) => ({ ...fault, value: null }));
    const faults = [...twice, ...faultsOf(fields, body, bodyFaults, 'a field')];
    return faults.length > 0 ? badRequest(faults) : { params, query: given, body: fields, bytes };
  };
}

const validator = (schema: TObject): Validate => compile(schema);

/** Faults of fields, those that are unknown included: a setting that is misspelt must not be passed over. */
function faultsOf(given: Fields, schema: TObject | undefined, validate: Validate | undefined, what: string): BatchFault[] {
  const known = Object.keys(schema?.properties ?? {});
  const unknown = Object.keys(given)
    .filter((name) => !known.includes(name))
    .slice(0, MOST_DETAILS)
    .map((field) => ({ field, message: `is not ${what} of this operation${insteadOf(field, known)}` }));
  // What is shown of a value may take time for each: no more of them than the answer tells.
  return [...unknown, ...(validate?.(given) ?? [])]
    .slice(0, MOST_DETAILS)
    .map(({ field, message }) => ({ field, message, value: isSecret(schema, field) ? null : shown(valueAt(given, field)) }));
}

/** What an unknown name is probably meant to be, or which names there are. */
function insteadOf(field: string, known: readonly string[]): string {
  const meant = meantParameter(field, known);
  if (meant !== undefined) return `; did you mean ${meant}?`;
  return known.length === 0 ? '' : `; there are ${known.join(', ')}`;
}

/** Whether the value of a field is shown to nobody, whatever is wrong with it. */
const isSecret = (schema: TObject | undefined, field: string): boolean =>
  (schema?.properties[field] as { readonly writeOnly?: boolean } | undefined)?.writeOnly === true;

/** The value behind a path such as `labels.0`. */
const valueAt = (given: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined | null)?.[name], given);

/** The texts of a query as its schema has them; a text that is no number or boolean stays, for the schema to refuse. */
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
