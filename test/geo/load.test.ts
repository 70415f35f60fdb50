import assert from 'node:assert/strict';
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { hasCode } from '../../src/errors.ts';
import { readCache } from '../../src/geo/cache.ts';
import { compileSources } from '../../src/geo/compile.ts';
import type { GeoData } from '../../src/geo/data.ts';
import { geoDatabase } from '../../src/geo/database.ts';
import { loadGeo } from '../../src/geo/load.ts';
import { sourcesOf } from '../../src/geo/sources.ts';
import { geoStatus } from '../../src/geo/status.ts';
import { familyTables } from '../../src/geo/table.ts';
import { folderOf, rangesByKey, rangeTexts } from '../support/geo.ts';
import { mmdb } from '../support/mmdb.ts';

const COUNTRY_CSV = '1.0.0.0,1.0.0.255,AU\n1.0.2.0,1.0.2.255,AU\n2001:db8::,2001:db8::ffff,DE\n1.1.0.0,1.1.0.1,XK\n';
const ASN_CSV = '1.0.0.0,1.0.0.255,13335\n2001:db8::,2001:db8::ffff,64500\n';
const AT = Date.parse('2026-11-20T10:00:00Z');

const bothFiles = (folder: string) => ({ country: join(folder, 'c.csv'), asn: join(folder, 'a.csv') });

describe('packaged data', () => {
  let data: GeoData;
  before(async () => {
    data = await loadGeo({ country: undefined, asn: undefined });
  });

  test('4.3.2 content 2 and 3: the packaged data have the ranges of countries and ASNs', () => {
    const geo = geoDatabase(data);
    const us = geo.ranges({ kind: 'country', country: 'US' });
    assert.ok(us.v4.length / 2 > 10_000 && us.v6.length / 8 > 5_000);
    assert.ok(rangeTexts(geo.ranges({ kind: 'asn', asn: 15169 })).includes('8.8.8.0-8.8.8.255'));
    let addresses = 0;
    for (let i = 0; i < us.v4.length; i += 2) addresses += us.v4[i + 1] - us.v4[i] + 1;
    assert.ok(addresses > 1.3e9 && addresses < 2e9, `${addresses} IPv4 addresses in the US`);
  });

  test('2.1 asn: must exist in the ASN data, of whichever family', () => {
    const geo = geoDatabase(data);
    for (const asn of [15169, 13335, 3320]) assert.ok(geo.hasAsn(asn), String(asn));
    const { v4, v6 } = familyTables(data.asn.table);
    const [inV4, inV6] = [new Set(v4.keys), new Set(v6.keys)];
    const onlyV6 = inV6.difference(inV4);
    assert.ok(onlyV6.size > 0);
    for (const asn of onlyV6) assert.ok(geo.hasAsn(asn));
    for (const asn of [0, 64512, 4_294_967_295, 1.5, -1]) assert.equal(geo.hasAsn(asn), false, String(asn));
  });

  test('4.3.4 the ranges of every country and ASN are sorted and do not overlap', () => {
    for (const { table } of [data.country, data.asn]) {
      const { v4, v6 } = familyTables(table);
      for (const [{ keys, offsets, ranges }, width] of [[v4, 1] as const, [v6, 4] as const]) {
        const hex = (at: number) => [...ranges.subarray(at, at + width)].map((word) => word.toString(16).padStart(8, '0')).join('');
        for (let key = 0; key < keys.length; key++) {
          let previous = '';
          for (let at = offsets[key] * 2 * width; at < offsets[key + 1] * 2 * width; at += 2 * width) {
            const [start, end] = [hex(at), hex(at + width)];
            if (!(previous < start && start <= end)) assert.fail(`${table.version}: key ${keys[key]} at ${start}`);
            previous = end;
          }
        }
      }
    }
  });

  test('D1 weir geo status: packaged data with their day, age, counts and attribution', () => {
    const status = geoStatus(data, Date.parse('2026-06-27T12:00:00Z'));
    assert.deepEqual(
      [status.country, status.asn].map(({ source, date, age_days, keys }) => ({ source, date, age_days, keys })),
      [
        { source: 'packaged', date: '2026-06-17', age_days: 10, keys: 238 },
        { source: 'packaged', date: '2026-06-17', age_days: 10, keys: 91_065 },
      ],
    );
    assert.deepEqual([status.country.rows, status.asn.rows, status.asn.overlapping_rows], [141_822 + 68_368, 411_961 + 103_197, 1]);
    assert.match(status.asn.attribution ?? '', /db-ip\.com.*CC BY 4\.0/);
    assert.match(status.country.attribution ?? '', /nro\.net.*CC BY 4\.0/);
  });
});

test('D1 weir geo status: the operator’s own files', async (t) => {
  const folder = await folderOf(t, {
    'c.csv': COUNTRY_CSV,
    'a.mmdb': mmdb({ '1.0.0.0/24': { asn: 'AS13335' } }, { databaseType: 'lite', buildEpoch: AT / 1000 }),
  });
  const files = { country: join(folder, 'c.csv'), asn: join(folder, 'a.mmdb') };
  await utimes(files.country, AT / 1000, AT / 1000);
  const data = await loadGeo(files);
  const { version, country, asn } = geoStatus(data, AT + 3 * 86_400_000);
  assert.equal(version, country.version + asn.version);
  assert.deepEqual(country, {
    source: files.country,
    files: [files.country],
    format: 'CSV (start,end,country)',
    date: '2026-11-20',
    age_days: 3,
    rows: 3,
    skipped_rows: 1,
    overlapping_rows: 0,
    keys: 2,
    ranges_v4: 2,
    ranges_v6: 1,
    version: data.country.table.version,
    attribution: null,
  });
  assert.deepEqual([asn.format, asn.date, asn.rows], ['MMDB (lite)', '2026-11-20', 1]);
  assert.equal(geoStatus(data, AT - 86_400_000).country.age_days, 0);
});

test('2.1 country, asn: what has no ranges gives none', async (t) => {
  const geo = geoDatabase(await loadGeo(bothFiles(await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV }))));
  assert.deepEqual(rangeTexts(geo.ranges({ kind: 'country', country: 'AU' })), ['1.0.0.0-1.0.0.255', '1.0.2.0-1.0.2.255']);
  assert.deepEqual(rangeTexts(geo.ranges({ kind: 'country', country: 'DE' })), ['2001:db8::-2001:db8::ffff']);
  assert.deepEqual(rangeTexts(geo.ranges({ kind: 'asn', asn: 64500 })), ['2001:db8::-2001:db8::ffff']);
  for (const country of ['FR', 'XK', 'AA', 'ZZ', '', 'au']) assert.deepEqual(rangeTexts(geo.ranges({ kind: 'country', country })), []);
  assert.deepEqual(rangeTexts(geo.ranges({ kind: 'asn', asn: 1 })), []);
});

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: every file that cannot be used is named, a line each; nothing is loaded', async (t) => {
  const folder = await folderOf(t, { 'c.csv': 'start,end\n' });
  await assert.rejects(loadGeo(bothFiles(folder)), (error: Error) => {
    assert.ok(hasCode(error, 'GEO_FILE'));
    assert.deepEqual(error.message.split('\n'), [
      `GEO_COUNTRY_FILE: ${join(folder, 'c.csv')}: line 1: the header names none of the columns country_code, country_iso_code, iso_code, geoname_id, country`,
      `GEO_ASN_FILE: ${join(folder, 'a.csv')}: there is no such file`,
    ]);
    return true;
  });
  await assert.rejects(loadGeo({ country: folder, asn: undefined }), { message: `GEO_COUNTRY_FILE: ${folder}: this is not a file` });
});

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: another thread uses the same memory', async (t) => {
  const data = await loadGeo(bothFiles(await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV })));
  const database = new URL('../../src/geo/database.ts', import.meta.url).href;
  const code = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { geoDatabase } = await import(${JSON.stringify(database)});
    const geo = geoDatabase(workerData);
    const { v4 } = geo.ranges({ kind: 'country', country: 'AU' });
    parentPort.postMessage({ hasAsn: [geo.hasAsn(64500), geo.hasAsn(2)], v4: [...v4], version: geo.version });
    v4[0] = 7;
    parentPort.postMessage('written');`;
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), { workerData: data });
  const messages: unknown[] = [];
  await new Promise((resolve, reject) =>
    worker
      .on('message', (message) => messages.push(message))
      .on('exit', resolve)
      .on('error', reject),
  );
  assert.deepEqual(messages, [
    { hasAsn: [true, false], v4: [0x01000000, 0x010000ff, 0x01000200, 0x010002ff], version: data.version },
    'written',
  ]);
  assert.equal(geoDatabase(data).ranges({ kind: 'country', country: 'AU' }).v4[0], 7);
});

describe('cache of compiled data', () => {
  const words = (data: GeoData) => [data.country, data.asn].map(({ table }) => Buffer.from(new Uint8Array(table.words)).toString('hex'));
  const cacheFiles = (cache: string) => ['geo-asn.bin', 'geo-country.bin'].map((name) => join(cache, name));
  const withoutWords = ({ country, asn }: GeoData) =>
    [country, asn].map((kind) => ({ ...kind, table: { ...kind.table, words: undefined } }));

  test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: data from the cache equal those from the files', async (t) => {
    const folder = await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV });
    const files = bothFiles(folder);
    const cache = join(folder, 'made', 'cache');
    const parsed = await loadGeo(files, cache);
    assert.deepEqual((await readdir(cache)).sort(), ['geo-asn.bin', 'geo-country.bin']);
    const before = await Promise.all(cacheFiles(cache).map((file) => stat(file)));
    const cached = await loadGeo(files, cache);
    assert.deepEqual(withoutWords(cached), withoutWords(parsed));
    assert.deepEqual(words(cached), words(parsed));
    assert.equal(cached.version, parsed.version);
    assert.deepEqual(rangesByKey(cached.country), rangesByKey(compileSources(await sourcesOf('country', 'own', files.country))));
    const after = await Promise.all(cacheFiles(cache).map((file) => stat(file)));
    assert.deepEqual(
      after.map(({ ino }) => ino),
      before.map(({ ino }) => ino),
      'a hit writes nothing',
    );
  });

  test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: a changed file is read again, even with its old size and time', async (t) => {
    const folder = await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV });
    const files = bothFiles(folder);
    const { atime, mtime } = await stat(files.country);
    const first = await loadGeo(files, folder);
    await writeFile(files.country, COUNTRY_CSV.replace('DE', 'FR'));
    await utimes(files.country, atime, mtime);
    const second = await loadGeo(files, folder);
    assert.deepEqual(Object.keys(rangesByKey(second.country)), ['AU', 'FR']);
    assert.notEqual(second.version, first.version);
    assert.equal(second.asn.table.version, first.asn.table.version);
  });

  test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: a damaged cache is passed over and made anew', async (t) => {
    const folder = await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV });
    const files = bothFiles(folder);
    const cache = join(folder, 'cache');
    const parsed = await loadGeo(files, cache);
    const file = join(cache, 'geo-country.bin');
    const whole = await readFile(file);
    const source = await sourcesOf('country', 'own', files.country);
    assert.equal((await readCache(cache, source))?.table.version, parsed.country.table.version);
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at] ^= 1 << (at % 8);
      await writeFile(file, damaged);
      assert.equal(await readCache(cache, source), undefined, `a flipped bit in byte ${at}`);
    }
    for (const damaged of [
      Buffer.alloc(0),
      whole.subarray(0, 4),
      whole.subarray(0, -1),
      Buffer.alloc(whole.length),
      Buffer.alloc(8, 0xff),
    ]) {
      await writeFile(file, damaged);
      assert.equal(await readCache(cache, source), undefined);
      assert.equal((await loadGeo(files, cache)).version, parsed.version);
      assert.deepEqual(await readFile(file), whole);
    }
  });

  test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: a cache that cannot be written is no fault', async (t) => {
    const folder = await folderOf(t, { 'c.csv': COUNTRY_CSV, 'a.csv': ASN_CSV, file: '' });
    assert.equal((await loadGeo(bothFiles(folder), join(folder, 'file', 'cache'))).country.rows, 3);
    const names = await readdir(folder);
    assert.deepEqual(names.sort(), ['a.csv', 'c.csv', 'file']);
  });
});
