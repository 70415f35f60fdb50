/** Commands beside a server that lands without a pause, and stores that they must leave as they are. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { after, before, describe, type TestContext, test } from 'node:test';
import { runCommandLine } from '../../src/cli/program.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { patiently } from '../../src/store/sqlite/database.ts';
import { firstVersion } from '../conformance/first-version.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
import { administer, noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { KEY, testEnvironment, weir, weirFor } from '../support/weir.ts';

const READING = [
  'export --workspace default',
  'org ls',
  'workspace ls',
  'key ls --workspace default',
  'list ls --workspace default',
  'rule ls --workspace default --kind waf_rule',
  'dead-letter ls',
];

test('D1.13, D1.14 while a server lands at full load every command does its work', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, RATE_LIMIT_SIGNALS: '0' };
  const server = await weirFor(t, settings);
  let busy = true;
  let batches = 0;
  const sender = async (number: number) => {
    for (let at = 0; busy; at = (at + 1) % 60) {
      const entries = Array.from({ length: 1000 }, (_, n) => ({
        type: 'access_rules',
        action: 'block',
        ip: `${10 + number}.${at}.${n >> 8}.${n & 255}`,
      }));
      const { status } = await postSignals(server.url, KEY, entries, '/v1/signal');
      assert.equal(status, 200);
      batches += 1;
    }
  };
  const senders = Promise.all([1, 2, 3].map(sender));
  try {
    for (const line of [
      'rule ls --workspace default --kind waf_rule',
      'key ls --workspace default',
      'org create acme',
      'list create new --workspace default',
    ]) {
      const { code, stderr } = await weir(line.split(' '), settings);
      assert.equal(code, 0, `${line}: ${stderr}`);
      assert.doesNotMatch(stderr, /locked/);
    }
  } finally {
    busy = false;
    await senders;
  }
  assert.ok(batches > 10, `${batches} batches`);
});

/** A store with a workspace and its stream, whose files another process locks until the test ends; that of the store may be opened before. */
async function lockedFiles(t: TestContext) {
  const settings = { DATA_DIR: temporaryFolder(t) };
  await command(['org', 'create', 'acme'], settings);
  await command(['workspace', 'create', 'default', '--org', 'acme'], settings);
  assert.equal((await command(['export', '--workspace', 'default'], settings)).code, 0);
  const [store, stream] = ['weir.db', 'stream.db'].map((name) => new DatabaseSync(join(settings.DATA_DIR, name)));
  for (const db of [store, stream]) {
    db.exec('BEGIN IMMEDIATE');
    t.after(() => db.close());
  }
  return { settings, unlock: () => store.exec('ROLLBACK') };
}

test('D1.13 a command that reads needs no lock', async (t) => {
  const { settings } = await lockedFiles(t);
  for (const line of READING) {
    const { code, stderr } = await command(line.split(' '), settings);
    assert.equal(code, 0, `${line}: ${stderr}`);
  }
});

test('D1.14 a command that writes waits for the lock, and says so after a second', async (t) => {
  const { settings, unlock } = await lockedFiles(t);
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  let said = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    unlock();
  });
  const begun = performance.now();
  const code = await runCommandLine(['org', 'create', 'more'], { environment: testEnvironment(settings), stdout, stderr });
  assert.equal(code, 0, said);
  assert.ok(performance.now() - begun >= 1000);
  assert.match(String(stdout.read()), /^organization more /);
  assert.equal(said, 'weir: another process writes to the store; waiting for it, at most 30 s\n');
});

test('D1.14 a lock that is held for too long is a sentence', async () => {
  const locked = () => {
    throw Object.assign(new Error('database is locked'), { errcode: 5 });
  };
  const fault = { code: 'STORE_UNAVAILABLE', message: "other processes have locked the store's file for 0.02 s" };
  await assert.rejects(patiently(locked, { limit: 20, onWait: () => assert.fail() }), fault);
  const broken = () => {
    throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  await assert.rejects(patiently(broken, { limit: 20, onWait: () => assert.fail() }), { message: 'disk I/O error' });
});

test('D1.13 D26.2 a command that reads makes and migrates nothing on the embedded store', async (t) => {
  const DATA_DIR = join(temporaryFolder(t), 'data');
  for (const line of READING) {
    const { code, stdout, stderr } = await command(line.split(' '), { DATA_DIR });
    assert.deepEqual(
      [code, stdout, stderr],
      [2, '', `weir: there is no store in DATA_DIR ${DATA_DIR}: run weir migrate or start the service\n`],
    );
  }
  assert.ok(!existsSync(DATA_DIR));

  await command(['migrate'], { DATA_DIR });
  const file = join(DATA_DIR, 'weir.db');
  const db = new DatabaseSync(file);
  db.exec('DELETE FROM migrations');
  db.close();
  const before = readFileSync(file);
  const { code, stderr } = await command(['org', 'ls'], { DATA_DIR });
  assert.deepEqual([code, stderr], [2, 'weir: the store is empty: run weir migrate or start the service\n']);
  assert.deepEqual(readFileSync(file), before);
  writeFileSync(file, 'no database, but long enough to be looked at as one by whoever opens it\n'.repeat(99));
  assert.equal(
    (await command(['org', 'ls'], { DATA_DIR })).stderr,
    `weir: the store's file ${file} cannot be used: file is not a database\n`,
  );
});

const MIGRATED = /the schema of the store is brought up to date: 030-consensus\.sql to \d{3}-[a-z-]+\.sql$/m;

/** An embedded store of weir 0.2.0. */
function firstVersionFolder(t: TestContext): string {
  const folder = temporaryFolder(t);
  using db = new DatabaseSync(join(folder, 'weir.db'));
  db.exec(`CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID; ${firstVersion('sqlite')}`);
  return folder;
}

test('D1.24 what writes first to a store of an older weir names the migrations; nothing is told of a new store, nor twice', async (t) => {
  const DATA_DIR = firstVersionFolder(t);
  const [first, second] = [await command(['migrate'], { DATA_DIR }), await command(['migrate'], { DATA_DIR })];
  assert.match(first.stderr, MIGRATED);
  const [, ...others] = first.stderr.trimEnd().split('\n');
  assert.deepEqual(others, ['weir: the file of the store is rewritten once, to shrink after deletions']);
  assert.equal(second.stderr, '');
  assert.equal((await command(['migrate'], { DATA_DIR: temporaryFolder(t) })).stderr, '');

  const served = await weirFor(t, {
    ...smallGeo(temporaryFolder(t)),
    DATA_DIR: firstVersionFolder(t),
    BOOTSTRAP_API_KEY: KEY,
    LOG_LEVEL: 'info',
  });
  await served.kill('SIGTERM');
  assert.match(served.output().stderr, /"msg":"the schema of the store is brought up to date: 030-consensus\.sql to /);
});

test('D1.24 a migration that ends halfway leaves a store of an older weir as it was', async (t) => {
  const DATA_DIR = firstVersionFolder(t);
  const schema = () => {
    using db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
    return db.prepare('SELECT name FROM sqlite_schema ORDER BY name').all().concat(db.prepare('SELECT * FROM migrations').all());
  };
  const db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
  db.exec('CREATE TABLE webhooks (taken INTEGER)');
  db.close();
  const before = schema();
  assert.equal((await command(['migrate'], { DATA_DIR })).code, 2);
  assert.deepEqual(schema(), before);
});

test('D1.24 a store from before 0.2.0 is refused, and the sentence names 0.2.0', async (t) => {
  const DATA_DIR = firstVersionFolder(t);
  const db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
  db.exec("DELETE FROM migrations WHERE name > '028'");
  db.close();
  for (const line of ['migrate', 'migrate --check', 'org ls']) {
    const { code, stdout, stderr } = await command(line.split(' '), { DATA_DIR });
    const says = 'weir: the store was written by a weir before 0.2.0: start weir 0.2.0 with it first, then this one\n';
    assert.deepEqual([code, stdout, stderr], [2, '', says]);
  }
});

test('D1.24 a weir that is older than the store names the first and the last of the migrations that it does not know', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  await command(['migrate'], { DATA_DIR });
  const db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
  db.exec("INSERT INTO migrations VALUES ('997-a.sql', 1), ('998-b.sql', 1), ('999-c.sql', 1)");
  db.close();
  for (const line of ['migrate', 'org ls', 'org create acme']) {
    const { code, stdout, stderr } = await command(line.split(' '), { DATA_DIR });
    const says = 'weir: the store was written by a newer weir: it has the migrations 997-a.sql to 999-c.sql\n';
    assert.deepEqual([code, stdout, stderr], [2, '', says]);
  }
});

describe('PostgreSQL', { skip: noPostgres() }, () => {
  let postgres: Postgres;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());

  test('D1.13 D26.2 a command that reads makes and migrates nothing on PostgreSQL', async (t) => {
    const settings = { DATA_DIR: temporaryFolder(t), DATABASE_URL: await postgres.createDatabase() };
    const { code, stderr } = await command(['org', 'ls'], settings);
    assert.deepEqual([code, stderr], [2, 'weir: the store is empty: run weir migrate or start the service\n']);
    const db = openDatabase(settings.DATABASE_URL);
    t.after(() => db.close());
    assert.equal((await command(['migrate', '--check'], settings)).code, 3);
    assert.equal((await db.one("SELECT to_regclass('migrations') AS found"))?.found, null);
    assert.equal((await command(['migrate'], settings)).code, 0);
    assert.equal((await command(['migrate', '--check'], settings)).code, 0);
    assert.equal((await command(['org', 'ls'], settings)).code, 0);
  });

  test('D1.24 what writes first to a store of an older weir names the migrations, on PostgreSQL', async (t) => {
    const settings = { DATA_DIR: temporaryFolder(t), DATABASE_URL: await postgres.createDatabase() };
    await administer(settings.DATABASE_URL, 'CREATE TABLE migrations (name TEXT COLLATE "C" PRIMARY KEY, applied_at BIGINT NOT NULL)');
    await administer(settings.DATABASE_URL, firstVersion('postgres'));
    const [first, second] = [await command(['migrate'], settings), await command(['migrate'], settings)];
    assert.match(first.stderr, MIGRATED);
    assert.equal(second.stderr, '');
  });
});
