import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import type { Target } from '../rule.ts';

/** The wire form of a target: exactly one of the three is there (spec 2.1, 2.3). */
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

/** The wire field that a text of a target belongs to. */
export const targetFieldOf = (text: string): TargetField => (/^as\d/i.test(text) ? 'asn' : /^[a-z]{2}$/i.test(text) ? 'country' : 'ip');

/** The target behind one wire field, or what is wrong with its form. Whether an ASN or country exists is not judged here. */
export const readTarget = (field: TargetField, text: string): Target | string => READERS[field](text);

/** The target that a person names, of whichever kind, or what is wrong with it; a code that is of no country is. */
export function targetNamed(text: string, isCountry: (code: string) => boolean): Target | string {
  const target = readTarget(targetFieldOf(text), text);
  return typeof target === 'string' || target.kind !== 'country' || isCountry(target.country) ? target : NO_COUNTRY;
}

/** Canonical text of a target: `192.0.2.1`, `192.0.2.0/24`, `2001:db8::/32`, `AS64500`, `US`. Part of a rule's identity. */
export function formatTarget(target: Target): string {
  if (target.kind === 'ip') return formatNetwork(target.network);
  return target.kind === 'asn' ? `AS${target.asn}` : target.country;
}

/** The canonical wire form of a target. */
export const writeTarget = (target: Target): WireTarget => ({ [target.kind]: formatTarget(target) });
