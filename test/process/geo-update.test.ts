/** `weir geo update`, `status` and `accept` beside a running server, and the way to the publisher through a proxy. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer as createProxy, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeAuthority, makeCertificate } from '../support/certificates.ts';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { COUNTRIES, type GeoSource, goodFiles, publish, rowsOf, serve } from '../support/geo-source.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { needs } from '../support/programs.ts';
import { eventually, KEY, type Weir, weir, weirFor } from '../support/weir.ts';

/** A DATA_DIR with a few rows that count as downloaded, so that the packaged million need not be read. */
function smallDownloads(folder: string): string {
  const dataDir = join(folder, 'data');
  mkdirSync(join(dataDir, 'geo'), { recursive: true });
  smallGeo(join(dataDir, 'geo'));
  return dataDir;
}

const V4 = 'user-country-ipv4.csv';

describe('beside a running server', () => {
  const cleanup: (() => unknown)[] = [];
  const suite = { after: (work: () => unknown) => void cleanup.unshift(work) };
  const folder = temporaryFolder(suite);
  const { GEO_COUNTRY_FILE, GEO_ASN_FILE } = smallGeo(folder);
  let settings: Record<string, string>;
  let source: GeoSource;
  let server: Weir;
  before(async () => {
    source = await publish(suite, goodFiles());
    settings = { DATA_DIR: smallDownloads(folder), GEO_UPDATE_URL: source.url, GEO_ASN_FILE };
    await commandText(['geo', 'update'], settings);
    const feeds = { BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' };
    server = await weirFor(suite, { ...settings, ...feeds, GEO_UPDATE_HOURS: '24', LOG_LEVEL: 'info' });
    for (const country of ['DE', 'FR']) {
      await commandText(['list', 'create', country, '--workspace', 'default'], settings);
      await postSignals(server.url, KEY, [{ type: 'access_rules', action: 'block', country }], `/v1/signal?list=${country}`);
    }
  });
  after(async () => {
    for (const work of cleanup) await work();
  });

  const reloads = () => server.output().stderr.match(/geo data reloaded: [^"]*/g) ?? [];
  const feed = async (country: string) => {
    const { status, headers, text } = await getFeed(server.url, KEY, `/${country}`);
    assert.equal(status, 200);
    return { etag: headers.etag, has: (network: string) => text.includes(network) };
  };

  test('D17.7 the log of a server says when it updates next', async () => {
    const said = /geo data is updated from http:\/\/127\.0\.0\.1:\d+; next try at (\S+)"/;
    const [, at] = await eventually(() => said.exec(server.output().stderr) ?? assert.fail(server.output().stderr));
    const hours = (Date.parse(at!) - Date.now()) / 3_600_000;
    assert.ok(hours > 23.9 && hours < 26.4, at);
  });

  test('D17.1 a server takes what was downloaded while it runs, and only the feeds change whose data did', async () => {
    const fr = await eventually(async () => {
      const [de, found] = await Promise.all([feed('DE'), feed('FR')]);
      assert.deepEqual([de.has('10.0.3.0/24'), de.has('10.0.11.0/24'), found.has('10.0.5.0/24')], [true, true, true]);
      return found;
    });
    source.files[V4] = rowsOf(4, (i) => COUNTRIES[i === 3 ? 0 : i % 8]).join('');
    assert.match(
      await commandText(['geo', 'update'], settings),
      /^update of .*\n {2}country: new data are in place: data of 2026-11-20, 20000 rows, 8 countries\n$/,
    );
    process.kill(server.pid, 'SIGHUP');
    await eventually(() => assert.equal(reloads().length, 1));
    assert.match(reloads()[0]!, /: country of 2026-11-20, 20000 → 20000 rows, 8 → 8 countries; asn of [-\d]+ as before$/);
    // Within the second of the content before it, a new content waits for the next: Last-Modified tells them apart.
    await eventually(async () => {
      const changed = await feed('DE');
      assert.deepEqual([changed.has('10.0.3.0/24'), changed.has('10.0.11.0/24')], [false, true]);
    });
    assert.equal((await feed('FR')).etag, fr.etag);
  });

  const held =
    /country: on hold: downloaded country data: \S+country\.new\.csv: it has 1 countries, under half of the 8 in use; if this is intended, run weir geo accept/;

  test('D17.4 a download with under half of the countries in use is held back, once, and changes nothing', async () => {
    const { etag } = await feed('DE');
    Object.assign(
      source.files,
      goodFiles(() => 'DE'),
    );
    const { code, stdout } = await command(['geo', 'update'], settings);
    assert.equal(code, 1);
    assert.match(stdout, held);
    source.answers.length = 0;
    assert.match((await command(['geo', 'update'], settings)).stdout, held);
    assert.deepEqual(
      source.answers.filter((answer) => !answer.endsWith(' 304')),
      [],
      'it is not downloaded again',
    );
    assert.equal((await feed('DE')).etag, etag);
  });

  test('D17.8 weir geo status shows the source, its age, and the last update with its result', async () => {
    const text = await commandText(['geo', 'status'], settings);
    assert.match(text, /^country: downloaded \(CSV \(start,end,country\)\), data of 2026-11-20, \d+ days old\n/);
    assert.match(text, /\nupdate of \d{4}-\d\d-\d\dT[\d:.]+Z\n/);
    assert.match(text, held);
  });

  test('D17.4 weir geo accept: servers take the download that was held back', async () => {
    assert.match(
      await commandText(['geo', 'accept'], settings),
      /^accepted: \S+country\.csv, \S+asn\.csv; servers on this DATA_DIR take them/,
    );
    await eventually(() => assert.equal(reloads().length, 2));
    await eventually(async () => assert.ok((await feed('DE')).has('10.0.0.0/')));
    const { update } = await commandJson<{ update: { country: unknown; asn: unknown } }>(['geo', 'status'], settings);
    assert.deepEqual([update.country, update.asn], [{ result: 'new', text: 'accepted' }, null]);
  });

  test('D17.2 where all kinds have files of the operator’s, there is nothing to download', async () => {
    const { code, stderr } = await command(['geo', 'update'], { ...settings, GEO_COUNTRY_FILE });
    assert.deepEqual([code, stderr], [2, 'weir: GEO_COUNTRY_FILE and GEO_ASN_FILE are set: there is nothing to download\n']);
  });
});

test('D17.6, D17.5 proxies of the environment are used, and no redirect leads away from https', { skip: needs('openssl') }, async (t) => {
  const folder = temporaryFolder(t);
  await makeAuthority(folder);
  await makeCertificate(folder, 'source', '/CN=geo.example', 'subjectAltName=DNS:geo.example');
  const [key, cert] = ['source.key', 'source.pem'].map((name) => readFileSync(join(folder, name)));
  const leadAway: RequestListener = (_, response) => {
    response.writeHead(302, { location: 'http://geo.example/origin-asn-ipv6.csv' }).end();
  };
  const files = { ...goodFiles(), 'origin-asn-ipv6.csv': leadAway };
  const source = createServer({ key, cert }, serve(files)).listen(0, '127.0.0.1');
  const asked: string[] = [];
  const proxy = createProxy().listen(0, '127.0.0.1');
  proxy.on('connect', (request, socket) => {
    asked.push(request.url!);
    const onward = connect((source.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [onward, socket]) end.on('error', () => {});
  });
  t.after(() => {
    for (const server of [source, proxy]) {
      server.closeAllConnections();
      server.close();
    }
  });
  await Promise.all([source, proxy].map((server) => server.listening || new Promise((resolve) => server.once('listening', resolve))));

  const { code, stdout } = await weir(['geo', 'update'], {
    DATA_DIR: smallDownloads(folder),
    GEO_UPDATE_URL: 'https://geo.example',
    NODE_USE_ENV_PROXY: '1',
    HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  });
  assert.match(stdout, /country: new data are in place: data of 2026-11-20, 20000 rows, 8 countries/);
  assert.match(
    stdout,
    /asn: failed, the data in use stay: https:\/\/geo\.example\/origin-asn-ipv6\.csv: it redirects from https:\/\/ to http:\/\/$/m,
  );
  assert.equal(code, 1);
  assert.ok(asked.length > 0 && asked.every((target) => target === 'geo.example:443'), asked.join());
});
