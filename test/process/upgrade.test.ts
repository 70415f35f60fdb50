/** From an older weir to this one, and back. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import about from '../../package.json' with { type: 'json' };
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { firstVersion } from '../conformance/first-version.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { freePort } from '../support/http.ts';

const MIGRATIONS = 'CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;';
const check = (settings: Record<string, string>) => command(['migrate', '--check'], settings);

/** All that a database has: its schema, and the rows of each table, but for the mark of `weir restore` (SPEC D61.3). */
function content(file: string): unknown[] {
  using db = new DatabaseSync(file, { readOnly: true });
  const schema = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  return [
    schema,
    ...tables.map((name) => {
      const rows = db.prepare(`SELECT * FROM "${name}"`);
      rows.setReadBigInts(true);
      return rows.all().filter((row) => row.name !== 'restored_at');
    }),
  ];
}

test('D26.2 D26.3 a store of 0.2.0 is checked, backed up, migrated, and is the old one again after a restore', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  const none = await check({ DATA_DIR: join(DATA_DIR, 'none') });
  assert.equal(none.code, 3);
  assert.match(none.stdout, /^there is no store yet: it would be made with the schema \d{3}-[a-z-]+\.sql\n$/);

  const file = join(DATA_DIR, 'weir.db');
  const db = new DatabaseSync(file);
  db.exec(`${MIGRATIONS} ${firstVersion('sqlite')}`);
  db.close();
  await (await openSqliteStream(DATA_DIR)).close();
  const before = content(file);
  const old = await check({ DATA_DIR });
  assert.equal(old.code, 3);
  assert.match(old.stdout, /^the store has the schema 029-people\.sql; a start .* brings it to \d{3}-.*: 030-consensus\.sql, /);
  assert.deepEqual(content(file), before);

  const backup = join(temporaryFolder(t), 'before');
  assert.equal((await command(['backup', backup], { DATA_DIR })).code, 0);
  assert.equal((await command(['migrate'], { DATA_DIR })).code, 0);
  const now = await check({ DATA_DIR });
  assert.deepEqual([now.code, /^the schema of the store is up to date: \d{3}-/.test(now.stdout)], [0, true]);

  assert.equal((await command(['restore', '--force', backup], { DATA_DIR })).code, 0);
  assert.equal((await check({ DATA_DIR })).code, 3);
  assert.deepEqual(content(file), before);
});

test('D26.2 the check names what a newer weir has applied', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  await command(['migrate'], { DATA_DIR });
  const db = new DatabaseSync(join(DATA_DIR, 'weir.db'));
  db.exec("INSERT INTO migrations VALUES ('998-b.sql', 1)");
  db.close();
  const { code, stdout } = await check({ DATA_DIR });
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^the store was written by a newer weir, which this one cannot read: it has 998-b\.sql, and \d{3}-.*\.sql is known here\n$/,
  );
});

/** The release.json of a repository, in a folder. */
function repository(t: TestContext, release: object): string {
  const folder = temporaryFolder(t);
  const migrations = ['030-consensus.sql', '998-b.sql'];
  const packages = [{ file: 'weir-geo.deb', architecture: 'all', bytes: 1e6, installed_bytes: 2e6 }];
  const all = {
    weir_release: 1,
    version: '99.0.0',
    date: '2030-01-01',
    migrations: { sqlite: migrations, postgres: migrations },
    packages,
    changes: [],
    ...release,
  };
  writeFileSync(join(folder, 'release.json'), JSON.stringify(all));
  return folder;
}

test('D49.5 weir upgrade --check names breaking changes in between, migrations and disk, and changes nothing', async (t) => {
  const DATA_DIR = temporaryFolder(t);
  await command(['migrate'], { DATA_DIR });
  const before = content(join(DATA_DIR, 'weir.db'));
  const changes = [
    { version: '100.0.0', breaking: ['not yet'] },
    { version: '99.0.0', breaking: ['`GET /old` ends', 'a \u001b[31mred word'] },
    { version: '0.1.0', breaking: ['long ago'] },
  ];
  const newer = await command(['upgrade', '--check', repository(t, { changes })], { DATA_DIR });
  assert.equal(newer.code, 3, newer.stderr);
  const [first, ...lines] = newer.stdout.trimEnd().split('\n');
  assert.match(first!, /^weir 99\.0\.0 of 2030-01-01 is available; this is \d/);
  assert.deepEqual(lines.slice(0, 3), [
    'breaking in 99.0.0: `GET /old` ends',
    'breaking in 99.0.0: a  [31mred word',
    'migrations: 998-b.sql. The way back is the backup made before them',
  ]);
  assert.match(lines[3]!, /^disk: \d+ MB for packages and the backup, \d+ MB are free$/);
  assert.deepEqual(content(join(DATA_DIR, 'weir.db')), before);

  const packages = [{ file: 'weir.deb', architecture: 'all', bytes: 1e18, installed_bytes: 0 }];
  assert.equal((await command(['upgrade', '--check', repository(t, { packages })], { DATA_DIR })).code, 1);
  const same = await command(['upgrade', '--check', repository(t, { version: about.version })], { DATA_DIR });
  assert.deepEqual([same.code, /^weir \S+ is up to date: the repository has [\d.]+\n$/.test(same.stdout)], [0, true]);
  for (const [folder, reason] of [
    [repository(t, { weir_release: 2 }), /describes no release that this weir knows/],
    [repository(t, { packages: [{}] }), /describes no release that this weir knows/],
    [DATA_DIR, /release\.json cannot be read: no such file or directory$/m],
    [`http://127.0.0.1:${await freePort()}/weir`, /\/weir\/release\.json: connect ECONNREFUSED/],
    ['ftp://example.com/weir', /must begin with https:/],
  ] as const) {
    const { code, stderr } = await command(['upgrade', '--check', folder], { DATA_DIR });
    assert.deepEqual([code, reason.test(stderr)], [2, true], stderr);
  }
});

test('D49.6 weir doctor checks each part on its own, and says what to do', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), PORT: '0', PROTECTED_NETWORKS: 'private' };
  const examine = async (more: Record<string, string>) => {
    const { code, stdout } = await command(['doctor', '--json'], { ...settings, ...more });
    const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; found: string; advice: string | null }[] };
    return { code, checks, bad: checks.filter(({ state }) => state === 'fault').map(({ check }) => check) };
  };
  const healthy = await examine({});
  assert.deepEqual(healthy.bad, [], JSON.stringify(healthy.checks));
  assert.deepEqual(
    healthy.checks.map(({ check }) => check),
    ['settings', 'disk', 'fsync', 'clock', 'files', 'port', 'tls', 'store', 'stream', 'geo', 'guard rails'],
  );
  for (const { state, advice } of healthy.checks) assert.equal(advice === null, state === 'ok');

  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  const ill = await examine({ PORT: String(port), TLS_CERT_FILE: '/none.pem', TLS_KEY_FILE: '/none.key', GEO_ASN_FILE: '/none.csv' });
  assert.equal(ill.code, 1);
  assert.deepEqual(ill.bad, ['port', 'tls', 'geo']);
  assert.match(ill.checks[6]!.found, /TLS_CERT_FILE: \/none\.pem cannot be read: .*; TLS_KEY_FILE/);
  // The store of another version.
  // A folder that is none, and an address of another machine.
  const odd = await examine({ MIN_PREFX_V4: '8', DATA_DIR: join(import.meta.filename, 'data'), HOST: '192.0.2.1' });
  assert.deepEqual(odd.bad, ['disk', 'fsync', 'clock', 'port', 'store']);
  assert.match(odd.checks[1]!.found, /^DATA_DIR \S+ is a file, not a folder$/);
  assert.match(odd.checks[5]!.advice!, /^set HOST/);
  assert.deepEqual(odd.checks[0]!.state, 'warning');
  await command(['migrate'], settings);
  const db = new DatabaseSync(join(settings.DATA_DIR, 'weir.db'));
  db.exec("INSERT INTO migrations VALUES ('998-b.sql', 1)");
  db.close();
  assert.deepEqual((await examine({})).bad, ['store']);
});
