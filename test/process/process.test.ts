/** Running it: settings, start, readiness, stop, logs and roles of the real process (decisions, section 1). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { bearer, freePort, getFeed, postSignals, readyz } from '../support/http.ts';
import { eventually, inTime, KEY, MAIN, PATIENT, testEnvironment, type Weir, weir, weirFor } from '../support/weir.ts';

const block = (ip: string) => JSON.stringify([{ type: 'access_rules', action: 'block', ip }]);
const post = (url: string, ip: string, key = KEY) => postSignals(url, key, block(ip));
/** The status of a signal on a connection of its own. */
const statusAlone = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { method: 'POST', agent: false, headers: bearer(KEY) };
    request(`${url}/v1/signal`, options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(block('192.0.2.1'));
  });
const feed = async (url: string, key = KEY) => (await getFeed(url, key)).text;

const GEO = smallGeo(temporaryFolder({ after }));

/** A running weir that is gone when the test ends. */
const running = (t: TestContext, settings: Record<string, string>): Promise<Weir> =>
  weirFor(t, { BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0', ...GEO, ...settings });

suite('settings', { concurrency: 2 }, () => {
  const FAULTY = {
    PORT: '70000',
    ROLES: 'signals,kitchen',
    LOG_LEVEL: 'loud',
    BOOTSTRAP_API_KEY: 'short',
    TRUST_PROXY: '10.0.0.0/33',
    DATABASE_URL: 'mysql://user:secret@host/db',
    DRAIN_SECONDS: '-1',
    RATE_LIMIT_FEEDS: '1.5',
  };
  const COMMANDS = [['serve'], ['org', 'ls'], ['migrate'], ['geo', 'status'], ['send', '-', '--url', 'http://127.0.0.1:9', '--key', KEY]];
  for (const args of COMMANDS) {
    test(`D1.1 every fault in the settings is listed at once, in readable lines, exit code 2: weir ${args[0]}`, async (t) => {
      const folder = join(temporaryFolder(t), 'data');
      const run = args[0] === 'serve' ? weir : command;
      const { code, stdout, stderr } = await run(args, { ...FAULTY, DATA_DIR: folder });
      assert.equal(code, 2);
      assert.equal(stdout, '');
      const lines = stderr.trimEnd().split('\n');
      assert.deepEqual(lines.map((line) => /^weir: ([A-Z_]+) must be /.exec(line)?.[1]).sort(), Object.keys(FAULTY).sort());
      assert.doesNotMatch(stderr, /short|secret/, 'a secret is not repeated');
      assert.ok(!existsSync(folder), 'nothing is begun');
    });
  }

  test('D1.1 an empty variable counts as unset', async (t) => {
    const settings = Object.fromEntries([...Object.keys(FAULTY), 'HOST', 'GEO_ASN_FILE', 'SCHEMES_FILE'].map((name) => [name, '']));
    assert.equal((await command(['org', 'create', 'acme'], { ...settings, DATA_DIR: temporaryFolder(t) })).code, 0);
  });

  test('D1.1, D1.5 files that settings name are missing or broken at start: each told in one line, all at once, exit 2', async (t) => {
    const folder = temporaryFolder(t);
    const broken = join(folder, 'broken.csv');
    writeFileSync(broken, 'this,is,no\ngeo,data,file\n');
    const settings = { DATA_DIR: join(folder, 'data'), GEO_COUNTRY_FILE: broken, GEO_ASN_FILE: join(folder, 'none.mmdb') };
    const both = await weir(['serve'], { ...settings, SCHEMES_FILE: join(folder, 'none.json') });
    assert.equal(both.code, 2);
    assert.equal(both.stdout, '');
    const lines = both.stderr.trimEnd().split('\n');
    assert.equal(lines.length, 3, both.stderr);
    assert.ok(lines.every((line) => line.startsWith('weir: ')));
    for (const name of ['broken.csv', 'none.mmdb', 'none.json']) assert.equal(lines.filter((line) => line.includes(name)).length, 1, name);
    const status = await command(['geo', 'status'], settings);
    assert.equal(status.code, 2);
    assert.equal(status.stderr.trimEnd().split('\n').length, 2, status.stderr);
  });

  const USELESS: Record<string, { prepare(folder: string): string; says: RegExp }> = {
    'a data folder that is a file': {
      prepare(folder) {
        writeFileSync(join(folder, 'file'), '');
        return join(folder, 'file');
      },
      says: /file/,
    },
    'a store that is no database': {
      prepare(folder) {
        writeFileSync(join(folder, 'weir.db'), 'no database, but long enough to be looked at as one by whoever opens it\n'.repeat(99));
        return folder;
      },
      says: /weir\.db.*not a database/,
    },
    'a stream that is no database': {
      prepare(folder) {
        writeFileSync(join(folder, 'stream.db'), 'no database, but long enough to be looked at as one by whoever opens it\n'.repeat(99));
        return folder;
      },
      says: /stream\.db.*not a database/,
    },
    'a store of a newer weir': {
      prepare(folder) {
        const db = new DatabaseSync(join(folder, 'weir.db'));
        db.exec(
          "CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL); INSERT INTO migrations VALUES ('999-later.sql', 1)",
        );
        db.close();
        return folder;
      },
      says: /newer weir/,
    },
  };
  for (const [what, { prepare, says }] of Object.entries(USELESS)) {
    test(`D1.7 weir serve on ${what}: one readable sentence, exit code 2`, async (t) => {
      const { code, stdout, stderr } = await weir(['serve'], { ...GEO, DATA_DIR: prepare(temporaryFolder(t)), LOG_LEVEL: 'silent' });
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /^weir: .*\n$/);
      assert.match(stderr, says);
    });
  }
});

suite('start', () => {
  test('D2.3, D1.2 first start: a key printed once, two curl lines that work as pasted, the ready line last; the folder is private', async (t) => {
    const folder = join(temporaryFolder(t), 'not', 'there', 'yet');
    const first = await running(t, {
      DATA_DIR: folder,
      BOOTSTRAP_API_KEY: '',
      FEED_REBUILD_SECONDS: '30',
      GEO_COUNTRY_FILE: '',
      GEO_ASN_FILE: '',
    });
    const lines = first.output().stdout.trimEnd().split('\n');
    assert.equal(lines.at(-1), `weir ready on ${first.url}`);
    const keys = first.output().stdout.match(/weir_[\w-]+/g)!;
    assert.equal(new Set(keys).size, 1);
    assert.match(keys[0], /^weir_[A-Za-z0-9_-]{43}$/);
    assert.equal(statSync(folder).mode & 0o777, 0o700);

    const curls = lines.filter((line) => /^\s*curl /.test(line));
    assert.equal(curls.length, 2);
    // The feed waits 2 seconds for the signal, a busy machine may take longer.
    await eventually(async () => {
      const pasted = await promisify(execFile)('sh', ['-c', curls.join('\n')]);
      assert.equal(pasted.stdout, '{"success":true,"message":"Processed 1 entries, 0 failed"}192.0.2.1/32\n');
      assert.equal(pasted.stderr, '');
    });

    assert.equal(await first.kill('SIGTERM'), 0);
    const second = await running(t, { DATA_DIR: folder, BOOTSTRAP_API_KEY: '' });
    assert.equal(second.output().stdout, `weir ready on ${second.url}\n`);
    await eventually(async () => assert.equal(await feed(second.url, keys[0]), '192.0.2.1/32\n', 'the key and the rule are still there'));
  });

  test('D1.25 an engine that is away at the start: one sentence, exit 1, so that the service is started again', async (t) => {
    const start = (settings: Record<string, string>) =>
      weir(['serve'], { ...GEO, DATA_DIR: temporaryFolder(t), PORT: '0', LOG_LEVEL: 'error', ...settings });
    const [store, stream] = await Promise.all([
      start({ DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir' }),
      start({ KAFKA_BROKERS: '127.0.0.1:1' }),
    ]);
    assert.deepEqual([store.code, store.stderr], [1, 'weir: PostgreSQL does not answer: connect ECONNREFUSED 127.0.0.1:1\n']);
    assert.deepEqual([stream.code, stream.stderr], [1, 'weir: Kafka at 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1\n']);
  });

  test('D1.7 a file that DATABASE_URL names and that is not there is a mistake in that setting, exit 2', async (t) => {
    const DATABASE_URL = 'postgres://weir@127.0.0.1:1/weir?sslmode=verify-full&sslrootcert=/none.pem';
    const { code, stderr } = await command(['org', 'ls'], { DATA_DIR: temporaryFolder(t), DATABASE_URL });
    assert.deepEqual(
      [code, stderr],
      [2, "weir: a file that DATABASE_URL names cannot be read: ENOENT: no such file or directory, open '/none.pem'\n"],
    );
  });

  test('D1.26 processes that say REUSE_PORT share one port: all of them answer, and when one goes the others go on', async (t) => {
    const folder = temporaryFolder(t);
    const first = await running(t, { DATA_DIR: folder, REUSE_PORT: 'on' });
    const { port } = new URL(first.url);
    const second = await running(t, { DATA_DIR: folder, REUSE_PORT: 'on', ROLES: 'feeds', PORT: port });
    assert.equal(second.url, first.url);
    // Only the first has the role that takes signals: the other says 404.
    const statuses = async () => new Set(await Promise.all(Array.from({ length: 40 }, () => statusAlone(first.url))));
    assert.deepEqual([...(await statuses())].sort(), [200, 404]);
    await first.kill('SIGKILL');
    assert.deepEqual([...(await statuses())], [404]);
  });

  test('D1.2, D2.3 a busy port: one sentence, exit 2, and the key that the first start has made is not lost', async (t) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    t.after(() => taken.close());
    const folder = temporaryFolder(t);
    const settings = { ...GEO, DATA_DIR: folder, PORT: String((taken.address() as { port: number }).port) };
    const { code, stdout, stderr } = await weir(['serve'], settings);
    assert.equal(code, 2);
    assert.match(stderr, /^weir: cannot listen on 127\.0\.0\.1:\d+: .*in use.*\n$/);
    const next = await running(t, { DATA_DIR: folder, BOOTSTRAP_API_KEY: '' });
    const shown = /weir_[\w-]{43}/.exec(stdout + next.output().stdout)?.[0];
    assert.equal((await post(next.url, '192.0.2.1', shown)).status, 200);
  });

  test('D1.2 nothing is served before the ready line; BASE_URL is the address in the curl lines', async (t) => {
    const folder = temporaryFolder(t);
    const port = await freePort();
    const out = join(folder, 'stdout');
    const file = openSync(out, 'w');
    const env = testEnvironment({
      ...GEO,
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      BASE_URL: 'https://feeds.example.net/weir/',
    });
    const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', file, 'ignore'] });
    closeSync(file);
    t.after(() => child.kill('SIGKILL'));
    let refused = 0;
    const answer = await eventually(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch((error: Error) => {
        refused += 1;
        throw error;
      });
      return response;
    });
    assert.equal(answer.status, 200);
    assert.ok(refused > 0, 'it was asked before it was there');
    const printed = readFileSync(out, 'utf8');
    assert.ok(printed.endsWith(`weir ready on http://127.0.0.1:${port}\n`));
    assert.deepEqual(printed.match(/https:.*$/gm), [
      'https://feeds.example.net/weir/v1/signal',
      'https://feeds.example.net/weir/v1/threat/feeds',
    ]);
  });

  test('D1.4, D2.3 SIGTERM during start: nothing is left half made, exit 0', async (t) => {
    const folder = temporaryFolder(t);
    const env = testEnvironment({ ...GEO, DATA_DIR: folder });
    const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    const exited = new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
    // The store's file is there long before the ready line.
    await eventually(() => assert.ok(existsSync(join(folder, 'weir.db'))));
    child.kill('SIGTERM');
    assert.equal(await exited, 0);
    const next = await running(t, { DATA_DIR: folder, BOOTSTRAP_API_KEY: '' });
    const shown = /weir_[\w-]{43}/.exec(stdout + next.output().stdout)?.[0];
    assert.equal((await post(next.url, '192.0.2.1', shown)).status, 200);
  });
});

test('D1.6, D1.2 roles: any subset runs, ends its start with the ready line, and answers 404 where it has no part', async (t) => {
  const settings = { DATA_DIR: temporaryFolder(t) };
  const start = (ROLES: string, HOST = '127.0.0.1') => running(t, { ...settings, ROLES, HOST });
  // All of them at once beside each other on one data folder.
  const [first, ...others] = ['signals', 'consumer', 'feeds', 'signals,consumer', 'signals, feeds', 'consumer,feeds,manage'];
  const started = new Map([[first, await start(first, '::1')]]);
  for (const pair of [others.slice(0, 2), others.slice(2, 4), others.slice(4)]) {
    await Promise.all(pair.map(async (roles) => started.set(roles, await start(roles))));
  }
  assert.match(started.get('signals')!.url, /^http:\/\/\[::1\]:\d+$/);
  for (const [roles, { url, output }] of started) {
    assert.equal(output().stdout, `weir ready on ${url}\n`, roles);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    const [signals, consumer, feeds] = ['signals', 'consumer', 'feeds'].map((role) => roles.includes(role));
    const checks = ['store', ...(signals || consumer ? ['stream'] : []), ...(consumer ? ['landing'] : []), ...(feeds ? ['feeds'] : [])];
    await eventually(async () => {
      const ready = await readyz(url);
      assert.deepEqual([ready.status, Object.keys(ready.checks)], [200, checks], roles);
    });
    for (const [role, path] of [
      ['signals', '/v1/signal'],
      ['signals', '/v2/signal'],
      ['feeds', '/v1/threat/feeds'],
      ['feeds', '/v1/threat/feeds/default'],
      ['manage', '/v1/manage/whoami'],
    ]) {
      const has = roles.includes(role);
      const [own, other] = role === 'signals' ? ['POST', 'GET'] : ['GET', 'POST'];
      assert.equal((await fetch(url + path, { method: own })).status, has ? 401 : 404, `${roles} ${own} ${path}`);
      assert.equal((await fetch(url + path, { method: other })).status, has ? 405 : 404, `${roles} ${other} ${path}`);
    }
  }
  // Apart they are one service.
  assert.equal((await post(started.get('signals')!.url, '192.0.2.9')).status, 200);
  for (const roles of ['feeds', 'signals, feeds', 'consumer,feeds,manage']) {
    await eventually(async () => assert.equal(await feed(started.get(roles)!.url), '192.0.2.9/32\n'));
  }
  assert.deepEqual(await Promise.all([...started.values()].map((each) => each.kill('SIGTERM'))), Array(6).fill(0));
});

suite('stop', { concurrency: 4 }, () => {
  /** A POST whose body is held back until `finish`. */
  async function slowPost(url: string, ip: string) {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const body = block(ip);
    let answer = '';
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('error', () => {});
    const head = `POST /v1/signal HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${KEY}\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\nExpect: 100-continue\r\n\r\n`);
    // From here on it is in flight.
    await eventually(() => assert.equal(answer, 'HTTP/1.1 100 Continue\r\n\r\n'));
    answer = '';
    socket.write(body.slice(0, 9));
    return {
      closed,
      async finish() {
        socket.write(body.slice(9));
        await eventually(() => assert.match(answer, /\}$/));
        return answer;
      },
    };
  }

  test('D1.4, D1.3 SIGTERM: /readyz is 503 at once, requests are served for DRAIN_SECONDS, what is in flight is finished, exit 0', async (t) => {
    const { url, child, kill } = await running(t, { DATA_DIR: temporaryFolder(t), DRAIN_SECONDS: '9' });
    assert.equal((await readyz(url)).status, 200);
    const slow = await slowPost(url, '192.0.2.3');
    const began = performance.now();
    const exited = kill('SIGTERM');
    const ready = await eventually(async () => {
      const answer = await readyz(url);
      assert.equal(answer.status, 503);
      const { store, stream, landing } = answer.checks;
      assert.deepEqual([store.ok, stream.ok, landing.ok], [true, true, true]);
      return answer;
    });
    assert.match(ready.checks.process.reason!, /stopping/);
    // A second signal, as npm sends one, changes nothing.
    child.kill('SIGTERM');
    assert.equal((await post(url, '192.0.2.2')).status, 200);
    await eventually(async () => assert.equal(await feed(url), '192.0.2.2/32\n'));
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    await eventually(() => assert.rejects(fetch(`${url}/healthz`)));
    assert.ok(performance.now() - began > 8900, 'not before its time');
    assert.match(await slow.finish(), /^HTTP\/1\.1 200 /);
    assert.equal(await exited, 0);
  });

  test('D1.4 SIGINT without a drain time: what is in flight is finished and kept, exit 0', async (t) => {
    const folder = temporaryFolder(t);
    const { url, kill } = await running(t, { DATA_DIR: folder });
    const slow = await slowPost(url, '192.0.2.4');
    const exited = kill('SIGINT');
    await eventually(() => assert.rejects(fetch(`${url}/healthz`)));
    assert.match(await slow.finish(), /^HTTP\/1\.1 200 /);
    assert.equal(await exited, 0);
    const again = await running(t, { DATA_DIR: folder });
    await eventually(async () => assert.equal(await feed(again.url), '192.0.2.4/32\n'));
  });

  test('D1.4 a request that never ends does not hold the stop up for more than 10 s, exit 0', async (t) => {
    await inTime(10_000, async () => {
      const { url, kill } = await running(t, { DATA_DIR: temporaryFolder(t) });
      const slow = await slowPost(url, '192.0.2.5');
      const began = performance.now();
      assert.equal(await kill('SIGTERM'), 0);
      return { took: performance.now() - began, result: await slow.closed };
    });
  });
});

test('D4.5, D1.3, D1.17 a stream made anew: landing stops, /readyz is 503 and says what to do, nothing is lost; weir stream adopt asks, and cures it', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { DATA_DIR: folder };
  const before = await running(t, settings);
  assert.equal((await post(before.url, '192.0.2.1')).status, 200);
  await eventually(async () => assert.equal(await feed(before.url), '192.0.2.1/32\n'));
  assert.equal(await before.kill('SIGTERM'), 0);
  for (const name of readdirSync(folder)) if (name.startsWith('stream.db')) rmSync(join(folder, name));

  const halted = await running(t, settings);
  const ready = await eventually(async () => {
    const answer = await readyz(halted.url);
    assert.equal(answer.status, 503);
    return answer;
  });
  assert.deepEqual([ready.checks.store.ok, ready.checks.stream.ok, ready.checks.landing.ok], [true, true, false]);
  assert.match(ready.checks.landing.reason!, /deleted and created again.*weir stream adopt/);
  assert.equal((await fetch(`${halted.url}/healthz`)).status, 200, 'it is alive');
  assert.equal((await post(halted.url, '192.0.2.7')).status, 200, 'signals are taken and wait on the stream');
  await eventually(async () => assert.equal((await readyz(halted.url)).checks.landing.lag_messages, 1));
  assert.equal(await feed(halted.url), '192.0.2.1/32\n', 'the feed stays as it was');

  const asked = await command(['stream', 'adopt'], settings);
  assert.equal(asked.code, 2);
  assert.match(
    asked.stderr,
    /^weir: landing starts over with the stream .* weir restore puts a backup back instead\nweir: nothing has changed; add --yes to do it\n$/,
  );
  assert.equal((await readyz(halted.url)).checks.landing.ok, false);
  const adopted = await command(['stream', 'adopt', '--yes'], settings);
  assert.deepEqual([adopted.code, adopted.stderr], [0, '']);
  // Without a restart.
  await eventually(async () => assert.equal(await feed(halted.url), '192.0.2.1/32\n192.0.2.7/32\n'));
  await eventually(async () => {
    const { status, checks } = await readyz(halted.url);
    assert.deepEqual([status, checks.landing], [200, { ok: true, lag_messages: 0, lag_seconds: 0 }]);
  });
});

test('D1.21 ROLES=signals on a stream that cannot be written: /readyz is red with the reason, before any post and after, and green again by itself', async (t) => {
  const folder = temporaryFolder(t);
  await (await running(t, { DATA_DIR: folder })).kill('SIGTERM');
  const log = new DatabaseSync(join(folder, 'stream.db'), PATIENT);
  t.after(() => log.close());
  log.exec("CREATE TRIGGER full BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
  const { url } = await running(t, { DATA_DIR: folder, ROLES: 'signals' });
  const isRed = async () => {
    const { status, checks } = await readyz(url);
    assert.deepEqual([status, checks.store.ok, checks.stream.ok], [503, true, false]);
    assert.match(checks.stream.reason!, /cannot be written: the disk is full/);
  };
  await eventually(isRed);
  assert.equal((await post(url, '192.0.2.1')).status, 500);
  await isRed();
  log.exec('DROP TRIGGER full');
  await eventually(async () => assert.equal((await readyz(url)).status, 200));
  assert.equal((await post(url, '192.0.2.1')).status, 200);
});

test('D1.2, D2.2 logs are JSON lines on standard error; no key is ever in them, at no level', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { DATA_DIR: folder, LOG_LEVEL: 'trace', BOOTSTRAP_API_KEY: 'bootstrap-key-with-/+=:@-signs' };
  const { url, output, kill } = await running(t, settings);
  const made = await command(['key', 'create', '--workspace', 'default', '--permission', 'feed:read', '--json'], settings);
  const { key } = JSON.parse(made.stdout) as { key: string };
  const unknown = `weir_${'x'.repeat(43)}`;
  const keys = [settings.BOOTSTRAP_API_KEY, key, unknown];
  const basic = (user: string) => Buffer.from(user).toString('base64');
  async function everything(): Promise<number[]> {
    const statuses: number[] = [];
    for (const each of keys) {
      const encoded = encodeURIComponent(each);
      for (const authorization of [
        `Bearer ${each}`,
        `Basic ${basic(`api:${each}`)}`,
        `Basic ${basic(`${each}:`)}`,
        each,
        `Token ${each}`,
        `Bearer ${each} ${each}`,
      ]) {
        for (const [method, path] of [
          ['GET', '/v1/threat/feeds?checksum=sha1'],
          ['GET', '/v1/threat/feeds'],
          ['POST', '/v1/signal'],
          ['POST', '/v2/signal?list=nowhere'],
        ]) {
          statuses.push(
            (await fetch(url + path, { method, headers: { authorization }, body: method === 'POST' ? block('192.0.2.1') : null })).status,
          );
        }
      }
      for (const path of [
        `/v1/threat/feeds?key=${encoded}`,
        `/v1/threat/feeds/${encoded}`,
        `/${encoded}`,
        `/readyz?${encoded}`,
        `/docs/${encoded}`,
      ]) {
        await fetch(url + path, { headers: bearer(each) });
      }
      const { host } = new URL(url);
      // What curl makes of credentials in an address, and bytes that are no HTTP.
      await promisify(execFile)('curl', ['-sS', `http://api:${encoded}@${host}/v1/threat/feeds`]);
      await new Promise((resolve) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        socket.on('close', resolve).on('error', () => {});
        socket.end(`GET / HTTP/1.1\r\nAuthorization Bearer ${each}\r\n\r\n`);
        socket.resume();
      });
    }
    return statuses;
  }
  const usual = await everything();
  for (const status of [200, 400, 401, 403]) assert.ok(usual.includes(status), `${status} was among the answers`);
  // A store that has lost a table: errors are logged, and the clients are told nothing of it.
  const db = new DatabaseSync(join(folder, 'weir.db'), PATIENT);
  db.exec('ALTER TABLE lists RENAME TO mislaid');
  db.close();
  await sleep(1100);
  assert.ok((await everything()).includes(500));
  const told = await getFeed(url, key, '/other');
  assert.equal(told.text, '{"success":false,"error":"Internal server error","details":{}}');
  // The same of the stream. Landing waits for the table.
  await eventually(async () => {
    const { status, checks } = await readyz(url);
    assert.deepEqual([status, checks.stream.ok, checks.landing.ok], [503, true, false]);
    assert.match(checks.landing.reason!, /lists/);
  });
  const log = new DatabaseSync(join(folder, 'stream.db'), PATIENT);
  log.exec('ALTER TABLE ends RENAME TO mislaid');
  log.close();
  await eventually(async () => {
    const { status, checks } = await readyz(url);
    assert.deepEqual([status, checks.store.ok, checks.stream.ok], [503, true, false]);
    assert.match(checks.stream.reason!, /ends/);
  });
  const refused = await post(url, '192.0.2.1', settings.BOOTSTRAP_API_KEY);
  assert.deepEqual([refused.status, refused.text], [500, '{"error":"InternalServerError","message":"Internal server error","code":500}']);
  assert.equal(await kill('SIGTERM'), 0);

  const lines = output()
    .stderr.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; time: string; msg: string });
  assert.ok(lines.every(({ level, time, msg }) => typeof level === 'string' && !Number.isNaN(Date.parse(time)) && msg !== ''));
  assert.ok(
    lines.some(({ level }) => level === 'error'),
    'what failed is logged',
  );
  for (const each of keys) {
    for (const form of [each, encodeURIComponent(each), basic(`api:${each}`), basic(`${each}:`), each.slice(5, 25)]) {
      assert.ok(!output().stderr.includes(form), form);
    }
  }
  assert.equal(output().stdout, `weir ready on ${url}\n`);
});

test('D1.2 LOG_LEVEL: silent says nothing', async (t) => {
  const quiet = await running(t, { DATA_DIR: temporaryFolder(t), LOG_LEVEL: 'silent', BOOTSTRAP_API_KEY: 'tooshort-key' });
  assert.equal(await quiet.kill('SIGTERM'), 0);
  assert.equal(quiet.output().stderr, '');
});

test('D1.5 geo files: a changed file is reloaded on SIGHUP, a broken one is refused and the old data stays', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'country.csv');
  writeFileSync(file, '192.0.2.0,192.0.2.255,DE\n');
  const { url, child, output } = await running(t, { DATA_DIR: join(folder, 'data'), GEO_COUNTRY_FILE: file });
  assert.equal((await postSignals(url, KEY, [{ type: 'access_rules', action: 'block', country: 'de' }])).status, 200);
  await eventually(async () => assert.equal(await feed(url), '192.0.2.0/24\n'));
  writeFileSync(file, '198.51.100.0,198.51.100.255,DE\n');
  child.kill('SIGHUP');
  await eventually(async () => assert.equal(await feed(url), '198.51.100.0/24\n'));
  writeFileSync(file, 'no,data\n');
  child.kill('SIGHUP');
  await eventually(() => assert.match(output().stderr, /"level":"error".*country\.csv/));
  assert.equal(await feed(url), '198.51.100.0/24\n');
  assert.equal((await readyz(url)).status, 200);
});
