import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { NETWORK_SETS, protectedWord } from '../account/guard-rails.ts';
import { keyNetwork } from '../account/key.ts';
import { NAME_RULE, nameFault } from '../account/name.ts';
import { readGroupRole } from '../account/person.ts';
import type { Static } from '../json/schema.ts';
import { DURATIONS } from '../text/duration.ts';
import { isStorableText } from './storable-text.ts';

/** What free-form JSON may be: depth in levels (a flat object has one), size in bytes of its JSON. */
interface JsonLimits {
  readonly maxDepth: number;
  readonly maxBytes?: number;
}

/** Why free-form JSON cannot be kept, or undefined. Never recurses: hostile input is millions of levels deep. */
function jsonFault(value: object, { maxDepth, maxBytes }: JsonLimits): string | undefined {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) return `must be at most ${maxDepth} levels deep`;
    const deeper: object[] = [];
    for (const container of level) {
      // An array's keys are numbers, and may be thousands: they are not written out.
      const keys = Array.isArray(container) ? undefined : Object.keys(container);
      const values: readonly unknown[] = keys === undefined ? (container as unknown[]) : Object.values(container);
      for (let at = 0; at < values.length; at += 1) {
        const inner = values[at];
        if (keys !== undefined && !isStorableText(keys[at]!)) return 'must not have U+0000 or a lone surrogate in a key';
        if (typeof inner === 'string' && !isStorableText(inner)) return 'must not hold U+0000 or a lone surrogate';
        if (Number.isNaN(inner)) return `must not hold an integer beyond ±${Number.MAX_SAFE_INTEGER}; send it as text`;
        if (typeof inner === 'number' && !Number.isFinite(inner)) return 'must not hold a number beyond the range of a double';
        if (typeof inner === 'object' && inner !== null) deeper.push(inner);
      }
    }
    level = deeper;
  }
  return maxBytes !== undefined && Buffer.byteLength(JSON.stringify(value)) > maxBytes
    ? `must be at most ${maxBytes} bytes as JSON`
    : undefined;
}

const ajv = new Ajv({
  allErrors: true,
  strict: true,
  strictRequired: false,
  // TypeBox makes the schemas: nothing is found by holding each against the schema of schemas.
  validateSchema: false,
  // V8 tidies the code as well.
  code: { optimize: false },
  meta: false,
  verbose: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
});
/** The formats of texts, with what is wrong with a text that has not got it. */
const SCHEMA_FORMATS: Readonly<Record<string, { readonly fits: (text: string) => boolean; readonly message: string }>> = {
  text: { fits: isStorableText, message: 'must not hold U+0000 or a lone surrogate' },
  name: {
    fits: (text) => isStorableText(text) && nameFault(text) === null,
    message: `must have ${NAME_RULE}`,
  },
  network: { fits: (text) => keyNetwork(text) !== undefined, message: 'must be an address or a network, such as 10.0.0.0/8' },
  group_role: {
    fits: (text) => readGroupRole(text) !== undefined && isStorableText(text),
    message: 'must be a role and a group, such as operator=soc',
  },
  protected: { fits: (text) => protectedWord(text) !== undefined, message: `must be a network, or one of: ${NETWORK_SETS.join(', ')}` },
};
for (const [name, { fits }] of Object.entries(SCHEMA_FORMATS)) ajv.addFormat(name, fits);
ajv.addKeyword({
  keyword: 'x-json',
  type: 'object',
  schemaType: 'object',
  errors: true,
  validate: function validate(limits: JsonLimits, value: object) {
    const message = jsonFault(value, limits);
    (validate as { errors?: unknown[] }).errors = message === undefined ? [] : [{ keyword: 'x-json', message, params: {} }];
    return message === undefined;
  },
});

/** One thing wrong with an entry: a path such as `rule.target.ip`, and what is allowed there. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/**
 * Makes of a schema a function that lists every fault of a value, in the schema's order, one a field. The schema is compiled at the first
 * call: most threads and commands ask for few of the schemas that they load.
 */
export function compile(schema: TSchema, pathOf = dotted): (value: unknown) => readonly FieldFault[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return NONE;
    const faults = new Map<string, FieldFault>();
    for (const error of validate.errors!) {
      // Only says that one of its branches has failed.
      if (error.keyword === 'if') continue;
      const fault = MESSAGES[error.keyword as keyof typeof MESSAGES] ?? (() => error.message!);
      const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
      const inner = missingProperty ?? additionalProperty;
      const field = pathOf(error.instancePath + (inner === undefined ? '' : `/${inner}`));
      if (!faults.has(field)) faults.set(field, { field, message: fault(error.params, error.parentSchema as Limits) });
    }
    return [...faults.values()];
  };
}

const NONE: readonly FieldFault[] = [];

/** A path of a schema's fault as `rule.target.ip`. */
const dotted = (path: string): string => path.slice(1).replaceAll('/', '.');

ajv.addKeyword({ keyword: 'x-unit', schemaType: 'string' });

type Params = Record<string, unknown>;
interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: object;
  readonly 'x-unit'?: string;
}
const range = (_: Params, { minimum, maximum }: Limits) => `must be an integer from ${minimum} to ${maximum}`;
const MESSAGES: Record<string, (params: Params, schema: Limits) => string> = {
  required: () => 'is required',
  additionalProperties: (_, { properties = {} }) => `is not known; there are ${Object.keys(properties).join(', ')}`,
  type: ({ type }, schema) => typeMessage(type as string | readonly string[], schema),
  minimum: range,
  maximum: range,
  enum: ({ allowedValues }) => `must be one of: ${(allowedValues as unknown[]).map(String).join(', ')}`,
  const: ({ allowedValue }) => `must be ${allowedValue}`,
  maxLength: ({ limit }) => `must be at most ${limit} characters`,
  minLength: () => 'must not be empty',
  pattern: ({ pattern }) => `must match ${pattern}`,
  format: ({ format }) => SCHEMA_FORMATS[String(format)]!.message,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minItems: ({ limit }) => `must have at least ${limit}`,
};

/** `type` is a list where null is allowed too. */
function typeMessage(type: string | readonly string[], schema: Limits): string {
  const [main, other] = [type].flat();
  if (main === 'integer' && schema['x-unit'] !== undefined) return `${range({}, schema)}, or ${DURATIONS}`;
  if (main === 'integer') return range({}, schema) + (other === undefined ? '' : `, or ${other}`);
  return `must be ${main === 'object' || main === 'array' ? 'an' : 'a'} ${main}${other === undefined ? '' : ` or ${other}`}`;
}

/** Reads values of a shape: what `read` makes of one, or its first fault. */
export function reader<S extends TSchema, A extends unknown[], T>(shape: S, read: (value: Static<S>, ...more: A) => T) {
  const faults = compile(shape);
  return (value: unknown, ...more: A): T | string => {
    const [fault] = faults(value);
    return fault === undefined ? read(value as Static<S>, ...more) : [fault.field, fault.message].filter(Boolean).join(': ');
  };
}
