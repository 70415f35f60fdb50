import type { Network } from '@weir/network/network.ts';
import type { Target } from '../rule.ts';
import type { Fields } from './normalize.ts';
import { readTarget, TARGET_FIELDS } from './target.ts';
import type { FieldFault } from './validate.ts';

export interface TargetCheck {
  hasAsn(asn: number): boolean;
  /** Upper-case ISO-3166 Alpha-2 code. */
  isCountry(code: string): boolean;
  /** Guard rail violations (SPEC D7); absent: none. */
  readonly blockFaults?: ((network: Network) => readonly string[]) | undefined;
  /** Blocks that guard rails only report (SPEC D62.6). */
  readonly blockWarnings?: ((network: Network) => readonly string[]) | undefined;
}

interface TargetPlace {
  readonly path: '' | 'rule.target.';
  readonly blocks: boolean;
}

/** The single existing, permitted target; otherwise adds a fault, unless the schema reported it. */
export function parseTarget(
  fields: Fields,
  { path, blocks }: TargetPlace,
  check: TargetCheck,
  faults: FieldFault[],
  warnings: string[],
): Target | undefined {
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
  if (wrong.length > 0 || typeof target === 'string') return undefined;
  if (blocks && target.kind === 'ip') warnings.push(...(check.blockWarnings?.(target.network) ?? []));
  return target;
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

/** Quotes a caller's value in a response: scalars unchanged, others as truncated JSON. */
export function quoted(value: unknown): string | number | boolean | null {
  if (value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean') return value ?? null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MOST_QUOTED ? text : `${text.slice(0, MOST_QUOTED)}…`;
}

export const MOST_QUOTED = 200;
