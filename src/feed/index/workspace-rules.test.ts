import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KnownRules, ListSink, SnapshotHead } from '../../ports/snapshot.ts';
import { WorkspaceRules } from './workspace-rules.ts';

const at = (ms: number) => ({ now: () => ms, monotonic: () => ms });
const head = (change: number, lists: readonly string[]) =>
  ({ change, lists: lists.map((key) => ({ id: key, name: key, key, levels: 0 })) }) as unknown as SnapshotHead;
const block = (sink: ListSink, id: number) => sink.v4(id, 'block', id, 32, 0, 0);
const idsOf = (ids: Float64Array) => [...ids].filter((id) => id > 0);

/** Rules of a workspace, and reads of feeds of these lists. */
function world() {
  let forget: (() => void) | undefined;
  const rules = new WorkspaceRules({
    ...at(10_000),
    after: (_ms, run) => {
      forget = run;
      return () => undefined;
    },
  });
  const read = (change: number, lists: readonly string[], tell: (sink: ListSink, known: KnownRules) => void, before = []) =>
    rules.read(async (_now, known, sink) => {
      tell(sink, known);
      return head(change, lists);
    }, before);
  return { rules, read, elapse: () => forget?.() };
}

test('lists are read once, and what one read finds is in all snapshots', async () => {
  const { read } = world();
  const first = await read(1, ['a'], (sink) => {
    sink.list('a', true);
    block(sink, 1);
  });
  const second = await read(2, ['a', 'b'], (sink, known) => {
    assert.deepEqual([known.change, known.lists.has('a'), known.lists.has('b')], [1, true, false]);
    sink.list('a', false);
    sink.removed(1);
    block(sink, 2);
    sink.list('b', true);
    block(sink, 3);
  });
  assert.equal(first!.parts[0].rules, second!.parts[0].rules);
  assert.deepEqual(idsOf(first!.parts[0].rules.v4.ids), [2]);
  await read(3, ['b'], (sink) => {
    sink.list('a', true);
    block(sink, 4);
  });
  assert.deepEqual(idsOf(first!.parts[0].rules.v4.ids), [4], 'a list that was read whole moves on too');
});

test('a list of which much has gone carries no removed rows along', async () => {
  const { read } = world();
  const count = 4000;
  const found = await read(1, ['a'], (sink) => {
    sink.list('a', true);
    for (let id = 1; id <= count; id++) block(sink, id);
    sink.geo(count + 1, 'block', { kind: 'country', country: 'NL' }, 0, 0);
  });
  const [{ rules }] = found!.parts;
  await read(2, ['a'], (sink) => {
    sink.list('a', false);
    for (let id = 1; id <= count / 2; id++) sink.removed(id);
  });
  assert.deepEqual([rules.v4.length, rules.v4.removed, rules.v4.words[0], rules.geoTargets.length], [count / 2, 0, count / 2 + 1, 1]);
});

test('a list that no snapshot has any more is forgotten', async () => {
  const { rules, read } = world();
  const one = await read(1, ['a', 'b'], (sink) => {
    for (const key of ['a', 'b']) sink.list(key, true);
  });
  const other = await read(1, ['b'], () => {});
  rules.release(one!.parts);
  await read(1, [], (_, { lists }) => assert.deepEqual([lists.has('a'), lists.has('b')], [false, true]));
  rules.release(other!.parts);
  assert.ok(rules.isIdle);
});

test('a read that hangs holds no other up for long, and what it finds later is not taken in over newer rules', async () => {
  const { rules, read, elapse } = world();
  const hanging = Promise.withResolvers<void>();
  let reads = 0;
  const late = rules.read(async (_now, known, sink) => {
    reads += 1;
    if (reads === 1) await hanging.promise;
    if (known.lists.size === 0) sink.list('a', true);
    return head(reads, ['a']);
  }, []);
  const next = read(5, ['a'], (sink) => {
    sink.list('a', true);
    block(sink, 1);
  });
  await new Promise(setImmediate);
  elapse();
  const found = await next;
  hanging.resolve();
  assert.deepEqual(idsOf((await late)!.parts[0].rules.v4.ids), [1]);
  assert.equal((await late)!.parts[0].rules, found!.parts[0].rules);
  assert.equal(reads, 2);
});
