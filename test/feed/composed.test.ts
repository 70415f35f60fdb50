/** What feeds made of lists cost the store (SPEC D8.5). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock, MemoryStore, Replica } from '../support/feed-world.ts';

const LISTS = 1000;

/** A thousand lists, of which the feed `ten` has the first ten, `next` the ten behind them, and `all` all. */
function world() {
  const clock = new ManualClock();
  const store = new MemoryStore(clock);
  const ids = Array.from({ length: LISTS }, (_, i) => store.addList(`list ${i}`));
  store.add(ids[0], '192.0.2.1');
  store.addFeed('ten', ids.slice(0, 10));
  store.addFeed('next', ids.slice(10, 20));
  store.addFeed('all', null);
  const replica = new Replica(clock, store);
  const tags = new Map<string, string>();
  /** Polls a feed as an appliance does, a second after the others: its status, and how often the store was asked. */
  async function poll(name: string) {
    const before = { ...store.calls };
    const { status, headers } = await replica.get(name, tags.has(name) ? { 'if-none-match': tags.get(name)! } : {});
    tags.set(name, headers.etag);
    const { findNamed, snapshot, recordDocument } = store.calls;
    return [status, findNamed - before.findNamed, snapshot - before.snapshot, recordDocument - before.recordDocument];
  }
  return { clock, store, ids, poll };
}

describe('D8.5 what a poll of a feed of lists costs', () => {
  test('D8.5 a 304 costs what that of a list costs: nothing, or one look-up when its interval is over', async () => {
    const { clock, store, ids, poll } = world();
    const costs = async (name: string) => {
      await poll(name);
      const ready = await poll(name);
      await clock.advance(30_000);
      store.add(ids[999], '198.51.100.1');
      const moved = await poll(name);
      await clock.advance(30_000);
      return [ready, moved, await poll(name)];
    };
    const ofList = await costs('/list%200');
    assert.deepEqual(
      ofList.map(([status, finds, snapshots]) => [status, finds, snapshots]),
      [
        [304, 0, 0],
        [304, 1, 0],
        [304, 1, 0],
      ],
    );
    for (const name of ['/ten', '/next']) assert.deepEqual(await costs(name), ofList);
  });

  test('D8.5 a change in one of 1,000 lists rebuilds the feeds that contain it, and no other', async () => {
    const { clock, store, ids, poll } = world();
    const names = ['/ten', '/next', '/all', '/list%203', '/list%2015'];
    for (const name of names) assert.deepEqual((await poll(name))[0], 200);
    const rebuilt = async () => {
      await clock.advance(30_000);
      const polls = new Map<string, number[]>();
      for (const name of names) polls.set(name, await poll(name));
      for (const [name, [status, , snapshots]] of polls) assert.equal(status === 200, snapshots === 1, name);
      return names.filter((name) => polls.get(name)![2] === 1);
    };
    store.add(ids[3], '192.0.2.3');
    assert.deepEqual(await rebuilt(), ['/ten', '/all', '/list%203']);
    store.add(ids[15], '192.0.2.15');
    assert.deepEqual(await rebuilt(), ['/next', '/all', '/list%2015']);
    store.add(ids[500], '192.0.2.5');
    assert.deepEqual(await rebuilt(), ['/all']);
    assert.deepEqual(await rebuilt(), []);
  });

  test('D8.1 a feed of lists outlives the store: the last good one is served as stale', async () => {
    const { clock, store, poll } = world();
    assert.equal((await poll('/ten'))[0], 200);
    await clock.advance(30_000);
    store.down = true;
    assert.equal((await poll('/ten'))[0], 304);
    assert.equal((await poll('/next'))[0], 500);
  });
});
