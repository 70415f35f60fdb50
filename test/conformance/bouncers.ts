/** What every store driver must do for bouncers (SPEC D14). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Bouncer } from '../../src/ports/stored/bouncer-store.ts';
import { allOf } from '../support/pages.ts';
import { access, fixture, ip, type StoreDriver, T0, upsert } from './store.ts';

const DAY = 86_400_000;
const NO_BOUNCER = {
  address: '192.0.2.1',
  feedId: null,
  decisions: 0,
  networks: 0,
  leftOutNetworks: 0,
  leftOutAddresses: 0,
  metrics: null,
  metricsAt: null,
  lastStream: null,
  refusal: null,
  enforced: null,
  differedAt: null,
};

export function bouncerConformance({ name, open }: StoreDriver): void {
  test(`D14.6 store ${name}: what was told is read from any row on, until the whole replaces it; after three weeks it is swept`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const feed = randomUUID();
    const record = async (feedId: string | null, text: string, row: { through?: number; isComplete?: boolean; at?: number } = {}) =>
      (await store.recordLog(workspace.id, feedId, { bytes: Buffer.from(text), isComplete: false, through: 0, at: T0, ...row })).seq;
    const texts = async (feedId: string | null, after = 0) =>
      (await store.logRecords(workspace.id, feedId, after)).map(({ seq, bytes }) => `${seq} ${Buffer.from(bytes)}`);
    assert.deepEqual(await texts(null), []);
    assert.deepEqual([await record(null, 'a'), await record(null, 'b'), await record(feed, 'c')], [1, 2, 1]);
    assert.deepEqual([await texts(null), await texts(null, 1), await texts(feed)], [['1 a', '2 b'], ['2 b'], ['1 c']]);
    // A row of another process that this one has not read stays.
    assert.equal(await record(null, 'd', { isComplete: true, through: 1, at: T0 + DAY }), 3);
    assert.deepEqual(await texts(null), ['2 b', '3 d']);
    assert.equal(await record(null, 'e', { isComplete: true, through: 7 }), 8);
    await record(null, 'f', { at: T0 + DAY });
    await store.sweep({ now: T0 + 21 * DAY + 1, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 });
    assert.deepEqual([await texts(null), await texts(feed)], [['9 f'], []]);
    assert.deepEqual(await store.logRecords(randomUUID(), null, 0), []);
  });

  test(`D50.8 store ${name}: records of several processes at the same time all get a number, complete ones too`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const rows = Array.from({ length: 24 }, (_, n) => ({ bytes: Buffer.from([n]), isComplete: n % 6 === 5, through: 0, at: T0 }));
    const numbers = await Promise.all(rows.map(async (row) => (await store.recordLog(workspace.id, null, row)).seq));
    const stored = await store.logRecords(workspace.id, null, 0);
    assert.deepEqual(
      stored.map(({ seq }) => seq),
      rows.map((_, n) => n + 1),
    );
    assert.deepEqual(
      stored.map(({ bytes }) => bytes[0]),
      rows.map((_, n) => numbers.indexOf(n + 1)),
    );
  });

  test(`D14.16 store ${name}: of more than a workspace may have been told the feeds go that nobody has pulled for longest`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const [old, used, newest] = [randomUUID(), randomUUID(), randomUUID()];
    const record = (feedId: string | null, bytes: number, isComplete = false) =>
      store.recordLog(workspace.id, feedId, { bytes: Buffer.alloc(bytes), isComplete, through: isComplete ? 9 : 0, at: T0 }, 100);
    const sizes = async () => {
      const rows = await Promise.all([old, used, newest].map((feed) => store.logRecords(workspace.id, feed, 0)));
      return rows.map((each) => each.reduce((sum, { bytes }) => sum + bytes.length, 0));
    };
    const pulls = [old, used].map((feedId, n) => ({
      ...{ workspaceId: workspace.id, keyId: randomUUID(), userAgent: 'firewall/1', address: '192.0.2.1', feedId },
      ...{ firstSeen: T0, lastPull: T0 + n, decisions: 0, networks: 0, leftOutNetworks: 0, leftOutAddresses: 0 },
      ...{ metrics: null, metricsAt: null, lastStream: null, refusal: null, enforced: null, differedAt: null },
    }));
    await store.recordBouncers(pulls);
    for (const feed of [used, old]) await record(feed, 40);
    await record(used, 40, true);
    assert.deepEqual(await sizes(), [40, 40, 0], 'what is replaced counts no longer');
    assert.deepEqual((await record(newest, 30)).forgotten, [old]);
    assert.deepEqual(await sizes(), [0, 40, 30]);
    await record(newest, 90);
    assert.deepEqual(await sizes(), [0, 0, 120], 'the feed itself is never forgotten');
    await store.sweep({ now: T0 + 21 * DAY + 1, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 });
    await record(used, 60);
    await record(old, 40);
    assert.deepEqual(await sizes(), [40, 60, 0], 'what was swept counts no longer');
  });

  test(`D50.2 store ${name}: commits are announced, and revisions are those of the workspaces that exist`, async (t) => {
    const { store, workspace, land } = await fixture(t, { name, open });
    const revisions = async () => [...(await store.revisions([workspace.id, randomUUID()]))];
    let heard = () => {};
    t.after(store.watchCommits(() => heard()));
    // The first call may be that of a connection that listens from now on.
    for (let n = 0; n < 3; n += 1) {
      const before = await revisions();
      assert.deepEqual(before, [[workspace.id, (await store.directory(workspace.id))!.revision]]);
      const told = new Promise<void>((resolve) => {
        heard = resolve;
      });
      await land([upsert(access(ip(`192.0.2.${n}`)))]);
      await told;
      assert.ok((await revisions())[0]![1] > before[0]![1]);
    }
  });

  test(`D31.4, D31.5, D31.6 store ${name}: what was dropped is summed by list and day, a window once; after a day it is known no more`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const own = (await store.directory(workspace.id))!.lists[0]!;
    const [edge] = [await store.createList(workspace.id, 'edge', own), await store.createList(workspace.id, 'edge', own)];
    const hit = (list: string | null, packets: number, bytes = 0) => ({ list, packets, bytes });
    const windowOf = (digest: string | null, ...hits: ReturnType<typeof hit>[]) => ({ digest, hits });
    const record = async (at: number, listId: string | null, ...windows: ReturnType<typeof windowOf>[]) =>
      Object.fromEntries(await store.recordHits(workspace.id, [{ listId, windows }], at));
    const first = windowOf('a', hit('edge', 7, 900), hit('gone', 2), hit(null, 1));
    assert.deepEqual(await record(T0, null, first, first), { [edge.id]: 7, null: 3 }, 'the oldest of two lists of a name');
    assert.deepEqual(await record(T0 + 5, null, first, windowOf(null, hit('edge', 1)), windowOf(null, hit('edge', 1))), { [edge.id]: 2 });
    assert.deepEqual(await record(T0 + DAY, own.id, windowOf('b', hit('edge', 5), hit(null, 5))), { [own.id]: 10 }, 'all of a bound key');
    assert.deepEqual(await store.recordHits(randomUUID(), [{ listId: null, windows: [first] }], T0), new Map());
    const today = Math.floor(T0 / DAY);
    const found = (await store.listHits(workspace.id, today)).sort((a, b) => a.hits - b.hits);
    assert.deepEqual(found, [
      { listId: edge.id, hits: 9, bytes: 900, lastDay: today },
      { listId: own.id, hits: 10, bytes: 0, lastDay: today + 1 },
      { listId: null, hits: 22, bytes: 900, lastDay: today + 1 },
    ]);
    assert.deepEqual((await store.listHits(workspace.id, today + 1)).length, 2);
    const [day] = await store.feedDays(workspace.id, edge.id, { from: today, to: today + 1 });
    assert.deepEqual([day!.hits, day!.hitBytes, day!.added], [9, 900, 0]);
    for (let n = 0; n < 2; n++) await record(T0, null, windowOf(null, hit('edge', Number.MAX_SAFE_INTEGER)));
    assert.equal((await store.listHits(workspace.id, today)).find(({ listId }) => listId === edge.id)!.hits, Number.MAX_SAFE_INTEGER);
    await store.sweep({ now: T0 + DAY + 1, rulesExpiredBefore: 0, auditBefore: 0, limit: 10 });
    assert.deepEqual(await record(T0 + 2 * DAY, null, windowOf('a', hit('edge', 1)), windowOf('b', hit('edge', 1))), { [edge.id]: 1 });
  });

  test(`D36.6, D31.5 store ${name}: the newest 20,000 windows of a workspace are known, and those of another take nothing from it`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const other = await store.createWorkspace((await store.organizations())[0]!.id, 'other');
    const windowOf = (digest: string) => ({ digest, hits: [{ list: null, packets: 1, bytes: 0 }] });
    const counted = async (of: string, at: number, ...digests: string[]) =>
      (await store.recordHits(of, [{ listId: null, windows: digests.map(windowOf) }], at)).get(null) ?? 0;
    assert.deepEqual([await counted(other.id, T0, 'first'), await counted(workspace.id, T0, 'first')], [1, 1]);
    assert.equal(await counted(workspace.id, T0 + 1, ...Array.from({ length: 20_000 }, (_, n) => `w${n}`)), 20_000);
    assert.equal(await counted(workspace.id, T0 + 2, 'last', 'w7', 'last'), 1);
    assert.equal(await counted(workspace.id, T0 + 3, 'first'), 1, 'it was forgotten');
    assert.equal(await counted(workspace.id, T0 + 3, 'w19999', 'last'), 0);
    assert.equal(await counted(other.id, T0 + 3, 'first'), 0);
  });

  test(`D14.13, D15.8, D45.3 store ${name}: a bouncer is noted with its first and its last pull and its last metrics, and is forgotten`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const other = await store.createWorkspace((await store.organizations())[0].id, 'other');
    const bouncer: Bouncer = {
      workspaceId: workspace.id,
      keyId: randomUUID(),
      userAgent: 'firewall/1',
      address: '192.0.2.1',
      feedId: null,
      firstSeen: T0,
      lastPull: T0 + 5,
      decisions: 7,
      networks: 3,
      leftOutNetworks: 1,
      leftOutAddresses: 2 ** 80,
      metrics: '{"a":1}',
      metricsAt: T0 + 3,
      lastStream: T0 + 4,
      refusal: null,
      enforced: null,
      differedAt: T0 + 2,
    };
    const second = {
      ...bouncer,
      userAgent: 'mirror/1',
      feedId: randomUUID(),
      metrics: null,
      metricsAt: null,
      lastStream: null,
      refusal: null,
      enforced: null,
      differedAt: null,
    };
    await store.recordBouncers([second, bouncer]);
    const all = (of = workspace) => allOf((page) => store.bouncerPage(of.id, page));
    assert.deepEqual(await all(), [bouncer, second]);
    assert.deepEqual(await all(other), []);
    // After a restart a process knows neither the first pull nor metrics.
    const later = {
      ...bouncer,
      firstSeen: T0 + 60,
      lastPull: T0 + 70,
      decisions: 8,
      metrics: null,
      metricsAt: null,
      lastStream: null,
      refusal: null,
      enforced: null,
      differedAt: null,
    };
    await store.recordBouncers([later]);
    await store.forgetBouncers(T0 + 6);
    assert.deepEqual(await all(), [{ ...bouncer, lastPull: T0 + 70, decisions: 8 }]);
    // Who is refused has what it had before.
    const refusal = { status: 413, since: T0 + 80, count: 83 };
    await store.recordBouncers([{ ...later, lastPull: T0 + 80, decisions: 0, networks: 0, refusal }]);
    assert.deepEqual(await all(), [{ ...bouncer, lastPull: T0 + 80, decisions: 8, refusal }], 'D45.3');
    // Names may hold anything, and one may be part of another.
    const names = ['', 'a b c', 'a', 'a b', ' a', 'é/1'];
    const many = names.flatMap((userAgent) => ['192.0.2.1', '2001:db8::1'].map((address) => ({ ...bouncer, userAgent, address })));
    await store.recordBouncers(many);
    const found = await all();
    assert.equal(found.length, many.length + 1);
    assert.deepEqual(await store.bouncerPage(workspace.id, { after: null, limit: 100 }), { items: found, next: null });
    const named = ({ userAgent, address }: Bouncer) => `${userAgent} at ${address}`;
    assert.deepEqual(found.map(named).sort(), [bouncer, ...many].map(named).sort());
    // Who followed the stream for an hour, and has not pulled for one; who only looks addresses up has no habit.
    const HOUR = 3_600_000;
    const stream = { ...bouncer, address: '192.0.2.9', lastPull: T0 + HOUR, lastStream: T0 + HOUR };
    await store.recordBouncers([stream]);
    const stopped = async (of: string | null, now: number) =>
      (await store.stoppedClients(of, now)).map(({ kind, address }) => [kind, address]);
    assert.deepEqual([await stopped(workspace.id, T0 + 2 * HOUR - 1), await stopped(other.id, T0 + 2 * HOUR)], [[], []]);
    assert.deepEqual(
      [await stopped(workspace.id, T0 + 2 * HOUR), await stopped(null, T0 + 2 * HOUR)],
      [[['bouncer', '192.0.2.9']], [['bouncer', '192.0.2.9']]],
    );
    assert.deepEqual(await stopped(workspace.id, T0 + HOUR + DAY), []);
  });

  test(`D14.14 store ${name}: of too many bouncers those go that were seen longest ago, of the workspace and the key with most`, async (t) => {
    const { store, workspace } = await fixture(t, { name, open });
    const other = await store.createWorkspace((await store.organizations())[0].id, 'other');
    const most = { ofWorkspace: 6, inAll: 8 };
    const seen = (workspaceId: string, keyId: string, names: readonly number[]): Bouncer[] =>
      names.map((n) => ({ ...NO_BOUNCER, workspaceId, keyId, userAgent: `b/${n}`, firstSeen: T0 + n, lastPull: T0 + n }));
    const record = async (bouncers: readonly Bouncer[]) => {
      await store.recordBouncers(bouncers);
      await store.forgetBouncers(0, most);
    };
    const names = async (id: string) =>
      (await allOf((page) => store.bouncerPage(id, page))).map(({ keyId, userAgent }) => `${keyId} ${userAgent}`);
    await record(seen(workspace.id, 'quiet', [1, 2]));
    await record([...seen(workspace.id, 'loud', [3, 4, 5, 6, 7]), ...seen(other.id, 'mine', [0])]);
    assert.deepEqual(await names(workspace.id), ['loud b/4', 'loud b/5', 'loud b/6', 'loud b/7', 'quiet b/1', 'quiet b/2']);
    const third = await store.createWorkspace((await store.organizations())[0].id, 'third');
    await record(seen(third.id, 'loud', [1, 2, 3, 4, 5, 6, 7, 8]));
    assert.deepEqual(await names(other.id), ['mine b/0']);
    assert.deepEqual(await names(workspace.id), ['loud b/7', 'quiet b/2']);
    assert.deepEqual(await names(third.id), ['loud b/6', 'loud b/7', 'loud b/8']);
    // More than the bound of one key each.
    const each = Array.from({ length: 9 }, (_, n) => seen(other.id, `key-${n}`, [n]));
    await record(each.flat());
    assert.deepEqual(await names(other.id), ['key-6 b/6', 'key-7 b/7', 'key-8 b/8']);
  });

  test(`D14.2 store ${name}: the rules of a feed, and what follows them, tell of which list each rule is`, async (t) => {
    const { store, workspace, land } = await fixture(t, { name, open });
    const list = await store.createList(workspace.id, 'edge', { ...(await store.directory(workspace.id))!.lists[0] });
    const [{ id: own }] = (await store.directory(workspace.id))!.lists;
    const seen: string[] = [];
    let current = '';
    const sink = {
      list: (key: string) => {
        current = key;
      },
      v4: (_id: number, _role: string, address: number) => seen.push(`${current} ${address & 0xff}`),
      v6: () => {},
      geo: () => {},
      removed: () => {},
    };
    await land([
      { change: upsert(access(ip('192.0.2.1'))), listId: list.id },
      { change: upsert(access(ip('192.0.2.2'))), listId: own },
      { change: upsert(access(ip('192.0.2.3'))), listId: list.id },
    ]);
    const head = await store.follow(workspace.id, null, T0, { change: 0, lists: new Set() }, sink);
    assert.ok(head !== undefined && head !== 'too_far');
    const nameOf = new Map(head.lists.map((each) => [each.key, each.name]));
    const named = () => seen.splice(0).map((text) => text.replace(/^\S+/, (key) => nameOf.get(key)!));
    assert.deepEqual(named().sort(), ['default 2', 'edge 1', 'edge 3']);
    assert.deepEqual(
      head.lists.map(({ id, name: called }) => ({ id, called })),
      [
        { id: own, called: 'default' },
        { id: list.id, called: 'edge' },
      ],
    );
    await land([
      { change: upsert(access(ip('192.0.2.4'))), listId: own },
      { change: upsert(access(ip('192.0.2.5'))), listId: list.id },
    ]);
    await store.follow(workspace.id, null, T0, { change: head.change, lists: new Set(nameOf.keys()) }, sink);
    assert.deepEqual(named().sort(), ['default 4', 'edge 5']);
  });
}
