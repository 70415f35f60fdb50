/** What every store driver must do with lists and feeds that are deleted: keep them for a while, bring them back, give them up (SPEC D15.51). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { MOST_DELETED, RESTORE_PERIOD } from '../../src/ports/stored/account-store.ts';
import { access, fixture, ip, KEY, type StoreDriver, upsert } from './store.ts';

const BY = { keyId: 'k', actor: 'Жанна' };
const FEED = { ...NO_SETTINGS, description: null };

export function deletedConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D15.51 store ${name}: a list that was deleted comes back with its rules, settings, feeds and bound keys, within seven days`, async (t) => {
    const { store, workspace, land, targets } = await fixture(t, driver);
    const settings = { ...NO_SETTINGS, family: 'v4', maxEntries: 7 } as const;
    const list = await store.createList(workspace.id, 'edge', { ...settings, description: 'the edge' });
    const other = await store.createList(workspace.id, 'other', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { ...FEED, name: 'device', lists: [list.id, other.id] });
    const gone = await store.createFeed(workspace.id, { ...FEED, name: 'gone', lists: [list.id] });
    const keys = await Promise.all(
      [1, 2, 3].map((n) =>
        store.createKey(workspace.id, { ...KEY, permissions: ['feed:read'], listId: list.id, hash: Buffer.alloc(32, n) }),
      ),
    );
    await store.revokeKey(keys[0]!.id);
    await land([{ change: upsert(access(ip('192.0.2.1'))), listId: list.id }, upsert(access(ip('192.0.2.2')))]);
    const now = await store.ping();
    const revisions = async () => {
      const found = await store.findNamed(workspace.id, feed.id);
      return found!.feeds[0]!.revision;
    };
    const before = await revisions();

    await store.deleteList(workspace.id, list.id, { by: BY });
    // A key that is revoked by itself meanwhile stays revoked.
    await store.revokeKey(keys[1]!.id);
    await store.deleteFeed(workspace.id, gone.id);
    assert.deepEqual(await targets(), ['192.0.2.2']);
    const deleted = await store.deletedFeeds(workspace.id, now);
    assert.deepEqual(
      deleted.map(({ kind, id, name: called, keys: bound, deletedAt, until }) => [kind, id, called, bound, until - deletedAt]),
      [
        ['composed', gone.id, 'gone', 0, RESTORE_PERIOD],
        ['list', list.id, 'edge', 1, RESTORE_PERIOD],
      ],
    );
    while ((await store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 })) > 0);
    const then = await revisions();
    assert.ok(then > before);

    assert.deepEqual(await store.restoreDeleted(workspace.id, list.id, {}, { by: BY }), {
      kind: 'list',
      id: list.id,
      name: 'edge',
      keys: 1,
      feeds: [{ id: feed.id, name: 'device' }],
    });
    assert.deepEqual(await targets(), ['192.0.2.1', '192.0.2.2']);
    const [there] = (await store.findNamed(workspace.id, 'edge'))!.lists;
    assert.deepEqual({ ...there, revision: 0 }, { ...list, revision: 0 });
    assert.ok(there!.revision > list.revision && (await revisions()) > then);
    assert.deepEqual((await store.feed(workspace.id, feed.id))!.lists, [list.id, other.id]);
    const valid = (await Promise.all([1, 2, 3].map((n) => store.findCaller(Buffer.alloc(32, n))))).map((caller) => caller !== undefined);
    assert.deepEqual(valid, [false, false, true]);
    // What was deleted with one of its lists comes back with that.
    await store.restoreDeleted(workspace.id, gone.id, {});
    assert.deepEqual((await store.feed(workspace.id, gone.id))!.lists, [list.id]);
    assert.deepEqual(await store.deletedFeeds(workspace.id, now), []);
    await land([{ change: upsert(access(ip('192.0.2.3'))), listId: list.id }]);
    assert.deepEqual(await targets(), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
    const { items } = await store.auditPage(workspace.id, { after: null, limit: 100 });
    const restored = items.filter(({ event }) => /restored/.test(event)).map(({ event, object, by }) => [event, object, by]);
    assert.deepEqual(restored, [
      ['feed restored', gone.id, { keyId: null, actor: null }],
      ['list restored', list.id, BY],
      ['key restored', keys[2]!.id, BY],
    ]);
  });

  test(`D46.2 store ${name}: a restored list is in the feeds whose lists nobody has set since, and the answer names those`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const [edge, other] = [
      (await store.createList(workspace.id, 'edge', NO_SETTINGS)).id,
      (await store.createList(workspace.id, 'other', NO_SETTINGS)).id,
    ];
    const make = async (called: string, lists: string[] | null) =>
      (await store.createFeed(workspace.id, { ...FEED, name: called, lists, minSources: 2, always: lists === null ? [] : [edge] })).id;
    const feeds = new Map<string, string>();
    for (const called of ['untouched', 'set', 'confirmed', 'imported', 'enough', 'described', 'deleted'])
      feeds.set(called, await make(called, [other, edge]));
    feeds.set('every', await make('every', null));
    const change = (called: string, patch: Parameters<typeof store.updateFeed>[2]) =>
      store.updateFeed(workspace.id, feeds.get(called)!, patch);
    await store.deleteList(workspace.id, edge);
    await change('set', { lists: [] });
    await change('confirmed', { lists: [other] });
    await change('enough', { always: [other] });
    await change('described', { description: 'firewalls' });
    const { workspaceId: _, ...saved } = (await store.feed(workspace.id, feeds.get('imported')!))!;
    await store.restoreLists(workspace.id, [], [saved]);
    await store.deleteFeed(workspace.id, feeds.get('deleted')!);
    const having = async (called: string) => {
      const { lists, always } = (await store.feed(workspace.id, feeds.get(called)!))!;
      return [called, lists?.includes(edge) ?? true, always.includes(edge)];
    };

    const { feeds: changed } = await store.restoreDeleted(workspace.id, edge, {});
    assert.deepEqual(
      changed.map((feed) => feed.name),
      ['untouched', 'enough', 'described', 'every'],
    );
    await store.restoreDeleted(workspace.id, feeds.get('deleted')!, {});
    assert.deepEqual(await Promise.all([...feeds.keys()].map(having)), [
      ['untouched', true, true],
      ['set', false, false],
      ['confirmed', false, false],
      ['imported', false, false],
      ['enough', true, false],
      ['described', true, true],
      ['deleted', true, true],
      ['every', true, false],
    ]);
  });

  test(`D15.51 store ${name}: nothing comes back for another workspace, under a name or id that is taken, past its time, or deleted for good`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const elsewhere = await store.createWorkspace(organization.id, 'elsewhere');
    const make = async (called: string) => (await store.createList(workspace.id, called, NO_SETTINGS)).id;
    const [edge, final] = [await make('edge'), await make('final')];
    await land([edge, final].map((listId, n) => ({ change: upsert(access(ip(`192.0.2.${n}`))), listId })));
    await store.deleteList(workspace.id, edge);
    await store.deleteList(workspace.id, final, { forGood: true });
    await assert.rejects(store.restoreDeleted(elsewhere.id, edge, {}), { code: 'NOT_FOUND' });
    await assert.rejects(store.restoreDeleted(workspace.id, final, {}), { code: 'NOT_FOUND' });
    const again = await make('edge');
    await assert.rejects(store.restoreDeleted(workspace.id, edge, {}), { code: 'REFUSED', message: /has a list called "edge"/ });
    await assert.rejects(store.restoreDeleted(workspace.id, edge, { name: 'old', maxLists: 2 }), { code: 'REFUSED', message: /MAX_LISTS/ });
    await store.restoreDeleted(workspace.id, edge, { name: 'old', maxLists: 3 });
    await store.deleteList(workspace.id, edge);
    const [{ until } = { until: 0 }] = await store.deletedFeeds(workspace.id, await store.ping());
    const count = () => store.ruleCount(workspace.id);
    const sweep = async (now: number) => {
      while ((await store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 })) > 0);
    };
    await sweep(until - 1);
    assert.equal(await count(), 1);
    await sweep(until);
    assert.equal(await count(), 0);
    assert.deepEqual(await store.deletedFeeds(workspace.id, 0), []);
    await assert.rejects(store.restoreDeleted(workspace.id, edge, {}), { code: 'NOT_FOUND' });
    assert.ok(again);
  });

  test(`D15.52 store ${name}: of a workspace the newest ${MOST_DELETED} that were deleted are kept`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const ids: string[] = [];
    for (let n = 0; n <= MOST_DELETED; n += 1) {
      const { id } = await store.createFeed(workspace.id, { ...FEED, name: `feed-${n}`, lists: [] });
      await store.deleteFeed(workspace.id, id);
      ids.push(id);
    }
    const kept = (await store.deletedFeeds(workspace.id, 0)).map(({ id }) => id);
    assert.deepEqual(kept.toSorted(), ids.slice(1).toSorted());
  });
}
