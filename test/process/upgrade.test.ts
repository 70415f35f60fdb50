/** From an older weir to this one, and back. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { firstVersion } from '../conformance/first-version.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';

const MIGRATIONS = 'CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;';
const check = (settings: Record<string, string>) => command(['migrate', '--check'], settings);

/** All that a database has: its schema, and the rows of each table. */
function content(file: string): unknown[] {
  using db = new DatabaseSync(file, { readOnly: true });
  const schema = db.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  const tables = schema.filter(({ type }) => type === 'table').map(({ name }) => String(name));
  return [
    schema,
    ...tables.map((name) => {
      const rows = db.prepare(`SELECT * FROM "${name}"`);
      rows.setReadBigInts(true);
      return rows.all();
    }),
  ];
}

test('D26.2 D26.3 a store of the first version is checked, backed up, migrated, and is the old one again after a restore', async (t) => {
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
  assert.match(old.stdout, /^the store has the schema 001-initial\.sql; a start .* brings it to \d{3}-.*: 002-list-names\.sql, /);
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
