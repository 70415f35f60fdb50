import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import type { Target } from '../rule.ts';

/** Wire form: exactly one field is present (spec 2.1, 2.3). */
export interface WireTarget {
  readonly ip?: string;
  readonly asn?: string;
  readonly country?: string;
}
export const TARGET_FIELDS = ['ip', 'asn', 'country'] as const;
type TargetField = (typeof TARGET_FIELDS)[number];

const ASN = /^[Aa][Ss]0*(\d{1,10})$/;
const ASN_MAX = 0xffff_ffff;
const COUNTRY = /^[A-Za-z]{2}$/;
const NO_COUNTRY = 'must be a valid ISO-3166 Alpha-2 code';

const READERS: Record<TargetField, (text: string) => Target | string> = {
  ip: (text) => {
    const network = parseNetwork(text);
    return typeof network === 'string' ? network : { kind: 'ip', network };
  },
  asn: (text) => {
    const asn = Number(ASN.exec(text)?.[1] ?? Number.NaN);
    return asn <= ASN_MAX ? { kind: 'asn', asn } : 'must be AS and a number up to 4294967295, such as AS13335';
  },
  country: (text) => (COUNTRY.test(text) ? { kind: 'country', country: text.toUpperCase() } : NO_COUNTRY),
};

export const targetFieldOf = (text: string): TargetField => (/^as\d/i.test(text) ? 'asn' : /^[a-z]{2}$/i.test(text) ? 'country' : 'ip');

/** Parses a wire field; a text names the fault. Does not check the existence of ASNs and countries. */
export const readTarget = (field: TargetField, text: string): Target | string => READERS[field](text);

/** Parses any kind of target; a text names the fault, including nonexistent countries. */
export function targetNamed(text: string, isCountry: (code: string) => boolean): Target | string {
  const target = readTarget(targetFieldOf(text), text);
  return typeof target === 'string' || target.kind !== 'country' || isCountry(target.country) ? target : NO_COUNTRY;
}

/** Canonical text: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`, `AS64500`, `US`. Part of a rule's identity. */
export function formatTarget(target: Target): string {
  if (target.kind === 'ip') return formatNetwork(target.network);
  return target.kind === 'asn' ? `AS${target.asn}` : target.country;
}

/** Canonical. */
export const writeTarget = (target: Target): WireTarget => ({ [target.kind]: formatTarget(target) });
