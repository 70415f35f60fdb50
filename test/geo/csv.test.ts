import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { hasCode } from '../../src/errors.ts';
import type { GeoKind } from '../../src/geo/kind.ts';
import { compileFiles, rangesByKey } from '../support/geo.ts';

interface Case {
  readonly title: string;
  readonly kind: GeoKind;
  /** The first file is the configured one. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly expected: Readonly<Record<string, string[]>>;
  readonly skipped?: number;
}

const AU_AND_CN = {
  AU: ['1.0.0.0-1.0.0.255', '1.0.4.0-1.0.7.255', '2001:200::-2001:200:ffff:ffff:ffff:ffff:ffff:ffff'],
  CN: ['1.0.1.0-1.0.3.255'],
};
const V4 = '1.0.0.0,1.0.0.255,AU\n1.0.1.0,1.0.3.255,CN\n1.0.4.0,1.0.7.255,AU\n';
const V6 = '2001:200::,2001:200:ffff:ffff:ffff:ffff:ffff:ffff,AU\n';
const LOCATIONS = `geoname_id,locale_code,continent_code,continent_name,country_iso_code,country_name,is_in_european_union
2077456,en,OC,Oceania,AU,Australia,0
1814991,en,AS,Asia,CN,China,0
7626844,en,NA,"North America",BQ,"Bonaire, Sint Eustatius, and Saba",0
831053,en,EU,Europe,XK,Kosovo,0
6255148,en,EU,Europe,,,0
`;
const BLOCKS_HEADER =
  'network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy,is_satellite_provider\n';

const CASES: readonly Case[] = [
  { title: 'start,end,country of both families in one file', kind: 'country', files: { 'a.csv': V4 + V6 }, expected: AU_AND_CN },
  {
    title: 'the file of the other family beside it is read too',
    kind: 'country',
    files: { 'x-ipv4.csv': V4, 'x-ipv6.csv': V6 },
    expected: AU_AND_CN,
  },
  {
    title: 'also when the IPv6 file is the configured one',
    kind: 'country',
    files: { 'x-IPv6.csv': V6, 'x-IPv4.csv': V4 },
    expected: AU_AND_CN,
  },
  {
    title: 'addresses as numbers',
    kind: 'country',
    files: {
      'a.csv':
        '16777216,16777471,AU\n16777472,16778239,CN\n16778240,16779263,AU\n' +
        '42540528726795050063891204319802818560,42540528806023212578155541913346768895,AU\n',
    },
    expected: AU_AND_CN,
  },
  {
    title: 'a number below 2^32 that begins an IPv6 range, and IPv4-mapped ranges',
    kind: 'country',
    files: { 'a.csv': '"0","281470681743359","DE"\n"281470698520576","281470698520831","AU"\n' },
    expected: { DE: ['::-::fffe:ffff:ffff'], AU: ['1.0.0.0-1.0.0.255'] },
  },
  {
    title: 'network,country without a header; host bits are masked, an address without a prefix is a host',
    kind: 'country',
    files: { 'a.csv': '1.0.0.9/24,au\n1.0.1.0/24,CN\n2001:db8::/32,CN\n1.0.2.1,CN\n' },
    expected: {
      AU: ['1.0.0.0-1.0.0.255'],
      CN: ['1.0.1.0-1.0.1.255', '1.0.2.1-1.0.2.1', '2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    },
  },
  {
    title: 'byte order mark, CRLF, blanks, blank lines, comments, quotes, no final line feed, rows out of order, rows that touch',
    kind: 'country',
    files: { 'a.csv': '\ufeff# made by hand\r\n\r\n "1.0.1.0" , "1.0.1.255" , "AU" , "a ""b"", c"\r\n1.0.0.0, 1.0.0.255, AU' },
    expected: { AU: ['1.0.0.0-1.0.1.255'] },
  },
  {
    title: 'countries that ISO does not have are skipped and counted: XK, A1, EU, none',
    kind: 'country',
    files: { 'a.csv': `${V4}${V6}1.1.0.0,1.1.0.1,XK\n1.1.0.2,1.1.0.3,A1\n1.1.0.4,1.1.0.5,EU\n1.1.0.6,1.1.0.7,\n1.1.0.8,1.1.0.9,-\n` },
    expected: AU_AND_CN,
    skipped: 5,
  },
  {
    title: 'GeoLite2-Country-Blocks with its Locations file, both families; what is registered somewhere is not located there',
    kind: 'country',
    files: {
      'GeoLite2-Country-Blocks-IPv4.csv': `${BLOCKS_HEADER}1.0.0.0/24,2077456,2077456,,0,0\n1.0.1.0/24,1814991,,,0,0\n1.0.2.0/23,1814991,1814991,,0,0\n1.0.4.0/22,2077456,,,0,0
5.0.0.0/24,831053,,,0,0\n5.0.1.0/24,,2077456,,1,0\n5.0.2.0/24,6255148,,,0,0\n5.0.3.0/24,7626844,,,0,0\n`,
      'GeoLite2-Country-Blocks-IPv6.csv': `${BLOCKS_HEADER}2001:200::/32,2077456,2077456,,0,0\n`,
      'GeoLite2-Country-Locations-en.csv': LOCATIONS,
      'GeoLite2-City-Locations-en.csv': 'geoname_id,country_iso_code\n2077456,DE\n',
    },
    expected: { ...AU_AND_CN, BQ: ['5.0.3.0-5.0.3.255'] },
    skipped: 3,
  },
  {
    title: 'both Blocks files written behind one another, header and all',
    kind: 'country',
    files: {
      'blocks.csv': `${BLOCKS_HEADER}1.0.0.0/24,2077456,,,0,0\n${BLOCKS_HEADER}2001:200::/32,1814991,,,0,0\n`,
      'GeoLite2-Country-Locations-en.csv': LOCATIONS,
    },
    expected: { AU: ['1.0.0.0-1.0.0.255'], CN: ['2001:200::-2001:200:ffff:ffff:ffff:ffff:ffff:ffff'] },
  },
  {
    title: 'IPinfo lite, packed with gzip',
    kind: 'country',
    files: {
      'ipinfo_lite.csv.gz': gzipSync(
        'network,country,country_code,continent,continent_code,asn,as_name,as_domain\n' +
          '1.0.0.0/24,Australia,AU,Oceania,OC,AS13335,"Cloudflare, Inc.",cloudflare.com\n' +
          '2001:db8::1,"Bonaire, Sint Eustatius, and Saba",BQ,North America,NA,,,\n',
      ),
    },
    expected: { AU: ['1.0.0.0-1.0.0.255'], BQ: ['2001:db8::1-2001:db8::1'] },
  },
  {
    title: 'IPinfo country CSV: start_ip, end_ip, country',
    kind: 'country',
    files: { 'country.csv': 'start_ip,end_ip,country,country_name\n1.0.0.0,1.0.0.255,AU,Australia\n' },
    expected: { AU: ['1.0.0.0-1.0.0.255'] },
  },
  {
    title: 'start,end,asn,organization',
    kind: 'asn',
    files: {
      'asn.csv':
        '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n2001:4:112::,2001:4:112:ffff:ffff:ffff:ffff:ffff,112,DNS-OARC\n1.0.4.0,1.0.7.255,0,none\n',
    },
    expected: { AS112: ['2001:4:112::-2001:4:112:ffff:ffff:ffff:ffff:ffff'], AS13335: ['1.0.0.0-1.0.0.255'] },
    skipped: 1,
  },
  {
    title: 'network,asn with AS in front; 32-bit numbers',
    kind: 'asn',
    files: { 'asn.csv': '1.0.0.0/24,AS4294967295\n1.0.1.0/24,as64512\n' },
    expected: { AS64512: ['1.0.1.0-1.0.1.255'], AS4294967295: ['1.0.0.0-1.0.0.255'] },
  },
  {
    title: 'GeoLite2-ASN-Blocks',
    kind: 'asn',
    files: {
      'GeoLite2-ASN-Blocks-IPv4.csv':
        'network,autonomous_system_number,autonomous_system_organization\n1.0.0.0/24,13335,"Cloudflare, ""Inc."""\n',
      'GeoLite2-ASN-Blocks-IPv6.csv': 'network,autonomous_system_number,autonomous_system_organization\n2c0f::/32,37100,SEACOM\n',
    },
    expected: { AS13335: ['1.0.0.0-1.0.0.255'], AS37100: ['2c0f::-2c0f:0:ffff:ffff:ffff:ffff:ffff:ffff'] },
  },
  {
    title: 'IPinfo lite for ASNs',
    kind: 'asn',
    files: {
      'ipinfo_lite.csv':
        'network,country,country_code,continent,continent_code,asn,as_name,as_domain\n1.0.0.0/24,Australia,AU,Oceania,OC,AS13335,"Cloudflare, Inc.",cloudflare.com\n1.0.1.0/24,China,CN,Asia,AS,,,\n',
    },
    expected: { AS13335: ['1.0.0.0-1.0.0.255'] },
    skipped: 1,
  },
];

const SETTING = { country: 'GEO_COUNTRY_FILE', asn: 'GEO_ASN_FILE' };

for (const { title, kind, files, expected, skipped = 0 } of CASES) {
  test(`D1 ${SETTING[kind]}, CSV: ${title}`, async (t) => {
    const data = await compileFiles(t, kind, files);
    assert.deepEqual(rangesByKey(data), expected);
    assert.equal(data.skippedRows, skipped);
    assert.equal(data.keys, Object.keys(expected).length);
  });
}

const rows = (count: number, from: (i: number) => string) => Array.from({ length: count }, (_, i) => from(i)).join('');
const manyRows = rows(3000, (i) => `10.${i >> 8}.${i & 255}.0/25,AU\n`);

test('D1 GEO_COUNTRY_FILE, CSV: a stray overlap among thousands of rows is counted, its addresses belong to both', async (t) => {
  const data = await compileFiles(t, 'country', { 'a.csv': `${manyRows}10.3.7.0/24,DE\n10.3.8.0/24,AU\n` });
  assert.equal(data.overlappingRows, 2);
  assert.deepEqual(rangesByKey(data).DE, ['10.3.7.0-10.3.7.255']);
  const australian = rangesByKey(data).AU;
  assert.ok(australian.includes('10.3.7.0-10.3.7.127') && australian.includes('10.3.8.0-10.3.9.127'));
});

interface Broken {
  readonly title: string;
  readonly kind: GeoKind;
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  /** What stands behind setting and file. */
  readonly says: RegExp;
}

const BROKEN: readonly Broken[] = [
  { title: 'an empty file', kind: 'country', files: { a: '' }, says: /: the file is empty$/ },
  {
    title: 'nothing but comments',
    kind: 'country',
    files: { a: '# none\n\n' },
    says: /: it holds no row with a two-letter country code \(0 rows without one\)$/,
  },
  {
    title: 'nothing but what is skipped',
    kind: 'asn',
    files: { a: '1.0.0.0,1.0.0.1,0\n' },
    says: /: it holds no row with an AS number such as 15169 or AS15169 \(1 rows without one\)$/,
  },
  {
    title: 'a bad address',
    kind: 'country',
    files: { a: `${V4}1.2.3.300,1.2.4.0,AU\n` },
    says: /: line 4: expected an IP address, found "1\.2\.3\.300"$/,
  },
  {
    title: 'a bad last address',
    kind: 'country',
    files: { a: `${V4}1.2.3.0,::g,AU\n` },
    says: /: line 4: expected an IP address, found "::g"$/,
  },
  {
    title: 'a bad network',
    kind: 'asn',
    files: { a: '1.2.3.0/24,1\n1.2.4.0/33,1\n' },
    says: /: line 2: expected a network such as 192\.0\.2\.0\/24, found "1\.2\.4\.0\/33"$/,
  },
  {
    title: 'D41.1 an IPv4-mapped network wider than an IPv4 /8',
    kind: 'country',
    files: { a: '1.2.3.0/24,AU\n::ffff:0:0/96,US\n' },
    says: /: line 2: "::ffff:0:0\/96" covers more than an IPv4 \/8; send the IPv4 network itself$/,
  },
  {
    title: 'D41.1 all of IPv4 as one IPv4-mapped range',
    kind: 'country',
    files: { a: '::ffff:0:0,::ffff:ffff:ffff,US\n' },
    says: /: line 1: the range from "::ffff:0:0" on is all of IPv4$/,
  },
  {
    title: 'a network with an empty prefix',
    kind: 'asn',
    files: { a: '1.2.3.0/24,1\n1.2.4.0/,1\n' },
    says: /: line 2: expected a network/,
  },
  {
    title: 'a range that ends before it starts',
    kind: 'country',
    files: { a: '1.0.0.5,1.0.0.4,AU\n' },
    says: /: line 1: the range ends at "1\.0\.0\.4", before its start "1\.0\.0\.5"$/,
  },
  {
    title: 'an IPv6 range that ends before it starts',
    kind: 'country',
    files: { a: '2001:db8::1,2001:db8::,AU\n' },
    says: /: line 1: the range ends at/,
  },
  {
    title: 'two families in a row',
    kind: 'country',
    files: { a: '1.0.0.5,2001:db8::,AU\n' },
    says: /: line 1: "1\.0\.0\.5" and "2001:db8::" are not of one family$/,
  },
  {
    title: 'a key that is no country',
    kind: 'country',
    files: { a: `# x\n${V4}1.1.0.0,1.1.0.1,USA\n` },
    says: /: line 5: expected a two-letter country code, found "USA"$/,
  },
  {
    title: 'an ASN file as country file',
    kind: 'country',
    files: { a: '1.0.0.0,1.0.0.255,13335,"Cloudflare, Inc."\n' },
    says: /: line 1: expected a two-letter country code, found "13335"$/,
  },
  {
    title: 'a country file as ASN file',
    kind: 'asn',
    files: { a: V4 },
    says: /: line 1: expected an AS number such as 15169 or AS15169, found "AU"$/,
  },
  {
    title: 'an ASN that is too large',
    kind: 'asn',
    files: { a: '1.0.0.0,1.0.0.255,4294967296\n' },
    says: /: line 1: expected an AS number/,
  },
  { title: 'a missing field', kind: 'country', files: { a: `${V4}1.1.0.0,1.1.0.1\n` }, says: /: line 4: expected at least 3 fields$/ },
  {
    title: 'no CSV',
    kind: 'country',
    files: { a: 'hello world\n' },
    says: /: line 1: the header names neither a column network nor the columns start and end$/,
  },
  {
    title: 'two fields',
    kind: 'country',
    files: { a: '1.0.0.0,AU\n' },
    says: /: line 1: expected start,end,country or network,country or a header, found "1\.0\.0\.0,AU"$/,
  },
  { title: 'a stray quote', kind: 'country', files: { a: '1.0.0.0,"1.0.0.1"x",AU\n' }, says: /: line 1: this is not a line of CSV$/ },
  {
    title: 'a header without a key',
    kind: 'asn',
    files: { a: 'network,country_code\n1.0.0.0/24,AU\n' },
    says: /: line 1: the header names none of the columns asn, /,
  },
  {
    title: 'a zip archive',
    kind: 'country',
    files: { a: 'PK\u0003\u0004' },
    says: /: it is a zip archive: unpack it and name the CSV or MMDB file$/,
  },
  {
    title: 'damaged gzip',
    kind: 'country',
    files: { a: gzipSync(V4).subarray(0, 30) },
    says: /: it cannot be read: unexpected end of file$/,
  },
  {
    title: 'an overlap',
    kind: 'country',
    files: { a: `${V4}1.0.2.0,1.0.2.255,DE\n` },
    says: /: line 4: the range overlaps that of line 2; an address may stand in one row only \(rows that overlap: 1\)$/,
  },
  {
    title: 'an overlap between the files of two families',
    kind: 'country',
    files: { 'ipv4.csv': V4, 'ipv6.csv': `${V6}1.0.2.0,1.0.2.255,DE\n` },
    says: /: line 2 of ipv6\.csv: the range overlaps that of line 2 of ipv4\.csv; /,
  },
  {
    title: 'exceptions inside wider networks',
    kind: 'country',
    files: { a: `10.0.0.0/8,DE\n${manyRows}` },
    says: /: line 2: the range overlaps that of line 1; .* \(rows that overlap: 3000\)$/,
  },
  {
    title: 'GeoLite2 without its Locations file',
    kind: 'country',
    files: { a: `${BLOCKS_HEADER}1.0.0.0/24,1,,,0,0\n` },
    says: /: line 1: its geoname_id column needs the …-Locations-en\.csv of the same download beside it$/,
  },
  {
    title: 'GeoLite2 with a Locations file of another time',
    kind: 'country',
    files: { a: `${BLOCKS_HEADER}1.0.0.0/24,5,,,0,0\n`, 'GeoLite2-Country-Locations-en.csv': LOCATIONS },
    says: /: line 2: expected a geoname_id of the Locations file, found "5"$/,
  },
  {
    title: 'GeoLite2 with a broken Locations file',
    kind: 'country',
    files: { a: `${BLOCKS_HEADER}1.0.0.0/24,5,,,0,0\n`, 'GeoLite2-Country-Locations-en.csv': 'geoname_id,x\n1\n' },
    says: /: line 1: the Locations file beside it cannot be read: /,
  },
];

for (const { title, kind, files, says } of BROKEN) {
  test(`D1 ${SETTING[kind]}, CSV, broken: ${title}`, async (t) => {
    await assert.rejects(compileFiles(t, kind, files), (error: Error) => {
      assert.ok(hasCode(error, 'GEO_FILE'));
      assert.ok(error.message.startsWith(`${SETTING[kind]}: /`), error.message);
      assert.match(error.message, says);
      assert.ok(!error.message.includes('\n'));
      return true;
    });
  });
}
