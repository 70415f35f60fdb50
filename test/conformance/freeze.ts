/** What every store driver must do for frozen feeds (SPEC D60). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DAY } from '../../src/clock.ts';
import { documentBuilder } from '../../src/feed/build/document-builder.ts';
import { DEFAULT_VARIANT } from '../../src/feed/variant.ts';
import type { ListSink } from '../../src/ports/snapshot.ts';
import type { Bouncer } from '../../src/ports/stored/bouncer-store.ts';
import { MOST_FREEZES, MOST_FROZEN_RULES } from '../../src/ports/stored/freeze-store.ts';
import { frozenContent } from '../../src/runtime/jobs/work/freeze.ts';
import { ManualClock, START } from '../support/feed-world.ts';
import { access, collectingSink, fixture, ip, KEY, type StoreDriver, upsert } from './store.ts';

const BOUNCER: Bouncer = {
  ...{ workspaceId: '', keyId: '', userAgent: 'firewall', address: '192.0.2.1', feedId: null, firstSeen: 0, lastPull: 0 },
  ...{ decisions: 0, networks: 0, leftOutNetworks: 0, leftOutAddresses: 0, metrics: null, metricsAt: null },
  ...{ enforced: null, differedAt: null, lastStream: null, refusal: null },
};
const NOTHING = { change: 0, lists: new Set<string>() };

export function freezeConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D60.2, D60.3 store ${name}: a freeze has every rule of the feed; rules expire, renewals and other changes do not reach it`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, subtractAllow: 'workspace' });
    const send = (target: Parameters<typeof access>[0], rule: object = {}) =>
      land([{ listId: list.id, change: upsert(access(target, rule)) }], START);
    await send(ip('192.0.2.1'), { expiresAt: START + 60_000 });
    await send(ip('192.0.2.3'), { confidence: 'high', severity: 'low' });
    await send(ip('2001:db8::/48'), { expiresAt: START + 90_000 });
    await send({ kind: 'asn', asn: 64_500 });
    await send({ kind: 'country', country: 'NL' }, { action: 'allow' });
    const read = async (at: number) => {
      const { rows, sink } = collectingSink();
      const head = await store.follow(workspace.id, list.id, at, NOTHING, { ...sink, list: () => {}, removed: () => {} } as ListSink);
      assert.ok(head !== undefined && head !== 'too_far');
      return { rows: rows.map((row) => JSON.stringify(row)).sort(), head };
    };
    const live = await read(START);
    const clock = new ManualClock();
    await store.freezeFeed(workspace.id, await frozenContent(workspace.id, list.id, { store, clock }), null);
    const before = await read(START);
    assert.deepEqual(before.rows, live.rows);
    assert.ok(before.head.revision < 0 && before.head.revision !== live.head.revision);

    await send(ip('192.0.2.1'), { expiresAt: START + 900_000 });
    await send(ip('192.0.2.9'));
    await send(ip('192.0.2.3'), { action: 'allow' });
    assert.deepEqual(await read(START).then(({ rows, head }) => [rows, head.revision]), [live.rows, before.head.revision]);
    assert.equal((await read(START + 60_000)).rows.length, live.rows.length - 1);
    const found = (await store.findNamed(workspace.id, list.id))!;
    assert.deepEqual(
      found.freezes!.map(({ feedId, revision }) => [feedId, revision]),
      [[list.id, before.head.revision]],
    );

    const ranges = { version: 'none', ranges: () => ({ v4: [], v6: [] }) };
    const builder = documentBuilder({
      ...{ store, clock, guard: blockGuards({ ...NO_GUARD_RAILS, ownNetworks: [] } as never), versioned: {} as never },
      ...{ geo: () => ranges as never, phaseOf: (() => undefined) as never },
    });
    let sequence = 0;
    const content = async () => {
      sequence += 1;
      const built = await builder.build({
        workspaceId: workspace.id,
        feedId: list.id,
        variant: DEFAULT_VARIANT,
        sequence,
        offline: false,
        before: undefined,
      });
      assert.ok(built.kind === 'document');
      return Buffer.from(built.bytes).toString();
    };
    assert.equal(await content(), '192.0.2.1/32\n192.0.2.3/32\n2001:db8::/48\n');
    await clock.advance(60_000);
    assert.equal(await content(), '192.0.2.3/32\n2001:db8::/48\n');
    await store.thawFeed(workspace.id, list.id, null);
    assert.equal(await content(), '192.0.2.1/32\n192.0.2.9/32\n2001:db8::/48\n');
    await assert.rejects(store.thawFeed(workspace.id, list.id, null), { code: 'REFUSED' });
  });

  test(`D65.1, D65.2, D65.3, D65.4 store ${name}: a large change waits for all but the canaries, a small one does not, and its time ends it`, async (t) => {
    const { store, workspace, land, query } = await fixture(t, driver);
    const now = await store.ping();
    const key = (n: number, name: string) => store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32, n), name });
    const [canary] = await Promise.all([key(1, 'lab'), key(2, 'edge')]);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, canaryKeys: 'lab', subtractAllow: 'workspace' });
    const manage = (change: object, at = now, more: object = {}) =>
      land([{ listId: list.id, keyId: canary.id, batchId: randomUUID(), isManaged: true, change, ...more } as never], at);
    const block = (text: string) => upsert(access(ip(text)));
    let known = NOTHING as { change: number; lists: ReadonlySet<string> };
    const followed = new Map<string, Map<number, string>>();
    /** As the feed thread does: everything once, then only changes; both must agree. */
    const read = async (feedId: string) => {
      const all = await rulesOf(feedId, NOTHING, new Map());
      known = { change: (await rulesOf(feedId, known, followed)).change, lists: new Set(followed.keys()) };
      for (const key of all.lists.keys()) if (key !== 'exceptions') assert.deepEqual(followed.get(key), all.lists.get(key), key);
      return [...all.lists.values()].flatMap((rules) => [...rules.values()]).sort();
    };
    const rulesOf = async (feedId: string, from: typeof known, lists: Map<string, Map<number, string>>) => {
      let current = new Map<number, string>();
      const add = (id: number, text: string) => void current.set(id, text);
      const head = await store.follow(workspace.id, feedId, now, from, {
        list(key, isComplete) {
          current = isComplete ? new Map() : (lists.get(key) ?? new Map());
          lists.set(key, current);
        },
        removed: (id) => void current.delete(id),
        v4: (id, role, address, prefix) => add(id, `${role} ${address >>> 24}.${(address >>> 16) & 255}/${prefix}`),
        v6: (id, role) => add(id, `${role} v6`),
        geo: (id, role) => add(id, `${role} geo`),
      });
      assert.ok(head !== undefined && head !== 'too_far');
      return { change: head.change, lists };
    };
    await manage(block('192.0.2.1'));
    await manage(block('198.51.100.0/24'));
    const first = ['block 192.0/32', 'block 198.51/24'];
    assert.deepEqual(await read(list.id), first);
    await manage(block('10.0.0.0/8'));
    assert.deepEqual([await read(list.id), await read(`~${list.id}`)], [first, ['block 10.0/8', ...first]]);
    const [freeze] = await store.freezes(workspace.id);
    assert.deepEqual(freeze!.canary, { keys: [canary.id], until: now + 600_000 });
    // Small changes: an added block, an unblock, a never-block rule, and one that changes a rule of the large change.
    await manage(block('203.0.113.1'));
    await manage({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('198.51.100.0/24') });
    assert.deepEqual(await read(list.id), ['block 192.0/32', 'block 203.0/32']);
    await manage(upsert(access(ip('192.0.2.1'), { action: 'allow' })));
    assert.deepEqual(await read(list.id), ['allow 192.0/32', 'block 192.0/32', 'block 203.0/32', 'exception 192.0/32']);
    await manage({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('203.0.113.1') });
    assert.deepEqual(await read(list.id), ['allow 192.0/32', 'block 192.0/32', 'exception 192.0/32']);
    await manage(block('11.0.0.0/8'));
    await manage({ change: 'upsert', kind: 'access_rule', rule: access({ kind: 'country', country: 'NL' }) });
    assert.equal((await read(list.id)).length, 3);
    const live = await read(`~${list.id}`);
    assert.ok(live.includes('block 10.0/8') && live.includes('block 11.0/8') && live.includes('block geo'));
    const sweep = (at: number) => store.sweep({ now: at, rulesExpiredBefore: 0, auditBefore: 0, limit: 99 });
    await sweep(now + 599_999);
    assert.equal((await read(list.id)).length, 3);
    const dates = async (id: string, hash: string) =>
      (
        await store.recordDocument(
          workspace.id,
          { feedId: id, format: 'plain', family: 'both', action: 'block' },
          { hash, snapshotAt: now, second: 100 },
        )
      ).since;
    const [others, ofCanaries] = [await dates(list.id, 'old'), await dates(`~${list.id}`, 'new')];
    assert.ok(ofCanaries > others);
    await sweep(now + 600_000);
    assert.deepEqual(await read(list.id), live);
    assert.ok((await dates(list.id, 'new')) > ofCanaries);
    assert.deepEqual([await store.freezes(workspace.id), await query('SELECT seq FROM frozen_changes')], [[], []]);

    // Stopped: it waits until a person promotes it.
    await manage(block('12.0.0.0/8'));
    await store.stopCanary(workspace.id, list.id, 'wrong');
    await sweep(now + 9_000_000);
    assert.deepEqual((await store.freezes(workspace.id))[0]!.canary, { keys: [canary.id], until: null });
    assert.equal((await read(list.id)).includes('block 12.0/8'), false);
    await store.thawFeed(workspace.id, list.id, null);
    assert.ok((await read(list.id)).includes('block 12.0/8'));
    await assert.rejects(store.stopCanary(workspace.id, list.id, null), { code: 'REFUSED' });
  });

  test(`D64.1, D64.2, D65.1, D65.5 store ${name}: the way back and signals do not wait, settings do`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    await store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32, 1), name: 'lab' });
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    await store.createFeed(workspace.id, { name: 'device', ...NO_SETTINGS, lists: [list.id], canaryKeys: 'lab' });
    const [batchId, keyId] = [randomUUID(), randomUUID()];
    const isWaiting = async () => (await store.freezes(workspace.id)).map(({ name }) => name);
    const send = (change: object, more: object = {}, at = START) =>
      land([{ listId: list.id, keyId, batchId: randomUUID(), change, ...more } as never], at);
    const managed = { isManaged: true };
    const block = (text: string) => upsert(access(ip(text)));
    await send(block('10.0.0.0/8'), { batchId });
    assert.deepEqual(await isWaiting(), []);
    await send({ change: 'undo', batchId }, managed);
    await send(block('10.0.0.0/8'));
    await send({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('10.0.0.0/8') }, managed, START + DAY);
    assert.deepEqual(await isWaiting(), []);
    await send(block('10.0.0.0/8'));
    await send({ change: 'delete_by_value', kind: 'access_rule', action: 'block', target: ip('10.0.0.0/8') }, managed, START + DAY + 1);
    assert.deepEqual(await isWaiting(), ['device']);
    const [{ feedId }] = (await store.freezes(workspace.id)) as unknown as [{ feedId: string }];
    const thaw = () => store.thawFeed(workspace.id, feedId, null);
    await thaw();
    // D64.1: an earlier expiry is a removal.
    const end = (at: number, sentAt: number) => send(upsert(access(ip('11.0.0.0/8'), { expiresAt: at })), managed, sentAt);
    await send(block('11.0.0.0/8'));
    await end(START + 3 * DAY, START + DAY);
    await end(START + 4 * DAY, START + DAY + 1);
    assert.deepEqual(await isWaiting(), []);
    await end(START + 2 * DAY, START + DAY + 1);
    assert.deepEqual(await isWaiting(), ['device']);
    await thaw();
    await store.updateWorkspace(workspace.id, { large: 'all', largeAddresses: 255, approval: 'changes', approvalRules: 9 });
    assert.deepEqual(await isWaiting(), []);
    await send(block('192.0.2.0/25'), {}, START + 2 * DAY);
    assert.deepEqual(await isWaiting(), []);
    await send(block('192.0.2.128/25'), {}, START + 2 * DAY + 300_000);
    assert.deepEqual(await isWaiting(), ['device']);
    await thaw();
    await store.updateFeed(workspace.id, feedId, { description: 'lab first' });
    assert.deepEqual(await isWaiting(), []);
    for (const change of [
      () => store.updateFeed(workspace.id, feedId, { subtractAllow: 'on' }),
      () => store.updateWorkspace(workspace.id, { protect: ['192.0.2.0/24'] }),
      () => store.updateList(workspace.id, list.id, { widenV4: 24 }),
    ]) {
      await change();
      assert.deepEqual(await isWaiting(), ['device']);
      await thaw();
    }
  });

  test(`D65.1, D65.7, D65.8, D65.9 store ${name}: a canary stops at an overlap and for a silent canary, and a second change has the whole time`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const now = await store.ping();
    const keys = await Promise.all(
      [1, 2].map((n) => store.createKey(workspace.id, { ...KEY, hash: Buffer.alloc(32, n), name: `lab-${n}` })),
    );
    await store.updateWorkspace(workspace.id, { protect: ['warn:100.64.0.0/10', '203.0.113.0/24'], canaryKeys: 'lab-1', canaryMinutes: 2 });
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, canaryKeys: 'lab-1,lab-2' });
    const send = (target: string, at = now, action: 'block' | 'allow' = 'block') =>
      land(
        [
          {
            listId: list.id,
            keyId: keys[0]!.id,
            isManaged: true,
            change: upsert(access(ip(target), { action })),
            batchId: randomUUID(),
          } as never,
        ],
        at,
      );
    const canaries = async () =>
      (await store.freezes(workspace.id)).map(({ feedId, canary, reason }) => [feedId === null ? '' : 'edge', canary?.until, reason]);
    const thaw = async () => {
      for (const feedId of [list.id, null]) await store.thawFeed(workspace.id, feedId, null);
    };
    await send('192.0.2.7', now, 'allow');
    assert.deepEqual(await canaries(), []);

    // The feed of the workspace has its own time. A later large change begins both again.
    await send('10.0.0.0/8');
    const why = '16,777,216 addresses, more than 65,536';
    assert.deepEqual(await canaries(), [
      ['', now + 120_000, why],
      ['edge', now + 600_000, why],
    ]);
    await send('11.0.0.0/8', now + 60_000);
    assert.deepEqual(await canaries(), [
      ['', now + 180_000, why],
      ['edge', now + 660_000, why],
    ]);
    await send('192.0.0.0/9', now + 60_001);
    const never = '192.0.0.0/9 overlaps the never-block rule 192.0.2.7';
    const over = '8,388,608 addresses, more than 65,536';
    const stopped = `${why}; stopped: ${over}: ${never}`;
    assert.deepEqual(await canaries(), [
      ['', null, stopped],
      ['edge', null, stopped],
    ]);
    const [event] = (await store.auditPage(workspace.id, { after: null, limit: 1 })).items;
    assert.deepEqual([event!.event, event!.change!.after], ['feed canary stopped', { reason: `${over}: ${never}` }]);
    await thaw();
    for (const [target, reason] of [
      ['100.0.0.0/8', '100.0.0.0/8 overlaps the protected network 100.64.0.0/10'],
      ['203.0.0.0/8', '203.0.0.0/8 overlaps the protected network 203.0.113.0/24'],
    ] as const) {
      await send(target);
      assert.deepEqual((await canaries())[1], ['edge', null, `${why}; stopped: ${reason}`]);
      await thaw();
    }

    // Polls every 30 seconds until `last`: silent three intervals later, and a minute for the way to the store.
    const poll = (n: number, last: number, pulls = 10) =>
      store.noteDevices([
        {
          ...{ workspaceId: workspace.id, keyId: keys[n]!.id, userAgent: `firewall ${last}`, address: '192.0.2.1' },
          ...{ firstPull: last - (pulls - 1) * 30_000, lastPull: last, pulls, lastStatus: 200, validates: true },
          ...{ ok: 1, notModified: pulls - 1, refused: 0, failed: 0, documents: [], refusals: [] },
        },
      ]);
    await store.updateWorkspace(workspace.id, { canaryKeys: null });
    const isWaiting = async () => (await canaries()).map(([, until]) => until !== null);
    await poll(0, now - 600_000);
    await send('13.0.0.0/8');
    await poll(0, now + 30_000);
    await poll(1, now + 90_000, 2);
    const judge = async (at: number, running = 900_000) => {
      await store.markStopped({ now: now + at, running });
      return isWaiting();
    };
    assert.deepEqual(await judge(179_999), [true], 'the device that stopped before the change does not count');
    assert.deepEqual(await judge(200_000, 149_999), [true], 'weir did not run long enough to see its polls');
    assert.deepEqual(await judge(180_000), [false]);
    assert.match(String((await canaries())[0]![2]), new RegExp(`stopped: silent for three intervals: ${keys[0]!.id}$`));
    await store.thawFeed(workspace.id, list.id, null);

    // At the end of the time a key counts with all its clients, bouncers included.
    const sweep = (at: number) => store.sweep({ now: at, rulesExpiredBefore: 0, auditBefore: 0, limit: 99 });
    await send('14.0.0.0/8', now + 100_000);
    await poll(0, now + 110_000);
    await sweep(now + 700_000);
    assert.match(String((await canaries())[0]![2]), new RegExp(`silent since the change: ${keys[1]!.id}$`));
    await store.thawFeed(workspace.id, list.id, null);
    await send('15.0.0.0/8', now + 100_000);
    await store.recordBouncers([{ ...BOUNCER, workspaceId: workspace.id, keyId: keys[1]!.id, lastPull: now + 120_000 }]);
    await sweep(now + 700_000);
    assert.deepEqual(await canaries(), []);
    await store.updateList(workspace.id, list.id, { canaryKeys: 'lost' });
    await send('16.0.0.0/8');
    await sweep(now + 700_000);
    assert.match(String((await canaries())[0]![2]), /stopped: canary_keys name no key$/);
  });

  test(`D65.5, D65.12 store ${name}: the deletion of an old list waits, and canaries have limits of their own`, async (t) => {
    const { store, workspace, land, query } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', NO_SETTINGS);
    const feed = await store.createFeed(workspace.id, { name: 'device', ...NO_SETTINGS, lists: [list.id], canaryKeys: 'lab' });
    await land([{ listId: list.id, change: upsert(access(ip('198.51.100.7'))) }], (await store.ping()) - DAY - 1);
    await store.deleteList(workspace.id, list.id);
    const why = async () => (await store.freezes(workspace.id)).map(({ reason }) => reason);
    assert.deepEqual(await why(), ['the list edge is deleted']);
    await store.thawFeed(workspace.id, feed.id, null);
    await store.restoreDeleted(workspace.id, list.id, {});
    assert.deepEqual(await why(), [], 'restored on the same day');
    for (let n = 2; n <= MOST_FREEZES; n += 1) await store.createList(workspace.id, `more ${n}`, { ...NO_SETTINGS, canaryKeys: 'lab' });
    const refused = { code: 'REFUSED', message: /20 feeds of a workspace may have canary_keys/ };
    await assert.rejects(store.createList(workspace.id, 'more', { ...NO_SETTINGS, canaryKeys: 'lab' }), refused);
    await assert.rejects(store.updateWorkspace(workspace.id, { canaryKeys: 'lab' }), refused);
    await assert.rejects(store.updateList(workspace.id, list.id, { canaryKeys: 'lab' }), refused);
    await store.updateFeed(workspace.id, feed.id, { subtractAllow: 'on' });
    assert.equal((await store.freezes(workspace.id)).length, MOST_FREEZES);
    await query(`UPDATE freezes SET rules = ${MOST_FROZEN_RULES + 1}`);
    for (const host of ['198.51.100.8', '198.51.100.9']) await land([upsert(access(ip(host)))]);
    for (const reason of await why())
      assert.match(reason!, /^settings: subtract_allow; stopped: small changes reach the canaries only, too: [^:]+$/);
    const { id: own } = await store.createList(workspace.id, 'own', NO_SETTINGS);
    const clock = new ManualClock();
    await store.freezeFeed(workspace.id, await frozenContent(workspace.id, own, { store, clock }), null);
  });

  test(`D65.2 store ${name}: small changes of a list that is created during a canary reach feeds of all lists`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const now = await store.ping();
    await store.updateWorkspace(workspace.id, { canaryKeys: 'lab' });
    const settings = { ...NO_SETTINGS, canaryKeys: 'lab', subtractAllow: 'workspace' } as const;
    const { id: device } = await store.createFeed(workspace.id, { ...settings, name: 'device', lists: null });
    const { id: own } = await store.createFeed(workspace.id, { ...settings, name: 'own', lists: [] });
    const send = (target: string, listId: string | null = null, action: 'block' | 'allow' = 'block') =>
      land(
        [{ listId, isManaged: true, keyId: 'key', batchId: randomUUID(), change: upsert(access(ip(target), { action })) } as never],
        now,
      );
    await send('192.0.2.1');
    await send('198.51.100.1', null, 'allow');
    await send('10.0.0.0/8');
    const { id: late } = await store.createList(workspace.id, 'late', NO_SETTINGS);
    await send('192.0.2.99', late);
    await send('192.0.2.98', late);
    await send('198.51.100.2', late, 'allow');
    const read = async (feedId: string | null) => {
      const { rows, sink } = collectingSink();
      const head = await store.follow(workspace.id, feedId, now, NOTHING, { ...sink, list: () => {}, removed: () => {} } as ListSink);
      assert.ok(head !== undefined && head !== 'too_far');
      return { lists: head.lists.map((list) => list.name), rules: rows.map((row) => JSON.stringify(row)).sort() };
    };
    const workspaceFeed = await read(null);
    assert.deepEqual([workspaceFeed.lists, workspaceFeed.rules.length], [['default', 'late'], 5]);
    const composed = await read(device);
    assert.deepEqual([composed.lists, composed.rules.length], [['default', 'late'], 7], 'with the never-block rules as exceptions');
    assert.equal((await read(own)).rules.length, 2);
  });

  test(`D67.3, D67.15 store ${name}: changes and removed addresses count in the last ten minutes, of this workspace, and signals if they can wait`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    await store.noteRemoved(workspace.id, 300);
    await store.noteRemoved(workspace.id, 200);
    const now = await store.ping();
    assert.equal(await store.unapprovedAddresses(workspace.id, now), 500);
    assert.equal(await store.unapprovedAddresses(workspace.id, now + 11 * 60_000), 0);
    assert.equal(await store.recentAddresses(workspace.id, '', now), 0);
    await store.updateWorkspace(workspace.id, { approval: 'changes' });
    const change = upsert(access(ip('10.0.0.0/24')));
    await land(
      [{ keyId: 'a', batchId: randomUUID(), change, isManaged: true } as never, { keyId: 'b', batchId: randomUUID(), change }],
      now,
    );
    assert.equal(await store.unapprovedAddresses(workspace.id, now), 756);
    await store.updateWorkspace(workspace.id, { approval: 'all' });
    assert.equal(await store.unapprovedAddresses(workspace.id, now), 1012);
  });

  test(`D65.2, D65.6 store ${name}: each state of a feed whose canary a setting began has another revision`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const list = await store.createList(workspace.id, 'edge', { ...NO_SETTINGS, canaryKeys: 'lab' });
    const send = (target: string) => land([{ listId: list.id, change: upsert(access(ip(target))) }], START);
    const steps = [
      () => store.updateWorkspace(workspace.id, { protect: ['192.0.2.0/24'] }),
      () => send('198.51.100.1'),
      () => store.stopCanary(workspace.id, list.id, 'wrong'),
      () => send('198.51.100.2'),
    ];
    const revisions = new Set<number>();
    for (const step of steps) {
      await step();
      revisions.add((await store.findNamed(workspace.id, list.id))!.freezes![0]!.revision);
    }
    assert.equal(revisions.size, steps.length);
  });

  test(`D60.2 store ${name}: a freeze with missing rules is an error`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    await land([upsert(access(ip('192.0.2.1')))]);
    const content = await frozenContent(workspace.id, null, { store, clock: new ManualClock() });
    await store.freezeFeed(workspace.id, { ...content, pieces: [] }, null);
    const sink = { ...collectingSink().sink, list: () => {}, removed: () => {} };
    await assert.rejects(store.follow(workspace.id, null, START, NOTHING, sink), /has 0 of 1 rules/);
  });
}
