/** docs/operating.md tells of everything that is kept what bounds it: no table of a store or a stream is without a row. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { suite, test } from 'node:test';
import { SETTINGS } from '../../src/config.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openLog } from '../../src/stream/sqlite/log.ts';
import { temporaryFolder } from '../support/folder.ts';
import { administer, noPostgres, startPostgres } from '../support/postgres.ts';

const [, section] = /^## What grows\n([\s\S]*?)^## /m.exec(readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8'))!;
const rows = [...section!.matchAll(/^\| (.+) \|$/gm)].map(([, row]) => row!.split(' | '));
const named = (cell = '') => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);
/** The tables that the document names, those of the stream with its name before them. */
const told = rows.flatMap(([first]) => named(first)).sort();

function tablesOf(db: DatabaseSync): string[] {
  const all = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'").all();
  return all.map(({ name }) => String(name));
}

test('D22.1 every table of weir.db and stream.db has a row, and no row is of a table that is gone', async (t) => {
  const folder = temporaryFolder(t);
  await (await openSqliteStore(folder)).close();
  using store = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true });
  using stream = openLog(join(folder, 'stream.db'));
  assert.deepEqual(told, [...tablesOf(store), ...tablesOf(stream).map((name) => `stream.${name}`)].sort());
});

suite('PostgreSQL', { skip: noPostgres() }, () => {
  test('D22.1 every table of the database has a row, and no row is of a table that is gone', async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.stop());
    const url = await postgres.createDatabase();
    await (await openPostgresStore(url)).close();
    const tables = await administer(
      url,
      "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
    );
    assert.deepEqual(
      told.filter((name) => !name.startsWith('stream.')),
      tables.map(({ table_name }) => String(table_name)).sort(),
    );
  });
});

test('D22.1 the settings that bound something are settings, and those that begin with MAX_ are all told', () => {
  const settings = Object.values(SETTINGS).map(({ variable }) => variable);
  const given = rows.flatMap((row) => named(row.at(-1)).filter((name) => /^[A-Z_]+$/.test(name)));
  assert.deepEqual(
    given.filter((name) => !settings.includes(name)),
    [],
  );
  assert.deepEqual(
    settings.filter((name) => name.startsWith('MAX_') && !given.includes(name)),
    ['MAX_CONNECTIONS_PER_ADDRESS'],
  );
});
