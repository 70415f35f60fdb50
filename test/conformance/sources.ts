/** What every store driver must do with sources, and with the leases by which one process of many refreshes them (SPEC D23). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { NO_SETTINGS } from '../../src/account/list.ts';
import { DEFAULT_GUARDS, newState, PLAIN_READING, type SourceSettings } from '../../src/account/source.ts';
import { type SourceRun, STORED_RUNS } from '../../src/account/source-run.ts';
import type { NewSource } from '../../src/ports/stored/source-store.ts';
import type { RuleChange, RuleOperation } from '../../src/rule.ts';
import { newBatchId } from '../../src/signal/message/signal-id.ts';
import { access, fixture, ip, KEY, type StoreDriver, T0, upsert } from './store.ts';

const BY = { keyId: 'k', actor: 'Жанна' };
const ROOM = { maxSources: 0, maxLists: 0 };
const SETTINGS: SourceSettings = {
  url: 'https://lists.example/drop.json',
  purpose: 'block',
  every: 3600,
  reading: { ...PLAIN_READING, format: 'ndjson', paths: ['cidr'] },
  guards: DEFAULT_GUARDS,
  credential: { kind: 'header', name: 'X-Api-Key' },
  copies: ['edge'],
  catalogue: null,
};
const made = (name: string, more: Partial<NewSource> = {}): NewSource => ({
  ...SETTINGS,
  id: randomUUID(),
  name,
  list: { ...NO_SETTINGS, maxEntries: 7 },
  secret: Buffer.from([1, 2, 255]),
  ...more,
});
const RUN: SourceRun = {
  at: 1,
  outcome: 'applied',
  ms: 2,
  bytes: 3,
  entries: 4,
  added: 5,
  removed: 6,
  refused: 7,
  faults: 8,
  replacement: null,
  text: 'done',
};

export function sourceConformance(driver: StoreDriver): void {
  const { name } = driver;

  test(`D23.1, D44.13 store ${name}: a source is made with its list, set, paused, resumed and asked; only its refreshes see the secret`, async (t) => {
    const { store, again, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const given = made('drop');
    const begun = await store.sourceRevision();
    const { source, state, asked } = await store.createSource(workspace.id, given, ROOM, { by: BY });
    const list = (await store.findNamed(workspace.id, 'drop'))!.lists[0]!;
    assert.deepEqual(
      [source, asked, state.nextAt > 0],
      [
        {
          ...SETTINGS,
          id: given.id,
          workspaceId: workspace.id,
          listId: list.id,
          name: 'drop',
          isPaused: false,
          revision: 1,
          createdAt: source.createdAt,
        },
        null,
        true,
      ],
    );
    assert.deepEqual([list.sourceId, list.maxEntries, list.isDefault], [given.id, 7, false]);
    assert.deepEqual(state, newState(state.nextAt));
    const reader = await again();
    assert.deepEqual(await reader.source(workspace.id, given.id), { source, state, asked });
    assert.equal(await reader.source(other.id, given.id), undefined);
    const page = { after: null, limit: 10 };
    assert.deepEqual((await reader.sourcePage(workspace.id, page)).items, [{ source, state, asked }]);
    assert.deepEqual((await reader.sourcePage(other.id, page)).items, []);
    const [sealed] = (await reader.allSources(page)).items;
    assert.deepEqual([sealed!.source, [...sealed!.secret!]], [source, [1, 2, 255]]);
    assert.ok((await store.sourceRevision()) > begun);

    const paused = await store.pauseSource(workspace.id, given.id, true, BY);
    assert.deepEqual([paused.source.isPaused, paused.source.revision], [true, 2]);
    const running = await store.pauseSource(workspace.id, given.id, false);
    assert.deepEqual([running.source.isPaused, running.source.revision], [false, 3]);
    const set = await store.updateSource(workspace.id, given.id, { every: 7200, secret: null, credential: null }, { by: BY });
    assert.deepEqual([set.source.every, set.source.url, set.source.credential, set.source.revision], [7200, SETTINGS.url, null, 4]);
    assert.equal((await store.allSources(page)).items[0]!.secret, null);
    await assert.rejects(store.updateSource(workspace.id, given.id, { every: 300 }, { ifMatch: ['"other"'] }), { code: 'CHANGED' });
    await assert.rejects(store.updateSource(other.id, given.id, { every: 300 }), { code: 'NOT_FOUND' });

    const ask = { what: 'accept', at: 5, by: BY, replacement: 'r' } as const;
    assert.deepEqual((await store.askSource(workspace.id, given.id, ask)).asked, ask);
    await assert.rejects(store.askSource(workspace.id, given.id, { what: 'refresh', at: 6, by: BY }), { code: 'REFUSED' });
    await assert.rejects(store.askSource(other.id, given.id, ask), { code: 'NOT_FOUND' });
    // A refresh that was asked for before is asked for still, once the other thing is done.
    const [fence, refresh] = [(await store.claimLease('sources', 'a', 60_000))!, { what: 'refresh', at: 7, by: BY } as const];
    const answer = (answered: number) =>
      store.writeSources({ name: 'sources', fence }, [{ id: given.id, revision: 4, state: newState(9), answered }]);
    await answer(5);
    await store.askSource(workspace.id, given.id, refresh);
    await store.askSource(workspace.id, given.id, { ...ask, at: 8 });
    await answer(8);
    assert.deepEqual((await store.source(workspace.id, given.id))!.asked, refresh);
    await answer(7);
    assert.equal((await store.source(workspace.id, given.id))!.asked, null);
    const { items } = await store.auditPage(workspace.id, { after: null, limit: 9 });
    assert.deepEqual(
      items.slice(2, 7).map(({ event, object }) => [event, object === given.id]),
      ['source accepted', 'source changed', 'source resumed', 'source paused', 'source created'].map((event) => [event, true]),
    );
    assert.deepEqual(items[3]!.change, {
      before: { every: 3600, auth: 'header', auth_header: 'X-Api-Key' },
      after: { every: 7200, auth: null, auth_header: null },
    });
    assert.equal(JSON.stringify(items).includes('AQL/'), false);
  });

  test(`D23.1 store ${name}: names of sources are those of lists and feeds; a workspace has so many`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const create = (source: string, room = {}) => store.createSource(workspace.id, made(source), { ...ROOM, ...room });
    await store.createList(workspace.id, 'edge', NO_SETTINGS);
    await store.createFeed(workspace.id, { ...NO_SETTINGS, name: 'device', lists: null });
    await assert.rejects(create('edge'), { code: 'REFUSED', message: /has a list called "edge"/ });
    await assert.rejects(create('device'), { code: 'REFUSED', message: /has a feed called "device"/ });
    await assert.rejects(
      create('a', { maxLists: 3, maxSources: 1 }).then(() => create('b', { maxSources: 1 })),
      {
        code: 'REFUSED',
        message: 'the workspace has 1 sources, its limit: delete one, or raise MAX_SOURCES',
      },
    );
    await assert.rejects(create('b', { maxLists: 3 }), { code: 'REFUSED', message: /MAX_LISTS/ });
    const other = await store.createWorkspace(organization.id, 'other');
    await store.createSource(other.id, made('a'), { maxSources: 1, maxLists: 0 });
  });

  test(`D23.3, D44.7 store ${name}: its list goes with a source and brings it back, paused and with its secret; or it is kept as an ordinary one`, async (t) => {
    const { store, workspace, land, targets } = await fixture(t, driver);
    const given = made('drop');
    const { source } = await store.createSource(workspace.id, given, ROOM);
    await land([{ change: upsert(access(ip('192.0.2.1'))), listId: source.listId }]);
    await assert.rejects(store.deleteList(workspace.id, source.listId), {
      code: 'REFUSED',
      message: 'the list "drop" belongs to the source "drop" and is deleted with it: weir source delete "drop"',
    });
    const lease = { name: 'sources', fence: (await store.claimLease('sources', 'a', 60_000))! };
    const good = { ...newState(5), digest: 'd', confirmedAt: 7, fetchedAt: 8, changedAt: 6, entries: 1, stop: 'refused' } as const;
    await store.writeSources(lease, [{ id: given.id, revision: 1, state: good }]);
    await store.deleteSource(workspace.id, given.id, { by: BY });
    assert.deepEqual([await store.source(workspace.id, given.id), await targets()], [undefined, []]);
    await store.createSource(workspace.id, made('another'), ROOM);
    await assert.rejects(store.restoreDeleted(workspace.id, source.listId, { maxSources: 1 }), { code: 'REFUSED', message: /MAX_SOURCES/ });
    await store.restoreDeleted(workspace.id, source.listId, { name: 'again' });
    const back = await store.source(workspace.id, given.id);
    assert.deepEqual({ ...back!.source, createdAt: 0 }, { ...source, name: 'again', isPaused: true, createdAt: 0 });
    assert.deepEqual(await targets(), ['192.0.2.1']);
    // Its list is as old as it was; its content is fetched again.
    assert.deepEqual({ ...back!.state, nextAt: 0 }, { ...good, nextAt: 0, digest: null, countedFor: '' });
    const sealed = (await store.allSources({ after: null, limit: 9 })).items.find((each) => each.source.id === given.id);
    assert.deepEqual([...sealed!.secret!], [1, 2, 255]);
    await store.deleteSource(workspace.id, given.id, { keepList: true });
    assert.deepEqual([(await store.findNamed(workspace.id, 'again'))!.lists[0]!.sourceId, await targets()], [null, ['192.0.2.1']]);
    await store.deleteList(workspace.id, source.listId);
    await store.restoreDeleted(workspace.id, source.listId, {});
    assert.equal(await store.source(workspace.id, given.id), undefined);
  });

  test(`D23.5 store ${name}: what a refresh has sent lands in the list of its source, and where that is gone nowhere`, async (t) => {
    const { store, workspace, land, targets } = await fixture(t, driver);
    const [gone, kept, there] = [made('gone'), made('kept'), made('there')];
    const lists: string[] = [];
    for (const each of [gone, kept, there]) lists.push((await store.createSource(workspace.id, each, ROOM)).source.listId);
    const key = { ...KEY, hash: Buffer.from('bound'), listId: lists[1]! };
    await store.createKey(workspace.id, key);
    assert.equal((await store.findCaller(key.hash))!.listSourceId, kept.id);
    const revision = await store.keyRevision();
    await store.deleteSource(workspace.id, gone.id);
    await store.deleteSource(workspace.id, kept.id, { keepList: true });
    assert.ok((await store.keyRevision()) > revision);
    assert.equal((await store.findCaller(key.hash))!.listSourceId, undefined);
    const of = [gone, kept, there];
    await land(of.map(({ id: sourceId }, n) => ({ change: upsert(access(ip(`192.0.2.${n}`))), listId: lists[n]!, sourceId })));
    assert.deepEqual([await targets(), await store.ruleCount(workspace.id)], [['192.0.2.2'], 1]);
    await land([{ change: upsert(access(ip('192.0.2.9'))), listId: lists[2]!, sourceId: gone.id }]);
    assert.deepEqual(await targets(), ['192.0.2.2']);
  });

  test(`D23.9 store ${name}: a lease is one holder's until its end or until it is given back; its number moves with the holder`, async (t) => {
    const { store, again } = await fixture(t, driver);
    const other = await again();
    assert.equal(await store.claimLease('l', 'a', 60_000), 1);
    assert.equal(await store.claimLease('l', 'a', 60_000), 1, 'held for longer');
    assert.equal(await other.claimLease('l', 'b', 60_000), undefined);
    assert.equal(await other.claimLease('another', 'b', 60_000), 1);
    await other.releaseLease('l', 'b');
    assert.equal(await other.claimLease('l', 'b', 60_000), undefined, 'nobody gives back what another holds');
    await store.releaseLease('l', 'a');
    assert.equal(await other.claimLease('l', 'b', 0), 2);
    assert.equal(await store.claimLease('l', 'a', 60_000), 3, 'its time was over');
  });

  test(`D23.9 store ${name}: refreshes write with the lease's number and the source's revision, or not at all; of the runs the last are kept`, async (t) => {
    const { store, workspace, organization } = await fixture(t, driver);
    const other = await store.createWorkspace(organization.id, 'other');
    const [one, two] = [made('one'), made('two')];
    for (const each of [one, two]) await store.createSource(workspace.id, each, ROOM);
    const fence = (await store.claimLease('sources', 'a', 60_000))!;
    const lease = { name: 'sources', fence };
    const state = { ...newState(9), etag: '"e"', failures: 2, fault: 'no answer', stop: 'refused' } as const;
    await store.askSource(workspace.id, one.id, { what: 'discard', at: 5, by: BY });
    const update = (id: string, more = {}) => ({ id, revision: 1, state, run: RUN, ...more });
    assert.deepEqual(await store.writeSources(lease, [update(one.id, { answered: 4 }), update(two.id), update('gone')]), [one.id, two.id]);
    const read = async () => (await store.source(workspace.id, one.id))!;
    assert.deepEqual([(await read()).state, (await read()).asked?.what, (await read()).source.revision], [state, 'discard', 1]);
    await store.writeSources(lease, [update(one.id, { answered: 5 })]);
    assert.equal((await read()).asked, null);
    for (let n = 0; n < STORED_RUNS; n += 1) await store.writeSources(lease, [update(one.id, { run: { ...RUN, at: n } })]);
    const runs = await store.sourceRuns(workspace.id, one.id);
    assert.deepEqual(
      runs.map(({ at }) => at),
      Array.from({ length: STORED_RUNS }, (_, n) => STORED_RUNS - 1 - n),
    );
    assert.deepEqual([runs[0], await store.sourceRuns(other.id, one.id)], [{ ...RUN, at: STORED_RUNS - 1 }, []]);

    // Of those in a row that changed nothing the last one is kept.
    for (const at of [50, 51, 52]) await store.writeSources(lease, [update(one.id, { run: { ...RUN, outcome: 'unchanged', at } })]);
    const later = await store.sourceRuns(workspace.id, one.id);
    assert.deepEqual([later.length, later[0]!.at, later[1]!.at], [STORED_RUNS, 52, STORED_RUNS - 1]);

    await store.updateSource(workspace.id, one.id, { url: 'https://lists.example/other' });
    assert.deepEqual(
      [(await read()).state.etag, (await read()).state.stop],
      [null, null],
      'what was known of another address counts no more',
    );
    const guards = { ...DEFAULT_GUARDS, changePercent: 80 };
    const { state: judged } = await store.updateSource(workspace.id, two.id, { guards });
    assert.deepEqual([judged.etag, judged.stop], [null, 'refused'], 'who refuses is asked again only where somebody resumes it');
    assert.equal((await store.pauseSource(workspace.id, two.id, false)).state.stop, null);
    assert.deepEqual(await store.writeSources(lease, [update(one.id)]), [], 'it was made for the source as it was');
    await store.releaseLease('sources', 'a');
    await store.claimLease('sources', 'b', 60_000);
    assert.equal(await store.writeSources(lease, [update(two.id, { revision: 3 })]), undefined);
    assert.equal((await store.source(workspace.id, two.id))!.state.etag, null);
  });

  test(`D43.10 store ${name}: contents in parts, imports and sources have slots of their own, and an idle content gives its slot to whoever needs it`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const lists = await Promise.all(Array.from({ length: 6 }, (_, n) => store.createList(workspace.id, `list ${n}`, NO_SETTINGS)));
    const open = async (n: number, slot: 'parts' | 'import' | 'source', at: number, most = 4) => {
      const id = randomUUID();
      const state = slot === 'parts' ? 'open' : 'planning';
      const one = { id, workspaceId: workspace.id, listId: lists[n]!.id, slot, createdAt: at, lockedUntil: 0, state } as const;
      await store.openReplacement({ ...one, head: JSON.stringify({ list: lists[n]!.name }) }, { most, idleBefore: at - 600_000 });
      return id;
    };
    const told = async (id: string) => {
      const found = (await store.replacement(workspace.id, id))!;
      const { list, reason } = JSON.parse(found.head) as { list: string; reason?: string };
      return [found.state, list, reason?.slice(0, 16)];
    };
    const parts = [await open(0, 'parts', 0), await open(1, 'parts', 0), await open(2, 'parts', 0), await open(3, 'parts', 0)];
    await store.moveReplacement(parts[1]!, { from: 'open', to: 'planning', now: 1000, lockedUntil: 0 });
    await store.moveReplacement(parts[1]!, { from: 'planning', to: 'planned', now: 2000, lockedUntil: 0 });
    assert.ok(await store.storeReplacementPiece(parts[2]!, 'part', 0, Buffer.from('x'), 300_000));
    await assert.rejects(open(4, 'parts', 599_999), { code: 'LIMITED' });
    // Neither what imports nor what refreshes waits for them.
    await open(4, 'import', 5000);
    for (const n of [5, 0]) await open(n, 'source', 5000, 0);
    assert.deepEqual(await told(parts[0]!), ['failed', 'list 0', 'another content ']);
    const next = [await open(0, 'parts', 598_000), await open(4, 'parts', 602_000)];
    assert.deepEqual(await Promise.all([...parts.slice(1), ...next].map(told)), [
      ['failed', 'list 1', 'it received noth'],
      ['open', 'list 2', undefined],
      ['failed', 'list 3', 'it received noth'],
      ['open', 'list 0', undefined],
      ['open', 'list 4', undefined],
    ]);
    // A content in parts that is compared gives way to an import of the same list, and to no other content in parts.
    await store.moveReplacement(parts[2]!, { from: 'open', to: 'planning', now: 603_000, lockedUntil: 700_000 });
    const again = await open(2, 'parts', 604_000);
    await assert.rejects(store.moveReplacement(again, { from: 'open', to: 'planning', now: 604_000, lockedUntil: 0 }), { code: 'REFUSED' });
    await open(2, 'import', 605_000);
    assert.deepEqual((await told(parts[2]!))[0], 'failed');
    await assert.rejects(open(2, 'import', 605_000), { code: 'REFUSED' });
  });

  test(`D44.10 store ${name}: what was undone of a source's list is told at once, until that is undone or the list is equal to a content; other lists are not`, async (t) => {
    const { store, again, workspace, land } = await fixture(t, driver);
    const [one, other] = [made('one'), made('other')];
    const { listId } = (await store.createSource(workspace.id, one, ROOM)).source;
    await store.createSource(workspace.id, other, ROOM);
    const lease = { name: 'sources', fence: (await store.claimLease('sources', 'a', 60_000))! };
    const reader = await again();
    const undone = async (id = one.id) => (await reader.source(workspace.id, id))!.state.undone;
    const batch = async (change: RuleChange | RuleOperation) => {
      const batchId = newBatchId(T0);
      const revision = await store.sourceRevision();
      await land([{ change, listId, batchId, sourceId: one.id }]);
      return { batchId, isPublished: (await store.sourceRevision()) > revision };
    };
    const undo = (of: string) => batch({ change: 'undo', batchId: of });
    const [first, second] = [await batch(upsert(access(ip('192.0.2.1')))), await batch(upsert(access(ip('192.0.2.2'))))];
    assert.deepEqual([first.isPublished, await undone()], [false, null]);
    // Not the last one only.
    const undoing = await undo(first.batchId);
    const { batch: by, at, seq } = (await undone())!;
    assert.equal((await reader.source(workspace.id, one.id))!.state.entries, -1, 'those that were counted before, and one less');
    assert.deepEqual([by, at, seq > 0, undoing.isPublished, await undone(other.id)], [undoing.batchId, T0, true, true, null]);
    const redoing = await undo(undoing.batchId);
    assert.deepEqual([redoing.isPublished, await undone()], [true, null]);
    const thirdly = await undo(redoing.batchId);
    assert.equal((await undone())!.batch, undoing.batchId, 'it stands again');
    assert.ok(thirdly.isPublished);
    const last = await undo(second.batchId);
    assert.equal((await undone())!.batch, last.batchId);
    // The list is equal to a content that was compared with it before the last undo, and then to one that came behind it.
    const write = async (equalSeq: number) => {
      const { state, source } = (await reader.source(workspace.id, one.id))!;
      assert.deepEqual(await store.writeSources(lease, [{ id: one.id, revision: source.revision, state: { ...state, equalSeq } }]), [
        one.id,
      ]);
    };
    const { seq: newest } = (await undone())!;
    await write(newest - 1);
    assert.equal((await undone())!.batch, last.batchId);
    await write(newest);
    assert.equal(await undone(), null);
    // Undoing an undo that counts no more changes the list again.
    const later = await undo(last.batchId);
    assert.equal((await undone())!.batch, later.batchId);
    await store.deleteSource(workspace.id, one.id);
    await store.restoreDeleted(workspace.id, listId, {});
    assert.deepEqual([(await undone())!.batch, (await reader.source(workspace.id, one.id))!.state.equalSeq], [later.batchId, newest]);
  });

  test(`D4.11 D23.4 store ${name}: sources are restored onto their lists; those with a secret wait for it`, async (t) => {
    const { store, workspace } = await fixture(t, driver);
    const lists = [await store.createList(workspace.id, 'a', NO_SETTINGS), await store.createList(workspace.id, 'b', NO_SETTINGS)];
    const saved = lists.map(({ id: listId }, n) => ({
      ...SETTINGS,
      credential: n === 0 ? null : SETTINGS.credential,
      id: randomUUID(),
      listId,
      isPaused: n === 0,
      confirmedAt: 77,
    }));
    await store.restoreSources(workspace.id, saved, BY);
    await store.restoreSources(workspace.id, saved, BY);
    const { items } = await store.sourcePage(workspace.id, { after: null, limit: 9 });
    assert.deepEqual(
      items.map(({ source, state }) => [source.id, source.name, source.isPaused, state.confirmedAt, state.stop]),
      [
        [saved[0]!.id, 'a', true, 77, null],
        [saved[1]!.id, 'b', false, 77, 'secret'],
      ],
    );
    assert.equal((await store.findNamed(workspace.id, 'b'))!.lists[0]!.sourceId, saved[1]!.id);
  });
}
