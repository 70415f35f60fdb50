/** When clients that wait are answered, and what it costs (SPEC D50), on a clock of its own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecisionMark } from '../../../src/decisions/decisions.ts';
import { markOf } from '../../../src/decisions/decisions.ts';
import { Waiting } from '../../../src/decisions/serve/waiting.ts';
import { type WaitingClient, WaitingFeeds } from '../../../src/decisions/serve/waiting-feeds.ts';
import { DECISIONS } from '../../../src/feed/document.ts';
import type { DocumentCacheOptions } from '../../../src/feed/serve/context.ts';
import { ManualClock, MemoryStore, Replica, settled, WORKSPACE } from '../../support/feed-world.ts';

const DAY = 86_400_000;
const MOST = { ofKey: 1_000, ofWorkspace: 5_000, inAll: 20_000 };

async function world(options: Pick<Partial<DocumentCacheOptions>, 'caughtUp'> = {}) {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const list = store.addList('edge');
  const replica = new Replica(clock, store, { rebuildSeconds: 30, ...options });
  let commit = () => {};
  const watchCommits = (call: () => void) => {
    commit = call;
    return () => {};
  };
  const waiting = new Waiting({
    documents: replica.cache,
    store: { revisions: () => store.revisions(), watchCommits },
    clock,
    interval: 30_000,
    most: MOST,
  });
  const find = () => replica.cache.find({ workspaceId: WORKSPACE, list: null, variant: DECISIONS, boundTo: null });
  const mark = async (): Promise<DecisionMark> => {
    const found = await find();
    assert.equal(found.kind, 'document');
    return found.kind === 'document' ? markOf(found.hash) : assert.fail();
  };
  let answered: boolean[] = [];
  const wait = async (clients: number, ms = 10 * DAY, keyId = 'k') => {
    const request = { workspaceId: WORKSPACE, feedId: null, keyId, mark: await mark(), until: clock.monotonic() + ms };
    for (let n = 0; n < clients; n += 1) {
      const waited = waiting.wait({ ...request, line: { isOpen: true, onClose() {} } });
      if (waited instanceof Promise) void waited.then((mayWait) => answered.push(mayWait));
    }
    await clock.advance(1000);
  };
  const taken = () => {
    const before = answered;
    answered = [];
    return before;
  };
  return { clock, store, list, waiting, wait, taken, commit: () => commit() };
}

test('D50.1 a block that expires reaches waiting clients at its second', async () => {
  const { clock, store, list, wait, taken } = await world();
  store.add(list, '192.0.2.1', { ttl: 90 });
  await wait(3);
  await clock.advance(88_000);
  assert.deepEqual(taken(), []);
  await clock.advance(1_000);
  await clock.advance(50);
  assert.deepEqual(taken(), [true, true, true]);
});

test('D50.2 a commit is one read and one build for all clients of a feed, and a burst is two answers at most in 100 ms', async () => {
  const { clock, store, list, wait, taken, commit } = await world();
  await wait(MOST.ofKey);
  const before = { ...store.calls };
  for (let n = 0; n < 20; n += 1) {
    store.add(list, `192.0.2.${n}`);
    commit();
    await clock.advance(5);
  }
  for (let turn = 0; turn < 5; turn += 1) await clock.advance(1);
  assert.equal(taken().length, MOST.ofKey);
  const { revisions, findNamed, snapshot } = store.calls;
  assert.ok(revisions - before.revisions <= 2 && findNamed - before.findNamed <= 2 && snapshot - before.snapshot <= 2);
});

test('D50.2 a commit reaches waiting clients while later messages of their workspace have not landed', async () => {
  let landed: Promise<void> = Promise.resolve();
  const { clock, store, list, wait, taken } = await world({ caughtUp: () => landed });
  await wait(1);
  landed = new Promise(() => {});
  store.add(list, '192.0.2.1');
  await clock.advance(1_000);
  await clock.advance(50);
  assert.deepEqual(taken(), [true]);
});

test('D50.1 a client is answered at the end of its time, also while nothing can be read; a commit that was missed is found within a second', async () => {
  const { clock, store, list, wait, taken } = await world();
  await wait(2, 5_000);
  store.down = true;
  await clock.advance(4_200);
  await clock.advance(50);
  assert.deepEqual(taken(), [false, false]);
  store.down = false;
  await wait(1);
  store.add(list, '192.0.2.9');
  await clock.advance(1_000);
  await clock.advance(50);
  assert.deepEqual(taken(), [true]);
});

test('D50.1 a client of a feed over its cap waits until the feed is read again, also just after answers to others', async () => {
  const { clock, store, list, waiting, wait, taken, commit } = await world();
  await wait(1);
  store.add(list, '192.0.2.1');
  commit();
  await clock.advance(1_000);
  assert.deepEqual(taken(), [true]);
  const until = clock.monotonic() + DAY;
  const line = { isOpen: true, onClose() {} };
  const waited = waiting.wait({ workspaceId: WORKSPACE, feedId: null, keyId: 'k', mark: null, until, line });
  await clock.advance(1_000);
  await clock.advance(50);
  assert.equal(await waited, true);
});

test('D50.4 while a process stops, clients are answered at once and none waits', async () => {
  const { waiting, wait, taken } = await world();
  await wait(2);
  waiting.drain();
  await settled();
  assert.deepEqual([taken(), waiting.size], [[false, false], 0]);
  await wait(1);
  assert.deepEqual(taken(), [false]);
});

test('D50.3 a key and a workspace have limits; where all places are taken, the workspace with most gives one up', () => {
  const feeds = new WaitingFeeds(MOST);
  const given = new Map<string, number>();
  const add = (workspace: string, keyId: string) => {
    const feed = feeds.feed(workspace, null, 0);
    const client: WaitingClient = { keyId, feed, until: 1000, resolve: () => given.set(workspace, (given.get(workspace) ?? 0) + 1) };
    return feeds.add(client);
  };
  const fill = (workspace: string) => {
    let places = 0;
    for (let key = 0; key < 6; key += 1) for (let n = 0; n <= MOST.ofKey; n += 1) if (add(workspace, `${key}`)) places += 1;
    return places;
  };
  assert.equal(Array.from({ length: MOST.ofKey + 1 }, () => add('one', 'k')).filter((isIn) => isIn).length, MOST.ofKey);
  assert.deepEqual(['a', 'b', 'c'].map(fill), [5_000, 5_000, 5_000]);
  fill('d');
  assert.equal(feeds.size, 20_000);
  assert.equal(add('quiet', 'k'), true);
  assert.deepEqual([feeds.size, given.get('quiet')], [20_000, undefined]);
  for (const client of feeds.expire(1000)) feeds.release(client, false);
  feeds.expire(20_000);
  assert.deepEqual([feeds.size, feeds.isEmpty], [0, true]);
});
