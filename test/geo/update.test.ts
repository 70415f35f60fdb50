/** Downloading geo data from a publisher on this machine. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import type { GeoData } from '../../src/geo/data.ts';
import { DOWNLOAD_LIMITS, type DownloadLimits } from '../../src/geo/download.ts';
import { loadGeo } from '../../src/geo/load.ts';
import { type KindUpdate, readUpdateState, type UpdateState } from '../../src/geo/update-state.ts';
import { geoFiles } from '../../src/runtime/geo.ts';
import { nextTry, startGeoUpdates, updateGeoData } from '../../src/runtime/geo-updates.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { COUNTRIES, type GeoSource, goodFiles, publish, ROWS, rowsOf } from '../support/geo-source.ts';
import { eventually } from '../support/weir.ts';

const V4 = 'user-country-ipv4.csv';
const V6 = 'user-country-ipv6.csv';
const HOUR = 3_600_000;

/** Settings under which countries are downloaded and ASNs are the operator's, and what is in use before the first download. */
async function countriesOnly(t: { after(work: () => void): void }, geoUpdateUrl: string) {
  const dataDir = join(temporaryFolder(t), 'data');
  mkdirSync(dataDir);
  const small = smallGeo(dataDir);
  const settings = { dataDir, geoCountryFile: undefined, geoAsnFile: small.GEO_ASN_FILE, geoUpdateUrl };
  return { settings, first: await loadGeo({ country: small.GEO_COUNTRY_FILE, asn: small.GEO_ASN_FILE }) };
}

const file = (dataDir: string) => readFileSync(join(dataDir, 'geo', 'country.csv'), 'utf8');

describe('an update', () => {
  const good = goodFiles();
  const cleanup: (() => void)[] = [];
  const suite = { after: (work: () => void) => void cleanup.push(work) };
  let source: GeoSource;
  let settings: Awaited<ReturnType<typeof countriesOnly>>['settings'];
  let inUse: GeoData;
  before(async () => {
    source = await publish(suite, { ...good });
    const made = await countriesOnly(suite, source.url);
    settings = made.settings;
    assert.equal((await update(made.first)).result, 'new');
    inUse = await loadGeo(geoFiles(settings));
  });
  after(() => {
    for (const work of cleanup) work();
  });

  async function update(data: GeoData, limits = DOWNLOAD_LIMITS): Promise<KindUpdate> {
    const { kinds } = (await updateGeoData(settings, data, { limits }))!;
    assert.deepEqual(Object.keys(kinds), ['country'], 'a kind with an own file is not downloaded');
    return kinds.country!;
  }

  function publishOnly(files: GeoSource['files']): void {
    for (const name of Object.keys(source.files)) delete source.files[name];
    Object.assign(source.files, files);
    source.answers.length = 0;
  }

  test('D17.2 a downloaded file stands before the packaged data; its day is that of Last-Modified', () => {
    const { country, asn } = inUse;
    assert.deepEqual([country.origin, country.rows, country.keys, country.date], ['downloaded', 2 * ROWS, 8, '2026-11-20']);
    assert.equal(asn.origin, 'own');
  });

  test('D17.6 what has not changed is not sent again; all files of a kind are fetched when one has changed', async () => {
    publishOnly(good);
    assert.deepEqual([(await update(inUse)).result, source.answers], ['unchanged', [`${V4} 304`, `${V6} 304`]]);

    publishOnly({ ...good, [V6]: rowsOf(6, (i) => COUNTRIES[(i + 1) % 8]).join('') });
    assert.equal((await update(inUse)).result, 'new');
    assert.deepEqual(source.answers, [`${V4} 304`, `${V6} 200`, 'SHA256SUMS 404', `${V4} 200`, `${V6} 200`]);
    publishOnly(good);
    assert.equal((await update(inUse)).result, 'new');
  });

  test('D17.1 the same rows in another order are the same data', async () => {
    publishOnly({
      ...good,
      [V4]: rowsOf(4, (i) => COUNTRIES[i % 8])
        .reverse()
        .join(''),
    });
    assert.equal((await update(inUse)).result, 'new');
    assert.equal((await loadGeo(geoFiles(settings))).version, inUse.version);
  });

  const text = good[V4];
  const rows = text.split('\n').slice(0, -1);
  const cutAt =
    (bytes: number): RequestListener =>
    (_, response) =>
      void response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, bytes), () => response.destroy());
  const status =
    (code: number, headers: Record<string, string> = {}): RequestListener =>
    (_, response) =>
      void response.writeHead(code, headers).end('sorry');
  const pieces =
    (piece: string, ms: number): RequestListener =>
    (_, response) => {
      const timer = setInterval(() => response.write(piece), ms);
      response.writeHead(200).write(piece);
      response.on('close', () => clearInterval(timer));
    };
  type Fault = readonly [what: string, published: GeoSource['files'], expected: RegExp, limits?: Partial<DownloadLimits>];
  const FAULTY: readonly Fault[] = [
    ['cut within a line', { [V4]: text.slice(0, -3) }, /ipv4\.csv: it ends within a line$/],
    ['cut by the connection', { [V4]: cutAt(1000) }, /ipv4\.csv: it was cut short/],
    ['cut behind a line', { [V4]: rows.slice(0, 9_999).join('\n').concat('\n') }, /it has 9999 lines, .*under 10000$/],
    ['empty', { [V6]: '' }, /ipv6\.csv: it has 0 lines/],
    ['with one family in both files', { [V6]: text }, /line 10001: the range overlaps that of line 1; .*rows that overlap: 10000/],
    ['with overlapping rows', { [V4]: text.replace('10.0.0.255', '10.2.0.255') }, /overlaps that of line/],
    ['with a row that is none', { [V4]: text.replace('10.0.9.0,', '10.0.9.x,') }, /country\.new\.csv: line 10: /],
    ['not there', { [V4]: status(404) }, /ipv4\.csv: the server answers 404$/],
    [
      'other than its checksum says',
      { SHA256SUMS: `${'0'.repeat(64)}  ${V4}\n` },
      /its SHA-256 is [0-9a-f]{64}, and SHA256SUMS says 0{64}$/,
    ],
    ['without a list of checksums that can be read', { SHA256SUMS: status(500) }, /SHA256SUMS: the server answers 500$/],
  ];
  const ENDLESS: readonly Fault[] = [
    ['silent', { [V4]: () => {} }, /ipv4\.csv: no data for 0\.1 s$/, { idleMs: 100 }],
    ['slow', { [V4]: pieces('10.0.0.0', 50) }, /ipv4\.csv: it takes longer than 0\.3 s$/, { totalMs: 300 }],
    ['without a line end', { [V4]: pieces('x'.repeat(1 << 16), 1) }, /ipv4\.csv: line 1 is longer than 65536 bytes$/],
    [
      'a long line behind good ones',
      { [V4]: `${rows.slice(0, 2).join('\n')}\n${'x'.repeat(65_537)}\n` },
      /ipv4\.csv: line 3 is longer than 65536 bytes$/,
    ],
    [
      'beside an endless list of checksums',
      { SHA256SUMS: pieces(`${'0'.repeat(64)}  x\n`.repeat(1000), 1) },
      /SHA256SUMS: it is longer than 1048576 bytes$/,
    ],
    [
      'without an end',
      { [V4]: pieces(`${'x'.repeat(1000)}\n`.repeat(4000), 50) },
      /ipv4\.csv: it is longer than 3000000 bytes$/,
      { bytes: 3_000_000 },
    ],
    ['a redirect to itself', { [V4]: status(302, { location: `/${V4}` }) }, /it redirects more than 5 times$/],
    [
      'a redirect to another protocol',
      { [V4]: status(301, { location: 'ftp://localhost/x' }) },
      /it redirects from http:\/\/ to ftp:\/\/$/,
    ],
  ];

  async function assertRefused([, published, expected, limits]: Fault): Promise<void> {
    const before = file(settings.dataDir);
    publishOnly({ ...good, [V4]: text.replace('10.0.0.255', '10.0.0.254'), ...published });
    const { result, text: reason } = await update(inUse, { ...DOWNLOAD_LIMITS, ...limits });
    assert.match(reason, expected);
    assert.equal(result, 'failed');
    assert.equal(file(settings.dataDir), before);
  }
  for (const fault of FAULTY) {
    test(`D17.3 a file that is ${fault[0]} is refused, and what was downloaded before stays`, () => assertRefused(fault));
  }
  for (const fault of ENDLESS) {
    test(`D17.5 a file that is ${fault[0]} is given up, and what was downloaded before stays`, () => assertRefused(fault));
  }

  test('D17.3 a file that its checksum fits is taken; a redirect is followed', async () => {
    const changed = text.replace('10.0.0.255', '10.0.0.254');
    const sum = createHash('sha256').update(changed).digest('hex');
    publishOnly({ ...good, moved: changed, [V4]: status(302, { location: '/moved' }), SHA256SUMS: `${sum} *${V4}\n` });
    const { result, text: reason } = await update(inUse);
    assert.deepEqual([result, reason], ['new', 'data of 2026-11-20, 20000 rows, 8 countries']);
    assert.equal(file(settings.dataDir), changed + good[V6]);
  });
});

test('D17.7 when the next try is due: after the time set, and within an hour of a failure; never all at once', () => {
  const last = (result: KindUpdate['result']): UpdateState => ({
    triedAt: 1000 * HOUR,
    kinds: { country: { result, text: '', download: null } },
  });
  const hours = (state: UpdateState | undefined, startedAt: number, random: number, every = 24, now = 1200) =>
    nextTry(state, every * HOUR, startedAt * HOUR, random, now * HOUR) / HOUR - 1000;
  assert.deepEqual(
    [
      hours(last('new'), 900, 0),
      hours(last('unchanged'), 900, 0.5),
      hours(last('held'), 900, 0),
      hours(last('failed'), 900, 0),
      hours(last('failed'), 900, 0, 0.5),
      hours(last('new'), 1100, 0),
      hours(undefined, 1000, 0.5) * 120,
      hours(last('new'), 900, 0, 24, 950),
    ].map((each) => Number(each.toFixed(6))),
    [24, 25.2, 24, 1, 0.5, 100, 1, -100],
  );
});

test('D17.7 several processes on a folder: one of them downloads; a failure is told once, and when it is over', async (t: TestContext) => {
  const source = await publish(t, {});
  const { settings, first } = await countriesOnly(t, source.url);
  const logs: string[][] = [[], []];
  const every = 100;
  const stops = logs.map((lines) =>
    startGeoUpdates({
      settings,
      every,
      inUse: () => first,
      log: (level, message) => void lines.push(`${level}: ${message}`),
      random: () => 0,
    }),
  );
  t.after(() => Promise.all(stops.map((stop) => stop())));
  const told = () => logs.flat().filter((line) => !line.includes('is updated from'));
  const tries = () => source.answers.filter((answer) => answer.startsWith(V4));
  await eventually(() => assert.ok(tries().length >= 5));
  const failures = told();
  assert.ok(failures.length <= 2, failures.join('\n'));
  for (const line of failures) {
    assert.match(line, /^warn: geo update: country: .*ipv4\.csv: the server answers 404; the data in use stay; next try at \d{4}-.*Z$/);
  }
  Object.assign(source.files, goodFiles());
  await eventually(() => assert.ok(told().includes('info: geo update: works again')));
  await Promise.all(stops.map((stop) => stop()));
  const rest = () => new Promise((resolve) => setTimeout(resolve, 3 * every));
  // What was on its way when its try was broken off may still arrive.
  await rest();
  const whole = tries().length;
  await rest();
  assert.equal(tries().length, whole, 'a stopped one asks no more');
});

test('D17.7 a try counts from its beginning: what dies of a download tries again after an hour, not at once', async (t) => {
  const source = await publish(t, { [V4]: () => {} });
  const { settings, first } = await countriesOnly(t, source.url);
  const before = Date.now();
  const stop = new AbortController();
  const update = updateGeoData(settings, first, { signal: stop.signal });
  const state = await eventually(async () => {
    const found = await readUpdateState(geoFiles(settings).downloads!);
    assert.ok(found !== undefined);
    return found;
  });
  assert.ok(state.triedAt >= before);
  assert.deepEqual(state.kinds, { country: { result: 'failed', text: 'it has not ended', download: null } });
  assert.equal(nextTry(state, 24 * HOUR, 0, 0, Date.now()), state.triedAt + HOUR);
  stop.abort();
  await assert.rejects(update);
});

test('D17.7 two updates at once: one of them is turned away, also where the other one ended badly before', async (t) => {
  const source = await publish(t, goodFiles());
  const { settings, first } = await countriesOnly(t, source.url);
  const both = await Promise.all([updateGeoData(settings, first), updateGeoData(settings, first)]);
  assert.deepEqual(both.map((state) => state?.kinds.country?.result).sort(), ['new', undefined]);
  assert.equal(source.answers.length, 3);
  rmSync(join(settings.dataDir, 'geo'), { recursive: true });
  writeFileSync(join(settings.dataDir, 'geo'), '');
  await assert.rejects(updateGeoData(settings, first), { code: 'GEO_FILE', message: /geo cannot be written to: / });
});
