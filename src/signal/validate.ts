import { Ajv, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { NETWORK_SETS, protectedWord } from '../account/guard-rails.ts';
import { keyNetwork } from '../account/key.ts';
import { NAME_RULE, nameFault } from '../account/name.ts';
import { readGroupRole } from '../account/person.ts';
import { REPEAT_RULE, repeatOf } from '../account/repeat.ts';
import type { Static } from '../json/schema.ts';
import { DURATIONS } from '../text/duration.ts';
import { isStorableText } from './storable-text.ts';

/** Limits of free-form JSON: levels (a flat object has one), bytes. */
interface JsonLimits {
  readonly maxDepth: number;
  readonly maxBytes?: number;
}

/** Never recurses: hostile input can have millions of levels. */
function jsonFault(value: object, { maxDepth, maxBytes }: JsonLimits): string | undefined {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) return `must be at most ${maxDepth} levels deep`;
    const deeper: object[] = [];
    for (const container of level) {
      // Avoids listing an array's keys.
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
  validateSchema: false,
  // V8 optimizes too.
  code: { optimize: false },
  meta: false,
  verbose: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
});
const SCHEMA_FORMATS: Readonly<Record<string, { readonly fits: (text: string) => boolean; readonly message: string }>> = {
  text: { fits: isStorableText, message: 'must not hold U+0000 or a lone surrogate' },
  name: {
    fits: (text) => isStorableText(text) && nameFault(text) === null,
    message: `must have ${NAME_RULE}`,
  },
  repeat: { fits: (text) => repeatOf(text) !== undefined, message: REPEAT_RULE },
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

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** Lists every fault, one per field, in schema order. Compiles on first call: most threads use few schemas. */
export function compile(schema: TSchema, pathOf = dotted): (value: unknown) => readonly FieldFault[] {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv.compile(schema);
    if (validate(value)) return NONE;
    const faults = new Map<string, FieldFault>();
    for (const error of validate.errors!) {
      // Only repeats a branch's failure.
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

const dotted = (path: string): string => path.slice(1).replaceAll('/', '.');

ajv.addKeyword({ keyword: 'x-unit', schemaType: 'string' });

type Params = Record<string, unknown>;
interface Limits {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: object;
  readonly enum?: readonly unknown[];
  readonly 'x-unit'?: string;
}
const oneOf = (allowed: readonly unknown[]) => `must be one of: ${allowed.map(String).join(', ')}`;
const range = (_: Params, { minimum, maximum }: Limits) => `must be an integer from ${minimum} to ${maximum}`;
const MESSAGES: Record<string, (params: Params, schema: Limits) => string> = {
  required: () => 'is required',
  additionalProperties: (_, { properties = {} }) => `is not known; there are ${Object.keys(properties).join(', ')}`,
  type: ({ type }, schema) => typeMessage(type as string | readonly string[], schema),
  minimum: range,
  maximum: range,
  enum: ({ allowedValues }) => oneOf(allowedValues as unknown[]),
  const: ({ allowedValue }) => `must be ${allowedValue}`,
  maxLength: ({ limit }) => `must be at most ${limit} characters`,
  minLength: () => 'must not be empty',
  pattern: ({ pattern }) => `must match ${pattern}`,
  format: ({ format }) => SCHEMA_FORMATS[String(format)]!.message,
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  minItems: ({ limit }) => `must have at least ${limit}`,
};

function typeMessage(type: string | readonly string[], schema: Limits): string {
  const [main, other] = [type].flat();
  if (main === 'integer' && schema.enum !== undefined) return oneOf(schema.enum);
  if (main === 'integer' && schema['x-unit'] !== undefined) return `${range({}, schema)}, or ${DURATIONS}`;
  if (main === 'integer') return range({}, schema) + (other === undefined ? '' : `, or ${other}`);
  return `must be ${main === 'object' || main === 'array' ? 'an' : 'a'} ${main}${other === undefined ? '' : ` or ${other}`}`;
}

/** Validates and converts a value: the result of `read`, or the first fault. */
export function reader<S extends TSchema, A extends unknown[], T>(shape: S, read: (value: Static<S>, ...more: A) => T) {
  const faults = compile(shape);
  return (value: unknown, ...more: A): T | string => {
    const [fault] = faults(value);
    return fault === undefined ? read(value as Static<S>, ...more) : [fault.field, fault.message].filter(Boolean).join(': ');
  };
}
