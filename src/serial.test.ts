import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fewAtOnce, gathered, inTurns, oneByOne, shared } from './serial.ts';

/** Calls that are answered when the test says so: each key by its double, a call with a negative key by an error. */
function world(atOnce: number, most: number) {
  const calls: { readonly keys: readonly number[]; answer(): Promise<void> }[] = [];
  const get = gathered(
    (keys: readonly number[]) =>
      new Promise<number[]>((resolve, reject) => {
        const answer = async () => {
          if (keys.some((key) => key < 0)) reject(new Error('down'));
          else resolve(keys.map((key) => key * 2));
          await new Promise(setImmediate);
        };
        calls.push({ keys, answer });
      }),
    atOnce,
    most,
  );
  return { calls, get };
}

test('what comes in while calls run shares the next call, and each key gets its own answer', async () => {
  const { calls, get } = world(2, 3);
  const values = [1, 2, 3, 4, 5, 6].map(get);
  assert.deepEqual(
    calls.map(({ keys }) => keys),
    [[1], [2]],
  );
  await calls[1]!.answer();
  assert.deepEqual(calls[2]!.keys, [3, 4, 5], 'at most three in one');
  await calls[0]!.answer();
  assert.deepEqual(calls[3]!.keys, [6]);
  await calls[2]!.answer();
  await calls[3]!.answer();
  assert.deepEqual(await Promise.all(values), [2, 4, 6, 8, 10, 12]);
});

test('a call that fails fails for its keys alone', async () => {
  const { calls, get } = world(1, 2);
  const [first, failed, also, last] = [1, -1, 2, 3].map(get);
  await calls[0]!.answer();
  const rejected = Promise.all([assert.rejects(failed!, /down/), assert.rejects(also!, /down/)]);
  await calls[1]!.answer();
  await calls[2]!.answer();
  assert.deepEqual(await Promise.all([first, last]), [2, 6]);
  await rejected;
});

/** Work that ends when the test says so, and when each piece began. */
function pieces() {
  const begun: string[] = [];
  const ends = new Map<string, { resolve(value: string): void; reject(error: Error): void }>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve, reject) => ends.set(name, { resolve, reject }));
  };
  return { begun, ends, work };
}
const soon = () => new Promise(setImmediate);

test('work of one name runs one after the other, however it ends; that of another name beside it', async () => {
  const { begun, ends, work } = pieces();
  const inTurn = oneByOne();
  const [first, second, other] = [inTurn(work('a')), inTurn(work('b')), inTurn(work('c'), 'other')];
  await soon();
  assert.deepEqual(begun, ['a', 'c']);
  ends.get('a')!.reject(new Error('failed'));
  await assert.rejects(first, /failed/);
  await soon();
  assert.deepEqual(begun, ['a', 'c', 'b']);
  for (const name of ['b', 'c']) ends.get(name)!.resolve(name);
  assert.deepEqual(await Promise.all([second, other]), ['b', 'c']);
});

test('D47.13 few pieces in all, of a name one: names take turns, and who waits for something lets others have the turn', async () => {
  const { begun, ends, work } = pieces();
  const inTurn = inTurns(2);
  const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'b2'].map((each) => inTurn(work(each), each[0]!));
  const end = async (each: string) => {
    ends.get(each)!.resolve(each);
    await soon();
  };
  await soon();
  assert.deepEqual(begun, ['a1', 'b1']);
  await end('b1');
  await end('c1');
  await end('d1');
  assert.deepEqual(begun, ['a1', 'b1', 'c1', 'd1', 'b2'], 'what is slow delays its own name alone');
  let over = () => {};
  const waits = inTurn(async (aside) => {
    await aside(() => new Promise<void>((resolve) => (over = resolve)));
    return work('e1')();
  }, 'e');
  await end('b2');
  await end('a1');
  await end('a2');
  assert.deepEqual(begun.slice(5), ['a2', 'a3']);
  const last = inTurn(work('f1'), 'f');
  await soon();
  assert.deepEqual(begun.slice(7), ['f1']);
  over();
  await soon();
  assert.equal(begun.includes('e1'), false, 'it has its turn again when there is one');
  ends.get('f1')!.reject(new Error('failed'));
  await assert.rejects(last, /failed/);
  await soon();
  await end('e1');
  await end('a3');
  assert.deepEqual(await Promise.all([...all, waits]), ['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'b2', 'e1']);
});

test('work may wait for less than the end of the one before', async () => {
  const { begun, ends, work } = pieces();
  let go = () => {};
  const inTurn = oneByOne((last) =>
    Promise.race([
      last,
      new Promise<void>((resolve) => {
        go = resolve;
      }),
    ]),
  );
  const all = [inTurn(work('a')), inTurn(work('b'))];
  await soon();
  go();
  await soon();
  assert.deepEqual(begun, ['a', 'b']);
  for (const name of begun) ends.get(name)!.resolve(name);
  await Promise.all(all);
});

test('shared work is done once for all who ask while it is done, and anew for who asks later', async () => {
  const { begun, ends, work } = pieces();
  const running = new Map<string, Promise<string>>();
  const once = shared(running);
  const asked = [once(work('a')), once(work('b')), once(work('c'), 'other')];
  assert.deepEqual([begun, running.size], [['a', 'c'], 2]);
  ends.get('a')!.resolve('of a');
  ends.get('c')!.reject(new Error('failed'));
  await assert.rejects(asked[2]!, /failed/);
  assert.deepEqual(await Promise.all(asked.slice(0, 2)), ['of a', 'of a']);
  await soon();
  assert.equal(running.size, 0);
  const later = once(work('b'));
  ends.get('b')!.resolve('of b');
  assert.equal(await later, 'of b');
});

test('few pieces of work of a name are done at a time, in order, however those before ended', async () => {
  const few = fewAtOnce(2);
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const work = (what: string, name: string) =>
    few(() => {
      begun.push(what);
      return new Promise<string>((resolve, reject) => ends.push(() => (what === 'a' ? reject(new Error('broken')) : resolve(what))));
    }, name);
  const done = ['a', 'b', 'c', 'd'].map((what) => work(what, 'x').catch((error: Error) => error.message));
  const other = work('e', 'y');
  assert.deepEqual(begun, ['a', 'b', 'e']);
  ends[0]!();
  assert.equal(await done[0], 'broken');
  assert.deepEqual(begun, ['a', 'b', 'e', 'c']);
  for (const n of [1, 2, 3]) ends[n]!();
  await done[1];
  assert.equal(ends.length, 5);
  ends[4]!();
  assert.deepEqual([await Promise.all(done), await other], [['broken', 'b', 'c', 'd'], 'e']);
});
