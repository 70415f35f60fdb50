import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock, test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DAY } from '../../src/clock.ts';
import type { Freeze } from '../../src/ports/stored/freeze-store.ts';
import { migrateDatabase, openDatabase, prepared, storeClock } from '../../src/store/sqlite/database.ts';
import { ruleScans } from '../../src/store/sqlite/snapshot.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { agreementConformance } from '../conformance/agreement.ts';
import { archiveConformance } from '../conformance/archive.ts';
import { archiveDifferenceConformance } from '../conformance/archive-difference.ts';
import { archiveWritersConformance } from '../conformance/archive-writers.ts';
import { bouncerConformance } from '../conformance/bouncers.ts';
import { changesConformance } from '../conformance/changes.ts';
import { deletedConformance } from '../conformance/deleted.ts';
import { feedInputsConformance } from '../conformance/feed-inputs.ts';
import { assertFirstVersion, firstVersion } from '../conformance/first-version.ts';
import { followConformance } from '../conformance/follow.ts';
import { freezeConformance } from '../conformance/freeze.ts';
import { managementConformance } from '../conformance/management.ts';
import { pastConformance } from '../conformance/past.ts';
import { assertPlans, type Search } from '../conformance/plans.ts';
import { roomConformance } from '../conformance/room.ts';
import { counterBounds, senderConformance } from '../conformance/senders.ts';
import { sourceConformance } from '../conformance/sources.ts';
import { access, fixture, ip, type StoreDriver, storeConformance, T0, upsert } from '../conformance/store.ts';
import { togetherConformance } from '../conformance/together.ts';
import { undoConformance } from '../conformance/undo.ts';
import { webhookConformance } from '../conformance/webhooks.ts';
import { worthConformance } from '../conformance/worth.ts';
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
      using db = new DatabaseSync(join(folder, 'weir.db'));
      return prepare.call(db, text).all();
    };
    return { store: await open(), again: open, query };
  },
};
storeConformance(driver);
agreementConformance(driver);
feedInputsConformance(driver);
undoConformance(driver);
bouncerConformance(driver);
pastConformance(driver);
followConformance(driver);
freezeConformance(driver);
archiveConformance(driver);
archiveDifferenceConformance(driver);
archiveWritersConformance(driver);
managementConformance(driver);
roomConformance(driver);
sourceConformance(driver);
webhookConformance(driver);
deletedConformance(driver);
togetherConformance(driver);
senderConformance(driver);
counterBounds(driver);
worthConformance(driver);
changesConformance(driver);

test('D65.5, D65.7 store sqlite: the restoration of a list waits after a day, and stops if its blocks overlap a never-block rule', async (t) => {
  let now = T0;
  const store = await openSqliteStore(temporaryFolder(t), () => now);
  t.after(() => store.close());
  const { workspace, land } = await fixture(t, {
    name: 'sqlite',
    open: async () => ({ store, again: async () => store, query: async () => [] }),
  });
  const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
  await store.createFeed(workspace.id, { name: 'device', ...NO_SETTINGS, lists: null, canaryKeys: 'lab' });
  const rule = (text: string, action: 'block' | 'allow') => upsert(access(ip(text), { action }));
  await land([rule('198.51.100.0/24', 'allow'), { listId: list.id, change: rule('198.51.100.7', 'block') }]);
  await store.deleteList(workspace.id, list.id);
  now += DAY + 1;
  await store.restoreDeleted(workspace.id, list.id, {});
  const [{ reason, canary }] = (await store.freezes(workspace.id)) as [Freeze];
  assert.equal(reason, 'edge is restored; stopped: 198.51.100.7 overlaps the never-block rule 198.51.100.0/24');
  assert.equal(canary!.until, null);
});

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

test('D1.24 store sqlite: a file of 0.2.0 opens with its rules', async (t) => {
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

test('D22.5 store sqlite: what a large delete leaves free goes back to the disk, 4 MiB at a time, and landing continues between', async (t) => {
  const { store, workspace, land, query, targets } = await fixture(t, driver);
  const list = await store.createList(workspace.id, 'large', NO_SETTINGS);
  const reason = 'x'.repeat(2000);
  const rule = (n: number) => upsert(access(ip(`10.0.${n >> 8}.${n & 255}`), { reason }));
  for (let n = 0; n < 15_000; n += 1000) {
    await land(Array.from({ length: 1000 }, (_, i) => ({ listId: list.id, change: rule(n + i) })));
  }
  await land([upsert(access(ip('192.0.2.1')))]);
  await store.deleteList(workspace.id, list.id);
  while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 1000 })) > 0);
  const pages = async () => Number((await query('PRAGMA page_count'))[0]!.page_count);
  const before = await pages();
  assert.ok(before > 7500, String(before));
  let last = before;
  for (let n = 0; ; n += 1) {
    const more = await store.shrink();
    const now = await pages();
    assert.ok(last - now <= 1100, `${last - now} pages at once`);
    last = now;
    if (!more) break;
    await land([upsert(access(ip(`198.51.100.${n}`)))]);
  }
  assert.ok(last < before - 3000 && last >= 4000, `${before} pages, then ${last}`);
  assert.equal(await store.shrink(), false);
  assert.equal((await query('PRAGMA integrity_check'))[0]!.integrity_check, 'ok');
  assert.ok((await targets()).includes('192.0.2.1'));
});

test('D50.9 store sqlite: values bound in order have no names, which SQLite would search for each of them', () => {
  const db = new DatabaseSync(':memory:');
  assert.deepEqual(
    ['SELECT $1, $2', 'SELECT $2, $1, $2'].map((text) => prepared(db, text).sourceSQL),
    ['SELECT ?, ?', 'SELECT ?2, ?1, ?2'],
  );
  db.close();
});

test('D56.3 store sqlite: blocks that ended long ago are forgotten in steps of one item too', async (t) => {
  const folder = temporaryFolder(t);
  const opened = await openSqliteStore(folder);
  t.after(() => opened.close());
  using db = new DatabaseSync(join(folder, 'weir.db'));
  const { store, workspace, land } = await fixture(t, {
    ...driver,
    open: async () => ({ store: opened, again: async () => opened, query: async () => [] }),
  });
  const { id: listId } = await store.createList(workspace.id, 'one', { ...NO_SETTINGS, repeat: 'x4 within 2d up to 30d' });
  const block = (target: string, day: number) => {
    const receivedAt = T0 + day * 86_400_000;
    return land([{ listId, receivedAt, change: upsert(access(ip(target), { expiresAt: receivedAt + 60_000 })) }]);
  };
  await block('192.0.2.1', 0);
  db.exec("UPDATE counters SET value = 65535 WHERE name = 'rule_id'");
  await block('192.0.2.2', 9);
  assert.equal(db.prepare('SELECT group_concat(target) AS targets FROM repeat_blocks').get()!.targets, '192.0.2.2');
});

test('D22.5 store sqlite: the file of an older weir is written anew once, and shrinks from then on', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'weir.db');
  const old = new DatabaseSync(file);
  old.exec('PRAGMA journal_mode = WAL; CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT, WITHOUT ROWID');
  old.exec(firstVersion('sqlite'));
  assert.equal(old.prepare('PRAGMA auto_vacuum').get()!.auto_vacuum, 0);
  old.close();
  const told: string[] = [];
  const store = await openSqliteStore(folder, Date.now, { onMigrate: (sentence) => told.push(sentence) });
  await store.close();
  assert.match(told.at(-1)!, /^the file of the store is rewritten once/);
  using db = new DatabaseSync(file, { readOnly: true });
  assert.equal(db.prepare('PRAGMA auto_vacuum').get()!.auto_vacuum, 2);
});
