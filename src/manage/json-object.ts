import type { TSchema } from 'typebox';
import { isTooDeep, TOO_DEEP } from '../json/json.ts';
import type { FieldFault } from '../signal/validate.ts';
import { withDurations } from '../text/duration.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Empty bytes are an empty object. */
export function readObject(bytes: Uint8Array): { readonly fields: Readonly<Record<string, unknown>> } | { readonly fault: FieldFault } {
  if (bytes.length === 0) return { fields: {} };
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    if (isTooDeep(value)) return { fault: { field: 'body', message: TOO_DEEP } };
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { fields: value as Record<string, unknown> };
    return { fault: { field: 'body', message: 'must be a JSON object' } };
  } catch {
    return { fault: { field: 'body', message: 'must be JSON in UTF-8' } };
  }
}

/** A string (a key before a colon), or a bracket. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g;

/** `JSON.parse` would use the last one. */
export function repeatedFields(bytes: Uint8Array): FieldFault[] {
  const names = new Set<string>();
  const twice = new Set<string>();
  let depth = 0;
  for (const [token, colon] of UTF8.decode(bytes).matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    else if (depth === 1 && colon !== undefined) {
      const name: string = JSON.parse(token.slice(0, -colon.length));
      (names.has(name) ? twice : names).add(name);
    }
  }
  return [...twice].map((field) => ({ field, message: 'must be given once' }));
}

/** Drops a null that is not allowed; reads durations as numbers. */
export const normalizedFields = (
  fields: Readonly<Record<string, unknown>>,
  properties: Readonly<Record<string, TSchema>>,
): Record<string, unknown> =>
  withDurations(
    Object.fromEntries(
      Object.entries(fields).filter(([name, value]) => value !== null || !Object.hasOwn(properties, name) || takesNull(properties[name]!)),
    ),
    properties,
  );

const takesNull = ({ type, anyOf }: { readonly type?: unknown; readonly anyOf?: readonly object[] }): boolean =>
  [type].flat().includes('null') || (anyOf?.some(takesNull) ?? false);
