/** Each input of a feed's content is changed by itself, over every store: bytes, bouncers and look-up follow (SPEC D46.1). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { FeedPatch } from '../../src/account/feed.ts';
import { blockGuards, NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import { type ListPatch, NO_SETTINGS } from '../../src/account/list.ts';
import { DEFAULT_GUARDS, PLAIN_READING } from '../../src/account/source.ts';
import { systemClock } from '../../src/clock.ts';
import { explain } from '../../src/feed/whatif/explain/explain.ts';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import type { AccessRule } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { BouncerReplica, valuesOf } from '../support/bouncer-world.ts';
import { access, fixture, ip, type StoreDriver, upsert } from './store.ts';

/** The address whose way through the feed `f` is followed. */
const PROBE = '10.0.0.1';
/** What is read after each change, beside the variant that has to change. */
const FEEDS = ['', '?action=allow', '/a', '/f?format=plain', '/plain', '/all', '/fitting'];
const READING = PLAIN_READING;
const ORIGIN = { url: 'https://lists.example/', purpose: 'block', every: 3600, reading: READING, guards: DEFAULT_GUARDS } as const;

/** What is changed, the feed whose bytes have to change, the change, and what comes before it. */
type Input = readonly [what: string, feed: string, change: () => Promise<unknown>, before?: () => Promise<unknown>];

export function feedInputsConformance(driver: StoreDriver): void {
  test(`D46.1 store ${driver.name}: each input of a feed changes its bytes by itself, for bouncers too, and look-up agrees with them`, async (t) => {
    const { store, workspace, land } = await fixture(t, driver);
    const at = workspace.id;
    let now = await store.ping();
    const clock = { now: () => now, monotonic: () => now, after: systemClock.after };
    const ofVersion: Record<string, Uint32Array> = {
      1: Uint32Array.of(0x0a00_0500, 0x0a00_05ff),
      2: Uint32Array.of(0x0a00_0600, 0x0a00_06ff),
    };
    let version = '1';
    const geo = (): GeoDatabase => ({ version, ranges: () => ({ v4: ofVersion[version]!, v6: new Uint32Array() }), hasAsn: () => true });
    let keyRevision = 0;
    const { recordTrim } = store;
    const start = () =>
      new BouncerReplica(clock, store, { workspaceId: at, geo, rebuildSeconds: 0, keyRevision: () => keyRevision, recordTrim });

    const list = (name: string) => store.createList(at, name, NO_SETTINGS);
    const feed = async (name: string, lists: readonly string[] | null, more: FeedPatch = {}) =>
      (await store.createFeed(at, { ...NO_SETTINGS, name, lists, ...more })).id;
    const settings = (copies: readonly string[]) => ({ ...ORIGIN, credential: null, copies, catalogue: null });
    const source = async (name: string, copies: readonly string[]) =>
      (
        await store.createSource(
          at,
          { ...settings(copies), id: randomUUID(), name, list: NO_SETTINGS, secret: null },
          { maxSources: 0, maxLists: 0 },
        )
      ).source;
    const [a, b, s] = [(await list('a')).id, (await list('b')).id, await source('s', [])];
    const f = await feed('f', [a, s.listId], { minSources: 2 });
    await feed('plain', [a, b], { subtractAllow: 'workspace' });
    const fitting = await feed('fitting', [a, b], { fit: 'lists' });
    await feed('all', null, { minSources: 2 });
    const block = (listId: string, value: string, more: Partial<AccessRule> = {}, batchId = newBatchId(now)) => {
      const target = value === 'NL' ? ({ kind: 'country', country: 'NL' } as const) : ip(value);
      return land([{ batchId, listId, ...(listId === s.listId && { sourceId: s.id }), change: upsert(access(target, more)) }], now);
    };
    for (const listId of [a, b, s.listId]) await block(listId, listId === b ? '10.0.0.3' : PROBE);

    const setList = (patch: ListPatch) => store.updateList(at, a, patch);
    const setFeed = (id: string, patch: FeedPatch) => store.updateFeed(at, id, patch);
    const copy = (names: readonly string[]) => store.updateSource(at, s.id, { copies: names });
    const restore = (id: string, name?: string) => store.restoreDeleted(at, id, name === undefined ? {} : { name });
    let [g, mid] = ['', { id: '', listId: '' }];
    const undone = newBatchId(now);

    const inputs: readonly Input[] = [
      ['copies names a list: out', '/f', () => copy(['a'])],
      ['copies names nothing: in', '/f', () => copy(['g'])],
      ['a feed of that name is made: out', '/f', async () => (g = await feed('g', [a]))],
      ['the lists of that feed: in', '/f', () => setFeed(g, { lists: [b] })],
      ['that it has all lists: out', '/f', () => setFeed(g, { lists: null })],
      ['it is deleted: in', '/f', () => store.deleteFeed(at, g)],
      ['it is restored: out', '/f', () => restore(g)],
      ['it is restored under another name: in', '/f', () => store.deleteFeed(at, g).then(() => restore(g, 'other'))],
      [
        'an import renames it: out',
        '/f',
        async () => {
          const { workspaceId: _, ...saved } = (await store.feed(at, g))!;
          await store.restoreLists(at, [], [{ ...saved, name: 'g' }]);
        },
      ],
      ['it is deleted for good: in', '/f', () => store.deleteFeed(at, g, { forGood: true })],
      ['a source has the name, which copies a list: out', '/f', async () => (mid = await source('g', ['a']))],
      ['what that source copies: in', '/f', () => store.updateSource(at, mid.id, { copies: ['h'] })],
      ['the feed that it names is made: out', '/f', () => feed('h', [a])],
      ['that source is deleted: in', '/f', () => store.deleteSource(at, mid.id)],
      ['it is restored with its list: out', '/f', () => restore(mid.listId)],
      ['it is deleted, its list stays: in', '/f', () => store.deleteSource(at, mid.id, { keepList: true })],
      [
        'an import gives the list a source: out',
        '/f',
        () => store.restoreSources(at, [{ ...settings(['h']), id: mid.id, listId: mid.listId, isPaused: false, confirmedAt: null }]),
      ],
      ['copies names an entry of the catalogue: in', '/f', () => copy(['drop'])],
      ['a source is of that entry: out', '/f', () => store.updateSource(at, mid.id, { catalogue: 'drop' })],
      ['a list that is enough alone: in', '/f', () => setFeed(f, { always: [a] })],
      ['none is: out', '/f', () => setFeed(f, { always: [] })],
      ['how many lists have to agree: in', '/f', () => setFeed(f, { minSources: 1 })],
      ['two: out', '/f', () => setFeed(f, { minSources: 2 })],
      ['a list more that has it: in', '/f', () => setFeed(f, { lists: [b, a, s.listId] }), () => block(b, PROBE)],
      ['that list is deleted: out', '/f', () => store.deleteList(at, b)],
      ['that list is restored: in', '/f', () => restore(b)],
      ['a rule', '/plain', () => block(a, '10.0.0.9')],
      ['a never-block rule of another list', '/plain', () => block(s.listId, '10.0.0.9', { action: 'allow' })],
      [
        'a batch is undone',
        '/a',
        () => land([{ listId: a, batchId: newBatchId(now), change: { change: 'undo', batchId: undone } }], now),
        () => block(a, '10.0.0.77', {}, undone),
      ],
      ['the level of a rule', '/a?format=csv_indicator', () => block(a, '10.0.0.9', { confidence: 'low' })],
      ['the level of a list', '/plain?format=csv_indicator', () => setList({ severity: 'low' })],
      ['the description', '/a?format=commented', () => setList({ description: 'edge' })],
      ['the format', '/a', () => setList({ format: 'set_elements' })],
      ['the host style', '/a?format=plain', () => setList({ hostStyle: 'bare' })],
      ['the kind of device', '/a', () => setList({ format: null, target: 'pan-os' })],
      ['the cap', '/a?format=plain', () => setList({ maxEntries: 1 })],
      [
        'which never-block rules count',
        '/a?format=plain',
        () => setList({ subtractAllow: 'workspace' }),
        () => setList({ maxEntries: null }),
      ],
      ['those of the workspace', '?format=plain', () => store.updateWorkspace(at, { subtractAllow: 'on' })],
      ['protected networks: out', '/f', () => store.updateWorkspace(at, { protect: [PROBE] })],
      ['none: in', '/f', () => store.updateWorkspace(at, { protect: [] })],
      ['what does not fit', '/fitting', () => setFeed(fitting, { maxEntries: 2 })],
      ['the order of lists', '/fitting', () => setFeed(fitting, { lists: [b, a] })],
      ['geo data', '/a', async () => (version = '2'), () => block(a, 'NL')],
    ];

    const running = start();
    let readers = 0;
    const read = async (replica: BouncerReplica, changing: string) => {
      now += 3000;
      keyRevision = await store.keyRevision();
      const found = new Map<string, string>();
      for (const name of [...FEEDS, changing]) {
        const { status, body } = await replica.get(name);
        // The instant is that of the process.
        found.set(name, `${status}\n${body.replace(/^# generated: .*$/m, '')}`);
      }
      readers += 1;
      const { new: decisions } = await replica.pull('startup=true', `reader/${readers}`, { workspaceId: at, feedId: f });
      const networks = decisions.map(({ value }) => value).sort();
      assert.deepEqual(networks, valuesOf(found.get('/f?format=plain')!.slice('200\n'.length)));
      return found;
    };
    for (const [what, name, change, before] of inputs) {
      await before?.();
      const was = await read(running, name);
      await change();
      const is = await read(running, name);
      assert.notEqual(is.get(name), was.get(name), what);
      assert.deepEqual(is, await read(start(), name), what);
      const isIn = is.get('/f?format=plain')!.includes(`${PROBE}/32`);
      const [, expected] = /: (in|out)$/.exec(what) ?? [];
      if (expected !== undefined) assert.equal(isIn, expected === 'in', what);
      const here = (await store.workspace(at))!;
      const guard = blockGuards({ ...NO_GUARD_RAILS, self: [], protect: here.protect });
      const asked = { workspace: here, target: ip(PROBE), action: 'block', feedIds: [f], counts: false } as const;
      const { explanation } = (await explain(asked, { store, geo: geo(), guard: () => guard(here), now: { wall: now, monotonic: now } }))
        .feeds[0]!;
      assert.equal(explanation.verdict, isIn ? 'in' : 'out', what);
    }
    assert.deepEqual(running.errors, []);
  });
}
