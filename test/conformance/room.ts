/** What every store driver must do so that nothing of a workspace grows without a bound (SPEC D19). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SeenDevice } from '../../src/account/device.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { access, fixture, ip, KEY, type StoreDriver, T0, upsert } from './store.ts';

const DAY = 86_400_000;
const BY = { keyId: 'k', actor: null };

export function roomConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D22.3 store ${name}: a workspace has so many keys; the one that ended longest ago makes room, a valid one and a first key never do`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const create = (n: number, key: { readonly expiresAt?: number } = {}, most = 3) =>
      store.createKey(workspace.id, { ...KEY, ...key, hash: Buffer.from(`key ${n}`) }, { most });
    const names = async () => (await store.keys(workspace.id)).map(({ id }) => id).sort();
    const [a, c] = [await create(1), await create(3)];
    const b = await create(2, { expiresAt: T0 + 1e12 });
    await assert.rejects(create(4), {
      code: 'REFUSED',
      message: /^the workspace has 3 keys, its limit: revoke one, or raise MAX_KEYS$/,
    });
    await store.revokeKey(b.id);
    const ended = await create(4, { expiresAt: 1000 });
    assert.deepEqual(await names(), [a.id, c.id, ended.id].sort(), 'a revoked one is forgotten');
    await store.revokeKey(a.id);
    const d = await create(5);
    assert.deepEqual(await names(), [a.id, c.id, d.id].sort(), 'the one that ended first is forgotten');
    const e = await create(6);
    assert.deepEqual(await names(), [c.id, d.id, e.id].sort());
    await assert.rejects(create(7), { code: 'REFUSED' });
    await create(8, {}, 0);
    const other = await store.createWorkspace(organization.id, 'other');
    await store.createKey(other.id, { ...KEY, hash: Buffer.from('of another') }, { most: 3 });
    assert.equal((await store.keys(workspace.id)).length, 4, 'those of another workspace do not count');

    const first = await store.bootstrap({ hash: Buffer.from('first'), prefix: 'first', onlyWhenEmpty: false });
    const [key] = await store.keys(first.workspaceId);
    await store.revokeKey(key!.id);
    await assert.rejects(store.createKey(first.workspaceId, { ...KEY, hash: Buffer.from('next') }, { most: 1 }), { code: 'REFUSED' });
  });

  test(`D22.3 store ${name}: a workspace has so many feeds made of lists`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const create = (feed: string) => store.createFeed(workspace.id, { ...NO_SETTINGS, name: feed, lists: null }, { most: 2 });
    const [first] = [await create('a'), await create('b')];
    await assert.rejects(create('c'), {
      code: 'REFUSED',
      message: /has 2 feeds made of lists, its limit: delete one, or raise MAX_FEEDS$/,
    });
    await store.deleteFeed(workspace.id, first.id);
    await create('c');
  });

  test(`D22.2 store ${name}: the bytes of audit rows and kept answers are known, go with the rows, and are each workspace's own`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const begun = await store.usedBytesOf(workspace.id);
    assert.ok(begun.audit > 0 && begun.answers === 0);
    const once = { keyId: 'k', token: 't', fingerprint: 'f' };
    await store.rememberAnswer(workspace.id, once, 'x'.repeat(10_000));
    await store.rememberAnswer(workspace.id, once, 'x'.repeat(90_000));
    assert.equal((await store.usedBytesOf(workspace.id)).answers, 10_200);
    for (let n = 0; n < 20; n += 1) await store.noteChange(workspace.id, 'rule changed', `${n}`, { reason: 'é'.repeat(1000) }, BY);
    const grown = await store.usedBytesOf(workspace.id);
    assert.ok(grown.audit - begun.audit >= 20 * 2200 && grown.audit - begun.audit < 20 * 2400, String(grown.audit - begun.audit));
    assert.equal((await store.usedBytesOf(other.id)).answers, 0);

    const now = await store.ping();
    const sweep = (at: number, limits = {}) => store.sweep({ now: at, rulesExpiredBefore: 0, auditBefore: 0, limit: 7, ...limits });
    while ((await sweep(now + DAY + 1000)) > 0);
    assert.deepEqual(await store.usedBytesOf(workspace.id), { ...grown, answers: 0 });

    // More than half of what it may have: what is younger than seven days stays, however much it is.
    const auditBytes = 2 * begun.audit + 40_000;
    while ((await sweep(now + 6 * DAY, { auditBytes })) > 0);
    assert.equal((await store.usedBytesOf(workspace.id)).audit, grown.audit);
    while ((await sweep(now + 7 * DAY + 1000, { auditBytes })) > 0);
    const shortened = (await store.usedBytesOf(workspace.id)).audit;
    assert.ok(shortened <= auditBytes / 2 && shortened > auditBytes / 2 - 8 * 2400, `${shortened} of ${auditBytes}`);
    const rows = (await store.auditPage(workspace.id, { after: null, limit: 100 })).items;
    assert.equal(rows[0]!.object, '19', 'the oldest have gone');
    assert.ok((await store.usedBytesOf(other.id)).audit > 0);
    while ((await sweep(now, { auditBefore: now + DAY })) > 0);
    assert.deepEqual(await store.usedBytesOf(workspace.id), { audit: 0, answers: 0 });
  });

  test(`D22.4 store ${name}: of dead letters the newest are kept`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const record = (offset: number) => ({ offset, timestamp: T0, key: workspace.id, headers: {}, value: '?' });
    const poison = [0, 1, 2, 3, 4].map((offset) => ({ record: record(offset), reason: 'r' }));
    await store.apply({ streamId: 'foreign', partition: 0, from: null, to: 5, items: [], poison, now: T0 });
    while ((await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 2, deadLetters: 3 })) > 0);
    assert.deepEqual((await store.deadLetters(10)).map(({ offset }) => offset).sort(), [2, 3, 4]);
  });

  test(`D9.10 store ${name}: where all workspaces together keep too much for undoing, the one that keeps most gives up first`, async (t) => {
    const { store, workspace, organization, land } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const block = (n: number, workspaceId: string, batchId: string) => ({
      change: upsert(access(ip(`192.0.2.${n}`))),
      batchId,
      workspaceId,
    });
    const again = (workspaceId: string, count: number, batchId: string) =>
      Array.from({ length: count }, (_, n) => block(n, workspaceId, batchId));
    await land([...again(workspace.id, 9, 'a0'), ...again(other.id, 2, 'b0')]);
    await land([...again(workspace.id, 9, 'a1'), ...again(other.id, 2, 'b1')]);
    const limits = { now: T0, rulesExpiredBefore: 0, auditBefore: 0, limit: 100, mostPrevious: 20 };
    while ((await store.sweep({ ...limits, mostPreviousInAll: 10 })) > 0);
    assert.deepEqual([(await store.batch(workspace.id, 'a0'))?.undoable, (await store.batch(other.id, 'b1'))?.undoable], [false, true]);
    assert.deepEqual([(await store.batch(other.id, 'b0'))?.undoable], [true]);
  });

  test(`D16.9 store ${name}: too many devices in all go from the workspaces that have most, never from one with less than its share`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const others = [await store.createWorkspace(organization.id, 'b'), await store.createWorkspace(organization.id, 'c')];
    const seen = (workspaceId: string, count: number, at: number): SeenDevice[] =>
      Array.from({ length: count }, (_, n) => ({
        ...{ workspaceId, keyId: 'k', userAgent: `u${n}`, address: '192.0.2.1', firstPull: at + n, lastPull: at + n, pulls: 1, ok: 1 },
        ...{ notModified: 0, refused: 0, failed: 0, lastStatus: 200, validates: false, documents: [], refusals: [] },
      }));
    // The few of one tenant pulled long before all those of the others.
    await store.noteDevices([...seen(workspace.id, 3, T0), ...seen(others[0]!.id, 20, T0 + 1000), ...seen(others[1]!.id, 12, T0 + 2000)]);
    await store.markStopped({ now: T0, running: 0, most: 23 });
    const left = async (id: string) => (await store.devices(id, { limit: 100 })).map(({ userAgent }) => Number(userAgent.slice(1)));
    assert.deepEqual((await left(workspace.id)).length, 3);
    assert.deepEqual(
      (await left(others[0]!.id)).sort((a, b) => a - b),
      Array.from({ length: 10 }, (_, n) => n + 10),
      'those that pulled last',
    );
    assert.equal((await left(others[1]!.id)).length, 10);
  });
}
