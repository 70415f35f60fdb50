/**
 * The builders of `typebox` that this project uses, with the library's types. Loading the library takes 370 modules in each of two threads,
 * a quarter of a start.
 */
import type { Type as Library, TSchema, TSchemaOptions } from 'typebox';
import type { DurationUnit } from '../text/duration.ts';

const optional = new WeakSet<object>();

const builders = {
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: object) => ({ enum: values, ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: object) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: object) => ({ type: 'null', ...options }),
  Number: (options?: object) => ({ type: 'number', ...options }),
  Object(properties: Readonly<Record<string, object>>, options?: object) {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name]!));
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** Copies the schema and marks it as not required. */
  Optional(schema: object) {
    const copy = { ...schema };
    optional.add(copy);
    return copy;
  },
  Record: (_key: object, value: object, options?: object) => ({ type: 'object', patternProperties: { '^.*$': value }, ...options }),
  String: (options?: object) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly object[], options?: object) => ({ anyOf, ...options }),
  Unknown: (options?: object) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
};

/** JSON Schema 2020-12. */
export const Type = builders as unknown as Pick<typeof Library, keyof typeof builders>;

/** A reduced version of the library's type, ten times faster to compile. */
export type Static<S> = S extends { '~unsafe': infer T }
  ? T
  : S extends { '~kind': 'Object'; properties: infer P }
    ? { [K in Required<P>]: Static<P[K]> } & { [K in Exclude<keyof P, Required<P>>]?: Static<P[K]> }
    : S extends { '~kind': 'Array'; items: infer I }
      ? Static<I>[]
      : S extends { '~kind': 'Record'; patternProperties: Readonly<Record<string, infer V>> }
        ? Record<string, Static<V>>
        : S extends { enum: infer V extends readonly unknown[] }
          ? V[number]
          : S extends { anyOf: infer U extends readonly unknown[] }
            ? Static<U[number]>
            : S extends { const: infer V }
              ? V
              : S extends { '~kind': infer K extends keyof Plain }
                ? Plain[K]
                : unknown;
type Required<P> = { [K in keyof P]: P[K] extends { '~optional': true } ? never : K }[keyof P];
interface Plain {
  readonly String: string;
  readonly Integer: number;
  readonly Number: number;
  readonly Boolean: boolean;
  readonly Null: null;
}

export const nullable = <T extends TSchema>(schema: T, options?: TSchemaOptions) => Type.Union([schema, Type.Null()], options);

export const textField = (maxLength: number, description: string, options?: TSchemaOptions) =>
  Type.Optional(Type.String({ ...options, maxLength, description }));
export const wordField = <W extends string>(words: readonly W[], description: string) =>
  Type.Optional(Type.Enum<W[]>([...words], { description }));
export const flagField = (description: string) => Type.Optional(Type.Boolean({ description }));

/** An optional whole number in `unit`, or a text such as 7d (SPEC D42.10). */
export const durationOf = (unit: DurationUnit, description: string, options?: TSchemaOptions) =>
  Type.Integer({ ...options, 'x-unit': unit, description: `${description}; or a text such as 12h, 7d.` });

/** Fields of a response with examples; a pair adds a description or schema. */
export interface Fields {
  readonly [name: string]: string | number | boolean | Fields | readonly [example: unknown, about: string | TSchema];
}

export const objectOf = (fields: Fields, options?: TSchemaOptions) =>
  Type.Object(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, schemaOf(field)])), options);

export const exampleOf = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, exampleOfField(field)]));

/** A list of objects, with one example. `rare`: schemas of fields without an example. */
export const listOf = (fields: Fields, options?: TSchemaOptions, rare: Readonly<Record<string, TSchema>> = {}) =>
  [[exampleOf(fields)], Type.Array(objectOf({ ...fields, ...rareFields(rare) }), options)] as const;

const rareFields = (rare: Readonly<Record<string, TSchema>>): Fields =>
  Object.fromEntries(Object.entries(rare).map(([name, schema]) => [name, [undefined, schema] as const]));

/** A complete response. `rare`: schemas of fields without an example. */
export const answerOf = (title: string, fields: Fields, rare: Readonly<Record<string, TSchema>> = {}) =>
  objectOf({ ...fields, ...rareFields(rare) }, { title, examples: [exampleOf(fields)] });

const exampleOfField = (field: Fields[string]): unknown => (Array.isArray(field) ? field[0] : isFields(field) ? exampleOf(field) : field);

function schemaOf(field: Fields[string]): TSchema {
  if (!Array.isArray(field)) return isFields(field) ? objectOf(field) : scalar(field);
  const [example, about] = field;
  return typeof about === 'string' ? scalar(example, { description: about }) : about;
}

const isFields = (field: Fields[string]): field is Fields => typeof field === 'object';

/** If the example is a UUID or an instant, so is every value. */
function scalar(example: unknown, options?: TSchemaOptions): TSchema {
  if (typeof example === 'boolean') return Type.Boolean(options);
  if (typeof example === 'number') return Number.isInteger(example) ? Type.Integer(options) : Type.Number(options);
  const [format] = FORMATS.find(([, pattern]) => pattern.test(String(example))) ?? [];
  return Type.String({ ...(format && { format }), ...options });
}
const FORMATS = [
  ['uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ['date-time', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/],
] as const;
