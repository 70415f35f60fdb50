/** Requests as JSON: an object of fields by name (D19.7). */

import { parseAddress } from '../address.ts';
import { type ByteString, encodeText } from '../bytes.ts';
import type { Field } from '../scheme.ts';
import type { Type } from '../types.ts';
import { decodeBase64 } from './functions/base64.ts';
import { EvaluationError, type Layout, type Request, requestOf, toInt, type Value } from './value.ts';

/** `encode` converts texts to bytes. A field of a wrong type fails on reading. */
export function requestOfJson(
  layout: Layout,
  json: Readonly<Record<string, unknown>>,
  encode: (text: string) => ByteString = encodeText,
): Request {
  return requestOf(layout, (field) => {
    const value = Object.hasOwn(json, field.name) ? json[field.name] : undefined;
    return value === undefined || value === null ? undefined : valueOfJson(field, value, encode);
  });
}

/** Throws `EvaluationError` for another type. */
export function valueOfJson(field: Field, json: unknown, encode: (text: string) => ByteString): Value {
  return convert(field.type, json);

  function convert(type: Type, json: unknown): Value {
    switch (type.kind) {
      case 'Bool':
        return typeof json === 'boolean' ? json : refuse('true or false');
      case 'Int':
        return toInteger(json) ?? refuse('an integer of 64 bits, in quotes beyond 2^53');
      case 'Ip':
        return (typeof json === 'string' ? parseAddress(json) : null) ?? refuse('an IP address');
      case 'Bytes':
        return toBytes(json, encode) ?? refuse('a text, or {"base64": "…"}');
      case 'Array':
        return Array.isArray(json) ? json.map((element) => convert(type.of!, element)) : refuse('an array');
      case 'Map': {
        if (!isObject(json)) return refuse('an object');
        const entries = Object.entries(json).map(([key, value]): [ByteString, Value] => [encode(key), convert(type.of!, value)]);
        return new Map(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
      }
    }
  }

  function refuse(expected: string): never {
    throw new EvaluationError('request', `${field.name} must be ${expected}`);
  }
}

function toInteger(json: unknown): Value | null {
  if (typeof json === 'number') return Number.isSafeInteger(json) ? json : null;
  if (typeof json !== 'string' || !/^-?[0-9]{1,19}$/.test(json)) return null;
  const value = BigInt(json);
  return BigInt.asIntN(64, value) === value ? toInt(value) : null;
}

function toBytes(json: unknown, encode: (text: string) => ByteString): ByteString | null {
  if (typeof json === 'string') return encode(json);
  if (!isObject(json) || typeof json.base64 !== 'string') return null;
  const bytes = decodeBase64(json.base64);
  return bytes === '' && json.base64 !== '' ? null : bytes;
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}
