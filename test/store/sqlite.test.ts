import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock, test } from 'node:test';
import { storeClock } from '../../src/store/sqlite/clock.ts';
import { migrateDatabase, openDatabase } from '../../src/store/sqlite/database.ts';
import { ruleScans } from '../../src/store/sqlite/snapshot.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { bouncerConformance } from '../conformance/bouncers.ts';
import { deletedConformance } from '../conformance/deleted.ts';
import { assertFirstVersion, firstVersion } from '../conformance/first-version.ts';
import { followConformance } from '../conformance/follow.ts';
import { managementConformance } from '../conformance/management.ts';
import { pastConformance } from '../conformance/past.ts';
import { assertPlans, type Search } from '../conformance/plans.ts';
import { type StoreDriver, storeConformance } from '../conformance/store.ts';
import { undoConformance } from '../conformance/undo.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Every statement that a store has prepared, instants aside. */
const statements = new Set<string>();
const { prepare } = DatabaseSync.prototype;
mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, ...args: Parameters<typeof prepare>) {
  statements.add(args[0].replaceAll(/\d{13}/g, '0'));
  return prepare.apply(this, args);
});

const driver: StoreDriver = {
  name: 'sqlite',
  async open(t) {
    const folder = temporaryFolder(t);
    const open = async () => {
      const store = await openSqliteStore(folder);
      t.after(() => store.close());
      return store;
    };
    const query = async (text: string) => {
      using db = new DatabaseSync(join(folder, 'weir.db'), { readOnly: true });
      return prepare.call(db, text).all();
    };
    return { store: await open(), again: open, query };
  },
};
storeConformance(driver);
undoConformance(driver);
bouncerConformance(driver);
pastConformance(driver);
followConformance(driver);
managementConformance(driver);
deletedConformance(driver);

test('D4.12 store sqlite: every statement of the tests above finds its rows through an index', () => {
  const recorded = [...statements];
  using db = new DatabaseSync(':memory:');
  migrateDatabase(db);
  ruleScans(db, (text) => db.prepare(text));
  storeClock(db, Date.now);
  assertPlans(recorded.map((text) => [text, searches(text, db.prepare(`EXPLAIN QUERY PLAN ${text}`).all())]));
});

test('store sqlite: no statement of the tests above holds an instant, so that each is prepared once', () => {
  assert.deepEqual(
    [...statements].filter((text) => /\b[12]\d{12}\b/.test(text)),
    [],
  );
});

test('D4.14 store sqlite: a file of the first version opens with its rules; instants that are no milliseconds break no read', async (t) => {
  const folder = temporaryFolder(t);
  const old = openDatabase(join(folder, 'weir.db'));
  old.exec('CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID');
  old.exec(firstVersion('sqlite'));
  old.close();
  const store = await openSqliteStore(folder);
  t.after(() => store.close());
  await assertFirstVersion(store);
});

/** Reads lines such as `SEARCH r USING INDEX access_rules_ref (list_pk=? AND rule_ref=?)` and `SCAN keys`. */
function searches(text: string, plan: readonly Record<string, unknown>[]): Search[] {
  const tables = new Map([...text.matchAll(/(?:FROM|JOIN|INTO|UPDATE|,) (\w+)(?: AS)? (\w+)/g)].map(([, table, alias]) => [alias, table]));
  return plan.flatMap(({ detail }) => {
    const [, name, index = '', columns = ''] =
      /^(?:SEARCH|SCAN) (\w+)(?: EXISTS)?(?: USING (?:[A-Z]+ )*(\w*) ?\((.*)\))?/.exec(String(detail)) ?? [];
    return name === undefined
      ? []
      : [{ table: tables.get(name) ?? name, index, columns: [...columns.matchAll(/\w+(?=(?:,\w+)*\)?[<>=])/g)].map(String) }];
  });
}
