import { isCountry } from './iso3166.ts';

export const GEO_KINDS = ['country', 'asn'] as const;
export type GeoKind = (typeof GEO_KINDS)[number];

/** No assigned country or AS: the row is counted and skipped. */
export const SKIP = -1;
/** Key of an invalid text: the file is refused. */
export const INVALID = -2;

/** Of bytes [from, to): the key (0 or greater), SKIP or INVALID. */
export type KeyReader = (bytes: Uint8Array, from: number, to: number) => number;

interface KindTraits {
  /** Setting for the operator's file. */
  readonly setting: string;
  /** npm package, and its IPv4 file, with the IPv6 file in the same folder. */
  readonly packaged: { readonly name: string; readonly file: string };
  /** Files for `weir geo update`: IPv4, IPv6. */
  readonly published: readonly [string, string];
  /** Headers of the key, best first. */
  readonly columns: readonly string[];
  /** Headers of the display name. */
  readonly nameColumns: readonly string[];
  readonly readKey: KeyReader;
  /** For messages. */
  readonly expected: string;
  /** Keys, plural noun. */
  readonly plural: string;
  /** Key of a decoded MMDB record. */
  readonly recordKey: (record: Record<string, unknown>) => string | undefined;
  /** Display name in such a record. */
  readonly recordName: (record: Record<string, unknown>) => string | undefined;
}

const COUNTRY_LETTERS = 26;
const LETTER_A = 0x41;
const DASH = 0x2d;
const MAX_ASN = 0xffff_ffff;

const isNone = (bytes: Uint8Array, from: number, to: number) => to === from || (to === from + 1 && bytes[from] === DASH);
const lower = (byte: number) => byte | 0x20;
const isLetter = (byte: number) => lower(byte) >= 0x61 && lower(byte) <= 0x7a;
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const letterIndex = (byte: number) => lower(byte) - 0x61;

/** Inverse of `countryKey`. */
export const countryText = (key: number): string =>
  String.fromCharCode(LETTER_A + Math.floor(key / COUNTRY_LETTERS), LETTER_A + (key % COUNTRY_LETTERS));

const ASSIGNED = Array.from({ length: COUNTRY_LETTERS ** 2 }, (_, key) => isCountry(countryText(key)));

/** Number of an alpha-2 code in the tables: AA is 0, ZZ is 675. */
export const countryKey = (code: string): number => (code.charCodeAt(0) - LETTER_A) * COUNTRY_LETTERS + code.charCodeAt(1) - LETTER_A;

const readCountry: KeyReader = (bytes, from, to) => {
  if (isNone(bytes, from, to)) return SKIP;
  if (to !== from + 2) return INVALID;
  const [first, second] = [bytes[from], bytes[from + 1]];
  // Sources use codes such as A1 and O1 for proxies and other non-countries.
  if (isLetter(first) && isDigit(second)) return SKIP;
  if (!isLetter(first) || !isLetter(second)) return INVALID;
  const key = letterIndex(first) * COUNTRY_LETTERS + letterIndex(second);
  return ASSIGNED[key] ? key : SKIP;
};

const readAsn: KeyReader = (bytes, from, to) => {
  if (isNone(bytes, from, to)) return SKIP;
  const prefixed = to > from + 2 && lower(bytes[from]) === 0x61 && lower(bytes[from + 1]) === 0x73;
  let asn = 0;
  for (let i = prefixed ? from + 2 : from; i < to; i++) {
    if (!isDigit(bytes[i])) return INVALID;
    asn = asn * 10 + bytes[i] - 0x30;
    if (asn > MAX_ASN) return INVALID;
  }
  // AS0 marks networks that must not be announced (RFC 7607).
  return asn === 0 ? SKIP : asn;
};

const nested = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const firstText = (...values: unknown[]): string | undefined => {
  const found = values.find((value) => typeof value === 'string' || typeof value === 'number');
  return found === undefined ? undefined : String(found);
};

export const KINDS: Readonly<Record<GeoKind, KindTraits>> = {
  country: {
    setting: 'GEO_COUNTRY_FILE',
    packaged: { name: '@ip-location-db/asn-country', file: 'asn-country-ipv4.csv' },
    published: ['user-country-ipv4.csv', 'user-country-ipv6.csv'],
    columns: ['country_code', 'country_iso_code', 'iso_code', 'geoname_id', 'country'],
    nameColumns: [],
    readKey: readCountry,
    expected: 'a two-letter country code',
    plural: 'countries',
    // MaxMind and DB-IP nest it; IPinfo and ip-location-db are flat.
    recordKey: (record) => firstText(nested(record.country, 'iso_code'), record.country_code, record.country),
    recordName: () => undefined,
  },
  asn: {
    setting: 'GEO_ASN_FILE',
    packaged: { name: '@ip-location-db/asn', file: 'asn-ipv4.csv' },
    published: ['origin-asn-ipv4.csv', 'origin-asn-ipv6.csv'],
    columns: ['asn', 'autonomous_system_number', 'as_number'],
    nameColumns: ['autonomous_system_organization', 'as_name', 'as_organization', 'asn_name', 'organization', 'name'],
    readKey: readAsn,
    expected: 'an AS number such as 15169 or AS15169',
    plural: 'ASNs',
    recordKey: (record) => firstText(record.autonomous_system_number, record.asn),
    recordName: (record) => firstText(record.autonomous_system_organization, record.as_name, record.name),
  },
};

/** Returns the key, SKIP or INVALID. */
export function readKeyText(kind: GeoKind, text: string): number {
  const bytes = Buffer.from(text);
  return KINDS[kind].readKey(bytes, 0, bytes.length);
}
