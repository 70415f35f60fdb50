import { isCountry } from './iso3166.ts';

/** The two kinds of geo data. */
export const GEO_KINDS = ['country', 'asn'] as const;
export type GeoKind = (typeof GEO_KINDS)[number];

/** A row that belongs to no country or AS that weir knows: counted and left out. */
export const SKIP = -1;
/** What cannot be a key of this kind at all: a fault of the file. */
export const INVALID = -2;

/** Reads the key of a row out of bytes [from, to): a number from 0, SKIP or INVALID. */
export type KeyReader = (bytes: Uint8Array, from: number, to: number) => number;

interface KindTraits {
  /** The environment setting that names the operator's file. */
  readonly setting: string;
  /** The npm package of the packaged data, and its IPv4 file; the IPv6 file is its twin. */
  readonly packaged: { readonly name: string; readonly file: string };
  /** Header names of the key's column, best first. */
  readonly columns: readonly string[];
  readonly readKey: KeyReader;
  /** What a key looks like, for messages. */
  readonly expected: string;
  /** The key's text in a decoded MMDB record; undefined when the record has none. */
  readonly recordKey: (record: Record<string, unknown>) => string | undefined;
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

const ASSIGNED = Array.from({ length: COUNTRY_LETTERS ** 2 }, (_, key) =>
  isCountry(String.fromCharCode(LETTER_A + Math.floor(key / COUNTRY_LETTERS), LETTER_A + (key % COUNTRY_LETTERS))),
);

/** The number that stands for an alpha-2 code in the tables: AA is 0, ZZ is 675. */
export const countryKey = (code: string): number => (code.charCodeAt(0) - LETTER_A) * COUNTRY_LETTERS + code.charCodeAt(1) - LETTER_A;

const readCountry: KeyReader = (bytes, from, to) => {
  if (isNone(bytes, from, to)) return SKIP;
  if (to !== from + 2) return INVALID;
  const [first, second] = [bytes[from], bytes[from + 1]];
  // Sources use codes such as A1, O1 and XK for what is no country.
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
  // AS0 marks what nobody may announce (RFC 7607).
  return asn === 0 ? SKIP : asn;
};

const nested = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const firstText = (...values: unknown[]): string | undefined => {
  const found = values.find((value) => typeof value === 'string' || typeof value === 'number');
  return found === undefined ? undefined : String(found);
};

/** What differs between the kinds. */
export const KINDS: Readonly<Record<GeoKind, KindTraits>> = {
  country: {
    setting: 'GEO_COUNTRY_FILE',
    packaged: { name: '@ip-location-db/asn-country', file: 'asn-country-ipv4.csv' },
    columns: ['country_code', 'country_iso_code', 'iso_code', 'geoname_id', 'country'],
    readKey: readCountry,
    expected: 'a two-letter country code',
    // MaxMind and DB-IP nest it; IPinfo and ip-location-db are flat.
    recordKey: (record) => firstText(nested(record.country, 'iso_code'), record.country_code, record.country),
  },
  asn: {
    setting: 'GEO_ASN_FILE',
    packaged: { name: '@ip-location-db/asn', file: 'asn-ipv4.csv' },
    columns: ['asn', 'autonomous_system_number', 'as_number'],
    readKey: readAsn,
    expected: 'an AS number such as 15169 or AS15169',
    recordKey: (record) => firstText(record.autonomous_system_number, record.asn),
  },
};

/** The key in a text; SKIP or INVALID as with bytes. */
export function readKeyText(kind: GeoKind, text: string): number {
  const bytes = Buffer.from(text);
  return KINDS[kind].readKey(bytes, 0, bytes.length);
}
