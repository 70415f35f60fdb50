/** What every store has to keep of the past: the ledger of devices, and the days of feeds. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { DeviceDocument, SeenDevice } from '../../src/account/device.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { MOST_PENDING } from '../../src/ports/stored/approval-store.ts';
import { access, fixture, ip, KEY, type StoreDriver, T0, upsert, waf } from './store.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const TODAY = Math.floor(T0 / DAY);

const DOCUMENT: DeviceDocument = { feedId: null, format: 'plain', family: 'v4', action: 'block', etag: '"a"', lastModified: 100, at: T0 };

export function pastConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D67.4 D67.8 store ${name}: requests for approval expire, and have a limit`, async (t) => {
    const { store, again, workspace } = await fixture(t, driver);
    const by = { keyId: 'key', actor: null };
    const request = (n: number, lifetime = MINUTE) =>
      store.requestApproval(
        workspace.id,
        { id: `id ${n}`, operation: 'messages', why: '', addresses: 1, blocked: 1, rules: 1, hash: `${n}`, content: Buffer.from('x'), by },
        lifetime,
      );
    const ada = { keyId: null, actor: 'Ada', personId: 'main:ada' };
    const approve = (id: string, person: string, at = store) =>
      at.decideApproval(workspace.id, id, 'approve', null, { ...ada, personId: person });
    await request(0, -1);
    await assert.rejects(approve('id 0', 'main:ada'), { code: 'REFUSED' });
    for (let n = 1; n <= MOST_PENDING; n += 1) await request(n);
    await assert.rejects(request(MOST_PENDING + 1), { code: 'REFUSED' });
    assert.equal((await request(1)).id, 'id 1', 'the same content is the same request');
    await assert.rejects(store.decideApproval(workspace.id, 'id 1', 'approve', null, by), { code: 'FORBIDDEN' });
    await approve('id 1', 'main:ada');
    await assert.rejects(approve('id 1', 'main:ada'), { code: 'REFUSED' });
    const other = await again();
    const both = await Promise.allSettled([approve('id 1', 'main:olga'), approve('id 1', 'main:vera', other)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    // A process that stopped before it applied it: another continues.
    const [left] = await other.unappliedApprovals(Number.MAX_SAFE_INTEGER);
    assert.deepEqual(left, { workspaceId: workspace.id, id: 'id 1' });
    assert.equal(await other.touchApproval(workspace.id, 'id 1', Number.MAX_SAFE_INTEGER), true);
    await other.endApproval(workspace.id, 'id 1', 'applied', null);
    assert.deepEqual(await store.unappliedApprovals(Number.MAX_SAFE_INTEGER), []);
    assert.equal(await store.approvalContent(workspace.id, 'id 1'), undefined);
  });

  test(`D16.9, D16.10 store ${name}: devices merge over processes, stop, come back and make room`, async (t) => {
    const { store, again, workspace } = await fixture(t, driver);
    const seen = (n: number, from: number, to: number, more: Partial<SeenDevice> = {}): SeenDevice => ({
      workspaceId: workspace.id,
      keyId: 'key',
      userAgent: 'firewall',
      address: `192.0.2.${n}`,
      firstPull: from,
      lastPull: to,
      pulls: 1,
      ok: 1,
      notModified: 0,
      refused: 0,
      failed: 0,
      lastStatus: 200,
      validates: false,
      documents: [],
      refusals: [],
      ...more,
    });
    const other = await again();
    // Two processes tell of a device that pulls every minute; a second one has pulled but once.
    await store.noteDevices([seen(1, T0, T0 + 4 * MINUTE, { pulls: 3, ok: 3, documents: [DOCUMENT] }), seen(2, T0, T0)]);
    const newer = { ...DOCUMENT, etag: '"b"', lastModified: 200, at: T0 + 5 * MINUTE };
    await other.noteDevices([
      seen(1, T0 + MINUTE, T0 + 5 * MINUTE, {
        pulls: 3,
        ok: 0,
        notModified: 3,
        refused: 0,
        lastStatus: 304,
        validates: true,
        documents: [newer],
      }),
    ]);
    await store.recordDocument(workspace.id, { feedId: null, ...VARIANT }, { hash: 'h', snapshotAt: T0, second: 300 });

    const [one, two] = (await store.devices(workspace.id, { limit: 10 })).sort((a, b) => a.address.localeCompare(b.address));
    assert.deepEqual([one!.pulls, one!.ok, one!.notModified, one!.lastStatus, one!.validates], [6, 3, 3, 304, true]);
    assert.deepEqual([one!.firstPull, one!.lastPull, one!.interval], [T0, T0 + 5 * MINUTE, MINUTE]);
    assert.deepEqual(
      one!.documents,
      [{ ...newer, newestModified: 300, confirmedAt: T0 }],
      'the content that it has, and that there is newer',
    );
    assert.deepEqual([two!.pulls, two!.interval], [1, null]);
    const pages = [await store.devices(workspace.id, { limit: 1 })];
    pages.push(await store.devices(workspace.id, { limit: 1, after: pages[0]![0]!.id }));
    assert.deepEqual(new Set(pages.flat().map(({ id }) => id)), new Set([one!.id, two!.id]));
    assert.equal((await store.devices(workspace.id, { limit: 9, keyId: 'key', since: T0 + 1 })).length, 1);
    assert.equal((await store.devices(workspace.id, { limit: 9, keyId: 'none' })).length, 0);

    // Ten minutes after its last pull: noticed once, by whoever asks first, and not by one that runs for less long.
    const late = T0 + 15 * MINUTE;
    assert.deepEqual(await store.markStopped({ now: late - 1, running: DAY }), []);
    assert.deepEqual(await other.markStopped({ now: late, running: 9 * MINUTE }), []);
    assert.deepEqual(
      (await store.markStopped({ now: late, running: DAY })).map(({ id, workspaceId }) => [id, workspaceId]),
      [[one!.id, workspace.id]],
    );
    assert.deepEqual(await other.markStopped({ now: late, running: DAY }), []);
    assert.deepEqual(await store.deviceCounts(T0), { pulling: 0, stopped: 1 });
    const stopped = async (of: string | null, now: number) =>
      (await store.stoppedClients(of, now)).map(({ kind, id, lastPull }) => [kind, id, lastPull]);
    const told = ['device', one!.id, T0 + 5 * MINUTE];
    assert.deepEqual([await stopped(workspace.id, late), await stopped(null, late)], [[told], [told]]);
    assert.deepEqual(await stopped(workspace.id, late + DAY), []);

    const back = await store.noteDevices([seen(1, late + 60 * MINUTE, late + 60 * MINUTE)]);
    assert.deepEqual(
      back.map(({ id, lastPull, stoppedAt }) => [id, lastPull, stoppedAt]),
      [[one!.id, T0 + 5 * MINUTE, late]],
    );
    assert.deepEqual(await store.deviceCounts(T0), { pulling: 1, stopped: 0 });
    const [again1] = await store.devices(workspace.id, { limit: 9, since: late });
    assert.equal(again1!.interval, MINUTE, 'the pause counts as one interval');

    // A flood of names: those that pulled last are kept.
    const flood = Array.from({ length: 5_100 }, (_, n) => seen(3, T0 + n, T0 + n, { userAgent: `agent-${n}` }));
    await store.noteDevices(flood);
    const kept = await store.devices(workspace.id, { limit: 9_999 });
    assert.equal(kept.length, 5_000);
    assert.ok(kept.some(({ id }) => id === one!.id) && kept.every(({ lastPull }) => lastPull >= T0 + 100));
    await store.sweep({ now: T0, rulesExpiredBefore: 0, auditBefore: T0 + 5_099, limit: 9_999 });
    assert.equal((await store.devices(workspace.id, { limit: 9_999 })).length, 2);
  });

  test(`D42.5 store ${name}: what has stopped is told with the name of its key and of the feeds that it got`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const key = await store.createKey(workspace.id, { ...KEY, name: 'fw', hash: Buffer.alloc(32, 7) });
    const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const gateway = await store.createFeed(workspace.id, { ...NO_SETTINGS, name: 'gateway', lists: [edge.id] });
    const documents = [gateway.id, edge.id, edge.id, null].map((feedId, n) => ({ ...DOCUMENT, feedId, family: `v${n}`, at: T0 - n }));
    const pulls = { pulls: 6, ok: 6, notModified: 0, refused: 0, failed: 0, lastStatus: 200, validates: false, refusals: [] };
    const device = { workspaceId: workspace.id, address: '192.0.2.1', firstPull: T0, lastPull: T0 + MINUTE, ...pulls };
    await store.noteDevices([
      { ...device, keyId: key.id, userAgent: 'firewall', documents: [...documents, { ...DOCUMENT, format: 'config', action: '' }] },
      { ...device, keyId: 'gone', userAgent: 'older', documents: [] },
      { ...device, keyId: key.id, userAgent: 'curl/8.5.0', documents },
    ]);
    await store.markStopped({ now: T0 + 30 * MINUTE, running: DAY });
    const told = await store.stoppedClients(workspace.id, T0 + 30 * MINUTE);
    assert.deepEqual(told.map(({ userAgent, keyName, feeds }) => [userAgent, keyName, feeds]).toSorted(), [
      ['firewall', 'fw', ['gateway', 'edge', null]],
      ['older', null, []],
    ]);
  });

  test(`D64.3 store ${name}: blocks of one sender in the last ten minutes count together, where signals can be large`, async (t) => {
    const { store, again, workspace, land } = await fixture(t, driver);
    const [key, other] = ['0195a3c0-0000-7000-8000-00000000000a', '0195a3c0-0000-7000-8000-00000000000b'];
    const send = (text: string, keyId: string | null, at = T0) => land([{ keyId, change: upsert(access(ip(text))) }], at);
    await send('10.0.0.0/8', key);
    const sum = async (sender = key, now = T0) => (await again()).recentAddresses(workspace.id, sender, now);
    assert.equal(await sum(), 0);
    await store.updateWorkspace(workspace.id, { large: 'all' });
    await send('10.0.0.0/24', key);
    await send('2001:db8::/62', key, T0 + 9 * MINUTE);
    await send('192.0.2.1', other);
    await send('::/0', null);
    assert.deepEqual(
      [await sum(key, T0 + 9 * MINUTE), await sum(key, T0 + 10 * MINUTE), await sum(other), await sum('')],
      [260, 4, 1, 2 ** 40],
    );
  });

  test(`D18.11 store ${name}: activity of all processes is told by the minute and by the hour, landing counts itself, and it goes in time`, async (t) => {
    const { store, again, workspace, land } = await fixture(t, driver);
    const minute = T0 / MINUTE;
    const counts = { accepted: 3, failed: 1, landed: 0, pulls: 5, notModified: 4, refused: 0 };
    await store.noteActivity([
      { ...counts, workspaceId: workspace.id, minute },
      { ...counts, workspaceId: 'nobody', minute },
    ]);
    await (await again()).noteActivity([{ ...counts, workspaceId: workspace.id, minute: minute + 1 }]);
    await land(
      [
        upsert(access(ip('192.0.2.1'))),
        { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('192.0.2.1') },
        { change: 'upsert', kind: 'waf_rule', rule: waf('w-1') },
      ],
      T0 + MINUTE,
    );
    const told = (step: number) =>
      store.activity(workspace.id, { step, from: Math.floor(minute / step), to: Math.floor((minute + 1) / step) });
    assert.deepEqual(await told(1), [
      { ...counts, slot: minute },
      { ...counts, landed: 3, slot: minute + 1 },
    ]);
    assert.deepEqual(await told(60), [{ accepted: 6, failed: 2, landed: 3, pulls: 10, notModified: 8, refused: 0, slot: minute / 60 }]);
    const sweep = (now: number) => store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 99 });
    await sweep(T0 + DAY);
    assert.equal((await told(1)).length, 2);
    await sweep(T0 + 1501 * MINUTE);
    assert.deepEqual([(await told(1)).length, (await told(60)).length], [1, 1]);
    await sweep(T0 + 32 * DAY);
    assert.deepEqual([(await told(1)).length, (await told(60)).length], [0, 0]);
  });

  test(`D16.8 store ${name}: a key is known by its hash after it was revoked`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const hash = createHash('sha256').update('a').digest();
    const key = { name: null, hash, prefix: '', permissions: ['feed:read'], listId: null, feedId: null, expiresAt: null } as const;
    const { id } = await store.createKey(workspace.id, key);
    await store.revokeKey(id);
    const found = await store.keysByHash([createHash('sha256').update('b').digest(), hash]);
    assert.deepEqual([...found], [[1, { keyId: id, workspaceId: workspace.id }]]);
  });

  test(`D16.13, D16.14 store ${name}: what was added, expired, removed and undone stands on its day, and nothing is counted twice`, async (t) => {
    const { store, workspace, land, rules } = await fixture(t, driver);
    const edge = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const days = (feedId: string | null = null) => store.feedDays(workspace.id, feedId, { from: TODAY, to: TODAY + 400 });
    const counts = async (feedId: string | null = null) =>
      (await days(feedId)).map(({ day, added, expired, removed, undone }) => [day - TODAY, added, expired, removed, undone]);
    const block = (n: number, more = {}) => upsert(access(ip(`192.0.2.${n}`), more));
    const batch = '00000000-0000-7000-8000-000000000000';
    await land([
      ...[1, 2, 3].map((n) => ({ change: block(n), listId: edge.id, batchId: batch })),
      { change: block(1, { expiresAt: T0 + MINUTE }) },
      { change: block(2, { expiresAt: T0 + DAY }) },
      { change: 'upsert', kind: 'waf_rule', rule: { ...access(ip('192.0.2.1')), ...WAF } } as never,
    ]);
    await land([
      { change: block(1), listId: edge.id },
      { change: { change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('192.0.2.3') }, listId: edge.id },
    ]);
    assert.deepEqual(await counts(edge.id), [[0, 4, 0, 1, 0]]);
    assert.deepEqual(await counts(), [[0, 6, 0, 1, 0]], 'the workspace in all');

    // Undoing the batch removes 192.0.2.2; the other two rules were changed since.
    await land([{ change: { change: 'undo', batchId: batch }, listId: edge.id }]);
    assert.deepEqual(await counts(edge.id), [[0, 4, 0, 1, 1]]);
    const [{ id }] = await rules('access_rule', T0, edge.id);
    await land([{ change: { change: 'delete_rules', kind: 'access_rule', ids: [id] }, listId: edge.id }]);
    assert.deepEqual(await counts(edge.id), [[0, 4, 0, 2, 1]]);

    const sweep = (now: number) => store.sweep({ now, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 });
    await sweep(T0 + MINUTE - 1);
    await sweep(T0 + MINUTE);
    await sweep(T0 + MINUTE);
    assert.deepEqual(await counts(), [[0, 6, 1, 2, 1]]);
    // The service was away for three days: what expired meanwhile stands on its day.
    await sweep(T0 + 3 * DAY);
    assert.deepEqual(await counts(), [
      [0, 6, 1, 2, 1],
      [1, 0, 1, 0, 0],
    ]);

    const size = { workspaceId: workspace.id, day: TODAY };
    await store.noteFeedSizes([
      { ...size, feedId: edge.id, v4: { last: 9, most: 9 }, v6: null },
      { ...size, feedId: null, v4: { last: 3, most: 5 }, v6: { last: 1, most: 1 } },
      { ...size, feedId: '00000000-0000-0000-0000-000000000000', v4: { last: 1, most: 1 }, v6: null },
    ]);
    await store.noteFeedSizes([{ ...size, feedId: edge.id, v4: { last: 2, most: 4 }, v6: { last: 1, most: 1 } }]);
    assert.deepEqual((await days(edge.id))[0], {
      day: TODAY,
      added: 4,
      expired: 0,
      removed: 2,
      undone: 1,
      hits: 0,
      hitBytes: 0,
      v4: { last: 2, most: 9 },
      v6: { last: 1, most: 1 },
    });
    assert.deepEqual((await days())[0]!.v4, { last: 3, most: 5 });

    // After a year, and with its list, the past goes.
    await sweep(T0 + 366 * DAY);
    assert.equal((await days(edge.id)).length, 1);
    await sweep(T0 + 367 * DAY);
    assert.deepEqual(
      (await days()).map(({ day }) => day - TODAY),
      [1],
    );
    assert.deepEqual(await days(edge.id), []);
  });
}

const VARIANT = { format: DOCUMENT.format, family: DOCUMENT.family, action: DOCUMENT.action };
const WAF = { ruleRef: 'w', type: 'custom', expression: 'true', action: 'block', order: null, shortDescription: null };
