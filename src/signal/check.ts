import type { Network } from '@weir/network/network.ts';
import type { Target } from '../rule.ts';
import type { Fields } from './normalize.ts';
import { readTarget, TARGET_FIELDS } from './target.ts';
import type { FieldFault } from './validate.ts';

/** What targets are judged by: what exists in the world, as this service knows it, and what may be blocked. */
export interface TargetCheck {
  hasAsn(asn: number): boolean;
  /** Of an upper-case ISO-3166 Alpha-2 code. */
  isCountry(code: string): boolean;
  /** Why a network must not be blocked (SPEC D7); absent where every network may be. */
  readonly blockFaults?: ((network: Network) => readonly string[]) | undefined;
}

/** Where an entry has its target, and whether it blocks it. */
interface TargetPlace {
  /** What comes before the field's name. */
  readonly path: '' | 'rule.target.';
  readonly blocks: boolean;
}

/**
 * The target in `fields`, if there is exactly one, it exists and may be blocked where it is to be; else a fault is added, unless the
 * schema has already seen it.
 */
export function parseTarget(fields: Fields, { path, blocks }: TargetPlace, check: TargetCheck, faults: FieldFault[]): Target | undefined {
  const given = TARGET_FIELDS.filter((name) => fields[name] !== undefined);
  const field = given[0];
  if (field === undefined || given.length > 1) {
    faults.push({ field: path === '' ? 'ip/asn/country' : 'rule.target', message: 'must have exactly one of ip, asn, country' });
    return undefined;
  }
  const text = fields[field];
  if (typeof text !== 'string') return undefined;
  const target = readTarget(field, text);
  const wrong = typeof target === 'string' ? [target] : targetFaults(target, blocks, check);
  for (const message of wrong) faults.push({ field: path + field, message });
  return wrong.length === 0 ? (target as Target) : undefined;
}

function targetFaults(target: Target, blocks: boolean, check: TargetCheck): readonly string[] {
  switch (target.kind) {
    case 'asn':
      return check.hasAsn(target.asn) ? [] : [`AS${target.asn} does not exist in the ASN data`];
    case 'country':
      return check.isCountry(target.country) ? [] : ['must be a valid ISO-3166 Alpha-2 code'];
    case 'ip':
      return (blocks && check.blockFaults?.(target.network)) || [];
  }
}

/** A caller's value, to be shown back to him: scalars as they are, the rest as the beginning of its JSON. */
export function shown(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value ?? null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

/** Characters that are shown of a text. */
export const SHOWN = 200;
