import type { Target } from '../rule.ts';
import type { Fields } from './normalize.ts';
import { readTarget, TARGET_FIELDS } from './target.ts';
import type { FieldFault } from './validate.ts';

/** What exists in the world, as this service knows it. */
export interface GeoCheck {
  hasAsn(asn: number): boolean;
  /** Of an upper-case ISO-3166 Alpha-2 code. */
  isCountry(code: string): boolean;
}

/**
 * The target in `fields`, if there is exactly one and it exists; else a fault is added, unless the schema has already seen it.
 * `path` is what comes before the field's name: empty or `rule.target.`.
 */
export function parseTarget(fields: Fields, path: '' | 'rule.target.', geo: GeoCheck, faults: FieldFault[]): Target | undefined {
  const given = TARGET_FIELDS.filter((name) => fields[name] !== undefined);
  const field = given[0];
  if (field === undefined || given.length > 1) {
    faults.push({ field: path === '' ? 'ip/asn/country' : 'rule.target', message: 'must have exactly one of ip, asn, country' });
    return undefined;
  }
  const text = fields[field];
  if (typeof text !== 'string') return undefined;
  const target = readTarget(field, text);
  const fault = typeof target === 'string' ? target : missing(target, geo);
  if (fault === undefined) return target as Target;
  faults.push({ field: path + field, message: fault });
  return undefined;
}

function missing(target: Target, geo: GeoCheck): string | undefined {
  if (target.kind === 'asn' && !geo.hasAsn(target.asn)) return `AS${target.asn} does not exist in the ASN data`;
  if (target.kind === 'country' && !geo.isCountry(target.country)) return 'must be a valid ISO-3166 Alpha-2 code';
  return undefined;
}

/** A caller's value, to be shown back to him: scalars as they are, the rest as the beginning of its JSON. */
export function shown(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value ?? null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

/** Characters that are shown of a text. */
export const SHOWN = 200;
