import assert from 'node:assert/strict';
import { test } from 'node:test';
import ipaddr from 'ipaddr.js';
import { type CountryResponse, Reader } from 'mmdb-lib';
import { hasCode } from '../../src/errors.ts';
import { compileFiles, rangesByKey } from '../support/geo.ts';
import { type MmdbOptions, type MmdbValue, mmdb } from '../support/mmdb.ts';

const maxmind = (code: string): MmdbValue => ({ continent: { code: 'XX' }, country: { iso_code: code, geoname_id: 1 } });
const NETWORKS = {
  '1.0.0.0/24': maxmind('AU'),
  '1.0.1.0/24': maxmind('CN'),
  '1.0.2.0/23': maxmind('CN'),
  '128.0.0.0/1': maxmind('US'),
  '9.9.9.9/32': maxmind('CH'),
  '2001:200::/32': maxmind('JP'),
  '2001:db8::1/128': maxmind('DE'),
  'ff00::/9': maxmind('US'),
};
const IPV4 = {
  AU: ['1.0.0.0-1.0.0.255'],
  CH: ['9.9.9.9-9.9.9.9'],
  CN: ['1.0.1.0-1.0.3.255'],
};
const EXPECTED = {
  ...IPV4,
  US: ['128.0.0.0-255.255.255.255', 'ff00::-ff7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  DE: ['2001:db8::1-2001:db8::1'],
  JP: ['2001:200::-2001:200:ffff:ffff:ffff:ffff:ffff:ffff'],
};

for (const recordSize of [24, 28, 32] as const) {
  for (const hasAliases of [false, true]) {
    test(`D1 GEO_COUNTRY_FILE, MMDB: record size ${recordSize}, ${hasAliases ? 'with' : 'without'} aliases of the IPv4 subtree`, async (t) => {
      const data = await compileFiles(t, 'country', {
        'x.mmdb': mmdb(NETWORKS, { recordSize, hasAliases, databaseType: 'GeoLite2-Country' }),
      });
      assert.deepEqual(rangesByKey(data), EXPECTED);
      assert.equal(data.format, 'MMDB (GeoLite2-Country)');
      assert.deepEqual([data.rows, data.skippedRows, data.overlappingRows], [8, 0, 0]);
    });
  }
  test(`D1 GEO_COUNTRY_FILE, MMDB: record size ${recordSize}, an IPv4 database`, async (t) => {
    const networks = Object.fromEntries(Object.entries(NETWORKS).filter(([network]) => !network.includes(':')));
    const data = await compileFiles(t, 'country', { x: mmdb(networks, { recordSize, ipVersion: 4, buildEpoch: 1_768_000_000 }) });
    assert.deepEqual(rangesByKey(data), { ...IPV4, US: ['128.0.0.0-255.255.255.255'] });
    assert.equal(data.date, '2026-01-09');
  });
}

test('D1 GEO_COUNTRY_FILE, MMDB: Teredo and 6to4 space with data of its own is kept', async (t) => {
  const networks = { '1.0.0.0/24': maxmind('AU'), '2001::/33': maxmind('US'), '2002:100::/24': maxmind('CN') };
  assert.deepEqual(rangesByKey(await compileFiles(t, 'country', { x: mmdb(networks) })), {
    AU: ['1.0.0.0-1.0.0.255'],
    US: ['2001::-2001:0:7fff:ffff:ffff:ffff:ffff:ffff'],
    CN: ['2002:100::-2002:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  });
});

test('D1 GEO_COUNTRY_FILE, MMDB: all of IPv4 in one record, aliased or not', async (t) => {
  const ownData = { '0.0.0.0/0': maxmind('AU'), '2003::/16': maxmind('AU') };
  const aliased = { ...ownData, '::ffff:0:0/96': maxmind('AU'), '2001::/32': maxmind('AU'), '2002::/16': maxmind('AU') };
  for (const networks of [ownData, aliased]) {
    assert.deepEqual(rangesByKey(await compileFiles(t, 'country', { x: mmdb(networks) })), {
      AU: ['0.0.0.0-255.255.255.255', '2003::-2003:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    });
  }
});

const RECORDS: readonly [string, Record<string, MmdbValue>][] = [
  ['MaxMind and DB-IP', { country: { iso_code: 'AU' }, autonomous_system_number: 13335, autonomous_system_organization: 'x' }],
  ['IPinfo lite', { country: 'Australia', country_code: 'AU', asn: 'AS13335', as_name: 'x' }],
  ['IPinfo country and ASN', { country: 'AU', country_name: 'Australia', asn: 'AS13335' }],
  ['ip-location-db', { country_code: 'AU', autonomous_system_number: 13335 }],
];
for (const [vendor, record] of RECORDS) {
  test(`D1 GEO_COUNTRY_FILE, GEO_ASN_FILE, MMDB: records of ${vendor}`, async (t) => {
    const file = mmdb({ '1.0.0.0/24': record });
    assert.deepEqual(rangesByKey(await compileFiles(t, 'country', { x: file })), { AU: ['1.0.0.0-1.0.0.255'] });
    assert.deepEqual(rangesByKey(await compileFiles(t, 'asn', { x: file })), { AS13335: ['1.0.0.0-1.0.0.255'] });
  });
}

test('D1 GEO_COUNTRY_FILE, MMDB: XK and records without a country are skipped and counted', async (t) => {
  const data = await compileFiles(t, 'country', {
    x: mmdb({
      '1.0.0.0/24': maxmind('XK'),
      '1.0.1.0/24': { registered_country: { iso_code: 'AU' } },
      '1.0.2.0/24': maxmind('AU'),
      '1.0.3.0/24': {},
    }),
  });
  assert.deepEqual(rangesByKey(data), { AU: ['1.0.2.0-1.0.2.255'] });
  assert.equal(data.skippedRows, 3);
});

test('D1 GEO_COUNTRY_FILE, MMDB: the file of the other family beside it is read too', async (t) => {
  const data = await compileFiles(t, 'country', {
    'c-ipv4.mmdb': mmdb({ '1.0.0.0/24': maxmind('AU') }, { ipVersion: 4 }),
    'c-ipv6.mmdb': mmdb({ '2001:200::/32': maxmind('AU') }),
  });
  assert.deepEqual(rangesByKey(data), { AU: ['1.0.0.0-1.0.0.255', '2001:200::-2001:200:ffff:ffff:ffff:ffff:ffff:ffff'] });
});

/** A repeatable stream of numbers below 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Disjoint networks that cover both families unevenly, by cutting prefixes at random. */
function randomNetworks(random: () => number): Record<string, MmdbValue> {
  const networks: Record<string, MmdbValue> = {};
  const cut = (bytes: readonly number[], prefix: number, mustCutTo: number): void => {
    if (prefix < mustCutTo || (prefix < bytes.length * 8 && random() < 0.5)) {
      const upper = [...bytes];
      upper[prefix >> 3] |= 0x80 >> (prefix & 7);
      cut(bytes, prefix + 1, mustCutTo);
      cut(upper, prefix + 1, mustCutTo);
    } else if (random() < 0.7) {
      networks[`${ipaddr.fromByteArray([...bytes]).toString()}/${prefix}`] = maxmind(['AU', 'CN', 'DE', 'US'][Math.floor(random() * 4)]);
    }
  };
  cut([0, 0, 0, 0], 0, 6);
  cut([0x24, ...new Array(15).fill(0)], 8, 13);
  return networks;
}

test('D1 GEO_COUNTRY_FILE, MMDB: every address has the country that a lookup by mmdb-lib gives', async (t) => {
  for (const [seed, options] of [
    [1, { recordSize: 24, hasAliases: true }],
    [2, { recordSize: 28, hasAliases: true }],
    [3, { recordSize: 32 }],
  ] satisfies [number, MmdbOptions][]) {
    const random = randomNumbers(seed);
    const networks = randomNetworks(random);
    assert.ok(Object.keys(networks).length > 100);
    const file = mmdb(networks, options);
    const reader = new Reader<CountryResponse>(file);
    const bytesOf = (text: string) => Buffer.from(ipaddr.parse(text).toByteArray());
    const ranges = Object.entries(rangesByKey(await compileFiles(t, 'country', { x: file }))).flatMap(([key, texts]) =>
      texts.map((text) => ({ key, bounds: text.split('-').map(bytesOf) })),
    );
    const countryOf = (address: Buffer) =>
      ranges.find(
        ({ bounds: [first, last] }) => first.length === address.length && first.compare(address) <= 0 && last.compare(address) >= 0,
      )?.key;
    for (let i = 0; i < 300; i++) {
      const bytes = Array.from({ length: i % 2 === 0 ? 4 : 16 }, (_, byte) =>
        i % 2 === 1 && byte === 0 ? 0x24 : Math.floor(random() * 256),
      );
      const text = ipaddr.fromByteArray(bytes).toString();
      assert.equal(countryOf(Buffer.from(bytes)), reader.get(text)?.country?.iso_code, text);
    }
  }
});

const BROKEN: readonly [string, () => Buffer, RegExp][] = [
  [
    'no record has a country',
    () => mmdb({ '1.0.0.0/24': { autonomous_system_number: 1 } }),
    /: it holds no row with a two-letter country code \(1 rows without one\)$/,
  ],
  [
    'a country that is none',
    () => mmdb({ '1.0.0.0/24': maxmind('USA') }),
    /: expected a two-letter country code, found "USA" in a record$/,
  ],
  ['metadata cut off', () => mmdb(NETWORKS).subarray(0, -40), /: the MMDB metadata cannot be read: /],
  ['tree cut off', () => mmdb(NETWORKS).subarray(-300), /: the MMDB metadata cannot be read: its search tree is longer than the file$/],
  [
    'a loop in the tree',
    () => withFirstRecord(mmdb(NETWORKS, { recordSize: 32 }), 0),
    /: the MMDB is damaged: its search tree has a loop$/,
  ],
  [
    'a record that points outside',
    () => withFirstRecord(mmdb(NETWORKS, { recordSize: 32 }), 0xffff_fff0),
    /: the MMDB is damaged: no record can be read at byte \d+$/,
  ],
];

function withFirstRecord(file: Buffer, record: number): Buffer {
  file.writeUInt32BE(record, 0);
  return file;
}

for (const [title, make, says] of BROKEN) {
  test(`D1 GEO_COUNTRY_FILE, MMDB, broken: ${title}`, async (t) => {
    await assert.rejects(compileFiles(t, 'country', { 'x.mmdb': make() }), (error: Error) => {
      assert.ok(hasCode(error, 'GEO_FILE'));
      assert.match(error.message, /^GEO_COUNTRY_FILE: \/.*x\.mmdb: /);
      assert.match(error.message, says);
      return true;
    });
  });
}
