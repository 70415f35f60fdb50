/**
 * The builders of JSON Schema that this project uses, under the names and the types of `typebox`. Only the types are the library's: to load it
 * is 370 modules in each of two threads, a quarter of a start.
 */
import type { Type as Library, TSchema, TSchemaOptions } from 'typebox';

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
  /** A copy, which the objects that have it do not require. */
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

/** Builds JSON Schemas (2020-12); what a value of one looks like is `Static` of typebox. */
export const Type = builders as unknown as Pick<typeof Library, keyof typeof builders>;

/** The schema of a value that may be null. */
export const nullable = <T extends TSchema>(schema: T, options?: TSchemaOptions) => Type.Union([schema, Type.Null()], options);
