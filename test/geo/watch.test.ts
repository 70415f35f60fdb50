import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GeoData } from '../../src/geo/data.ts';
import { loadGeo } from '../../src/geo/load.ts';
import type { GeoFiles } from '../../src/geo/sources.ts';
import { watchGeo } from '../../src/geo/watch.ts';
import { command, commandText } from '../support/command.ts';
import { folderOf, rangesByKey } from '../support/geo.ts';

const AU = '1.0.0.0,1.0.0.255,AU\n';
const DE = '1.0.0.0,1.0.0.255,DE\n';
const ASN = '1.0.0.0,1.0.0.255,13335\n';
/** A file that is written at once, in this thread, is never seen half written by a watch in the same thread. */
const POLL_MS = 20;

/** A watch on files in a folder, with what it reported. */
async function watching(t: TestContext, pollMs: number, cacheDir?: string) {
  const folder = await folderOf(t, { 'c.csv': AU, 'a.csv': ASN });
  const files: GeoFiles = { country: join(folder, 'c.csv'), asn: join(folder, 'a.csv') };
  const data = await loadGeo(files);
  const changes: GeoData[] = [];
  const log: string[] = [];
  const watch = watchGeo({
    files,
    data,
    ...(cacheDir !== undefined && { cacheDir }),
    pollMs,
    onChange: (next) => changes.push(next),
    log: (outcome, text) => log.push(`${outcome}: ${text}`),
  });
  t.after(() => watch.close());
  return { folder, country: files.country as string, asn: files.asn as string, data, changes, log, watch };
}

/** Waits until `condition` holds; the test's own time limit is the only one. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

const countries = (data: GeoData) => Object.keys(rangesByKey(data.country));
const NEVER = 3_600_000;

test('D1 GEO_COUNTRY_FILE: a changed file reloads by itself, however it is replaced', async (t) => {
  const { folder, country, data, changes, log } = await watching(t, POLL_MS);
  writeFileSync(country, DE);
  await until(() => changes.length === 1);
  assert.deepEqual(countries(changes[0]), ['DE']);
  assert.notEqual(changes[0].version, data.version);
  assert.equal(changes[0].asn, data.asn, 'what has not changed is kept as it is');
  assert.match(
    log[0],
    /^reloaded: geo data reloaded: country of \d{4}-\d\d-\d\d, 1 → 1 rows, 1 → 1 countries; asn of \d{4}-\d\d-\d\d as before$/,
  );

  await writeFile(join(folder, 'new'), AU);
  await rename(join(folder, 'new'), country);
  await until(() => changes.length === 2);
  assert.deepEqual(countries(changes[1]), ['AU']);
  assert.equal(changes[1].version, data.version, 'the version is that of the content');

  await rm(country);
  await sleep(POLL_MS / 2);
  writeFileSync(country, AU + DE.replaceAll('1.0.0', '1.0.1'));
  await until(() => changes.length === 3);
  assert.deepEqual(countries(changes[2]), ['AU', 'DE']);
});

test('D1 GEO_ASN_FILE: a broken file is refused once, the old data stay, a good one is taken again', async (t) => {
  const { asn, changes, log } = await watching(t, POLL_MS);
  writeFileSync(asn, `${ASN}nonsense\n`);
  await until(() => log.length === 1);
  await sleep(5 * POLL_MS);
  assert.deepEqual(log, [`refused: GEO_ASN_FILE: ${asn}: line 2: expected at least 3 fields; the data loaded before stay in use`]);
  assert.equal(changes.length, 0);
  writeFileSync(asn, '1.0.0.0,1.0.0.255,64500\n');
  await until(() => changes.length === 1);
  assert.deepEqual(Object.keys(rangesByKey(changes[0].asn)), ['AS64500']);
});

test('D1 GEO_COUNTRY_FILE: a missing file is refused, the old data stay', async (t) => {
  const { country, changes, log } = await watching(t, POLL_MS);
  await rm(country);
  await until(() => log.length === 1);
  assert.deepEqual(log, [`refused: GEO_COUNTRY_FILE: ${country}: there is no such file; the data loaded before stay in use`]);
  assert.equal(changes.length, 0);
});

test('D1 SIGHUP: reload looks at once, tries a refused file again and says nothing when nothing has changed', async (t) => {
  const { country, asn, changes, log, watch } = await watching(t, NEVER);
  await watch.reload();
  assert.deepEqual([changes, log], [[], []]);

  writeFileSync(country, DE);
  writeFileSync(asn, 'nonsense');
  await watch.reload();
  assert.deepEqual(changes.map(countries), [['DE']], 'the good one of two is used');
  await watch.reload();
  assert.equal(log.filter((line) => line.startsWith('refused: GEO_ASN_FILE: ')).length, 2);
  assert.equal(changes.length, 1);

  writeFileSync(asn, ASN);
  await watch.reload();
  assert.equal(changes.length, 1, 'equal content is no change');
});

test('D1 SIGHUP: reloads asked for together run one after another', async (t) => {
  const { country, changes, watch } = await watching(t, NEVER);
  writeFileSync(country, DE);
  await Promise.all([watch.reload(), watch.reload(), watch.reload()]);
  assert.equal(changes.length, 1);
});

test('D1 GEO_COUNTRY_FILE: the twin file of the other family is watched too; only SIGHUP goes on without it', async (t) => {
  const folder = await folderOf(t, { 'c-ipv4.csv': AU, 'a.csv': ASN });
  const files = { country: join(folder, 'c-ipv4.csv'), asn: join(folder, 'a.csv') };
  const twin = join(folder, 'c-ipv6.csv');
  const changes: GeoData[] = [];
  const log: string[] = [];
  const watch = watchGeo({
    files,
    data: await loadGeo(files),
    pollMs: POLL_MS,
    onChange: (next) => changes.push(next),
    log: (outcome, text) => log.push(`${outcome}: ${text}`),
  });
  t.after(() => watch.close());
  writeFileSync(twin, '2001:db8::,2001:db8::1,FR\n');
  await until(() => changes.length === 1);
  assert.deepEqual(countries(changes[0]), ['AU', 'FR']);

  await rm(twin);
  await until(() => log.length === 2);
  assert.equal(
    log[1],
    `refused: GEO_COUNTRY_FILE: ${twin}: this file is missing; use SIGHUP or a restart to continue without it; the data loaded before stay in use`,
  );
  assert.equal(changes.length, 1);
  await watch.reload();
  assert.deepEqual(changes.slice(1).map(countries), [['AU']]);
});

test('D1 GEO_COUNTRY_FILE: a file that is still being written is left until it has settled', async (t) => {
  const { country, changes, log } = await watching(t, 150);
  const rows = Array.from({ length: 40 }, (_, i) => `1.0.${i}.0,1.0.${i}.255,DE\n`);
  for (let written = 1; written <= rows.length; written++) {
    writeFileSync(country, rows.slice(0, written).join(''));
    await sleep(5);
  }
  await until(() => changes.length === 1);
  assert.equal(changes[0].country.rows, rows.length);
  assert.equal(log.length, 1);
});

test('D1 GEO_COUNTRY_FILE: after close nothing is reported', async (t) => {
  const { country, changes, log, watch } = await watching(t, POLL_MS);
  writeFileSync(country, DE);
  const pending = watch.reload();
  watch.close();
  await pending;
  await sleep(5 * POLL_MS);
  assert.deepEqual([changes, log], [[], []]);
});

/** Rows of one address each, of the first countries. */
const ROWS = ['AT', 'BE', 'CH', 'DE', 'ES', 'FR', 'GB', 'HR'].map((country, i) => `1.0.${i}.0,1.0.${i}.0,${country}\n`);

test('D11.9 a file with under half of the rows or countries in use is refused, by itself and with SIGHUP, and the data stay', async (t) => {
  const { country, changes, log, watch } = await watching(t, NEVER);
  writeFileSync(country, ROWS.join(''));
  await watch.reload();
  assert.match(log[0], /country of [-\d]+, 1 → 8 rows, 1 → 8 countries; asn of [-\d]+ as before$/);

  const refused = (what: string) =>
    `refused: GEO_COUNTRY_FILE: ${country}: it has ${what} in use; if this is intended, run weir geo accept; the data loaded before stay in use`;
  const cases: [string[], string][] = [
    [ROWS.slice(0, 3), '3 rows, under half of the 8'],
    [[0, 1, 2, 3, 4, 5].map((i) => `1.0.${i}.0,1.0.${i}.0,${'AT'}\n`), '1 countries, under half of the 8'],
  ];
  for (const [rows, what] of cases) {
    writeFileSync(country, rows.join(''));
    log.length = 0;
    await watch.reload();
    await watch.reload();
    assert.deepEqual(log, [refused(what), refused(what)]);
    assert.equal(changes.length, 1);
  }
  writeFileSync(country, ROWS.slice(0, 4).join(''));
  await watch.reload();
  assert.deepEqual(changes.slice(1).map(countries), [['AT', 'BE', 'CH', 'DE']], 'half of them is not under half');
});

test('D11.10 weir geo accept: a refused file is taken in the state that it had then, without a signal', async (t) => {
  const cacheDir = await folderOf(t, {});
  const { country, asn, changes, log } = await watching(t, POLL_MS, cacheDir);
  const replace = async (rows: readonly string[]) => {
    // As a whole, or a watch may see a part of it.
    await writeFile(`${country}.new`, rows.join(''));
    await rename(`${country}.new`, country);
  };
  await replace(ROWS);
  await until(() => changes.length === 1);
  await replace(ROWS.slice(0, 1));
  await until(() => log.length === 2);
  assert.match(log[1], /^refused: .*1 rows, under half of the 8 in use/);
  const settings = { GEO_COUNTRY_FILE: country, GEO_ASN_FILE: asn, DATA_DIR: cacheDir };
  assert.equal(
    await commandText(['geo', 'accept'], settings),
    `accepted: ${country}, ${asn}; servers on this DATA_DIR take them within seconds\n`,
  );
  await until(() => changes.length === 2);
  assert.deepEqual(changes.slice(1).map(countries), [['AT']]);

  await replace(ROWS);
  await until(() => changes.length === 3);
  await replace(ROWS.slice(1, 2));
  await until(() => log.length === 5);
  assert.match(log[4], /^refused: /, 'another state needs its own word');
  const { code, stderr } = await command(['geo', 'accept'], { DATA_DIR: cacheDir });
  assert.deepEqual([code, stderr], [2, 'weir: neither GEO_COUNTRY_FILE nor GEO_ASN_FILE is set, and nothing was downloaded\n']);
});

test('D17.1 a first download takes the place of the packaged data; one that is deleted stays in use', async (t) => {
  const folder = await folderOf(t, { 'p.csv': AU, 'a.csv': ASN });
  const asn = join(folder, 'a.csv');
  const loaded = await loadGeo({ country: join(folder, 'p.csv'), asn });
  const data: GeoData = { ...loaded, country: { ...loaded.country, origin: 'packaged' } };
  const changes: GeoData[] = [];
  const log: string[] = [];
  const watch = watchGeo({
    files: { country: undefined, asn, downloads: folder },
    data,
    pollMs: POLL_MS,
    onChange: (next) => changes.push(next),
    log: (outcome, text) => log.push(`${outcome}: ${text}`),
  });
  t.after(() => watch.close());
  await sleep(3 * POLL_MS);
  assert.deepEqual([changes, log], [[], []], 'packages are not looked at again');

  const download = join(folder, 'country.csv');
  await writeFile(`${download}.new`, DE);
  await rename(`${download}.new`, download);
  await until(() => changes.length === 1);
  assert.deepEqual([countries(changes[0]), changes[0].country.origin], [['DE'], 'downloaded']);

  await rm(download);
  await until(() => log.length === 2);
  assert.match(
    log[1],
    /^refused: downloaded country data: .*country\.csv: this file is missing; use SIGHUP or a restart to continue without it; /,
  );
  assert.equal(changes.length, 1);
});
