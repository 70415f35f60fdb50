import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DecisionRequest } from '../decisions.ts';
import { BUSY, DecisionAnswers, type SharedAnswer } from './shared-answers.ts';

const MB = 1 << 20;
const filter = { scopes: ['Ip'], origins: null, containing: null, without: [] } as const;
const request = (workspaceId: string, n: number): DecisionRequest => ({
  workspaceId,
  feedId: null,
  filter: { ...filter, without: [`${n}`] },
  ask: { since: null },
});

/** Answers of so many bytes each. */
function world(bytes: number) {
  const state = { now: 0, made: [] as string[], running: 0, most: 0 };
  const make = async ({ workspaceId }: DecisionRequest) => {
    state.running += 1;
    state.most = Math.max(state.most, state.running);
    await new Promise((resolve) => setImmediate(resolve));
    state.running -= 1;
    state.made.push(workspaceId);
    const mark = { builder: 'a', version: 1 };
    return { bytes: new Uint8Array(bytes), mark, since: null, count: 0, networks: 0, leftOut: { networks: 0, addresses: 0 } };
  };
  const answers = new DecisionAnswers(make, () => state.now);
  return { state, answers, find: (workspaceId: string, n: number) => answers.find(request(workspaceId, n), 'content') };
}

test('D14.15 answers of one workspace that nobody shares have a bound, and are made one after the other; another workspace gets its own', async () => {
  const { state, find } = world(16 * MB);
  const found = await Promise.all(Array.from({ length: 100 }, (_, n) => find('loud', n)));
  const made = found.filter((each): each is SharedAnswer => each !== BUSY && each !== undefined);
  assert.equal(state.most, 1);
  assert.ok(made.length >= 4 && made.length <= 6, String(made.length));
  assert.ok((await find('quiet', 1)) !== BUSY);
  // What is being sent counts, whatever is forgotten of it.
  const releases = made.map((answer) => answer.hold());
  state.now += 60_000;
  assert.ok((await find('loud', 500)) === BUSY);
  for (const release of releases) {
    release();
    release();
  }
  const [one, other] = [await find('loud', 501), await find('loud', 501)];
  assert.ok(one !== BUSY && one === other, 'shared');
});

test('D14.15 where all together have too much, who has nothing yet is answered', async () => {
  const { find } = world(30 * MB);
  for (let n = 0; n < 40; n += 1) {
    const answer = await find(`w${n % 8}`, n);
    if (answer !== BUSY) answer!.hold();
  }
  assert.ok((await find('w1', 99)) === BUSY);
  assert.ok((await find('new', 1)) !== BUSY);
});

test('D14.15 look-ups of one network wait for nothing, and are never refused', async () => {
  const { state, answers } = world(16 * MB);
  const loud = Array.from({ length: 600 }, (_, n) => answers.find(request('loud', n), 'content'));
  const lookUp = (n: number) => ({ ...request('loud', 0), ask: { network: { family: 4, address: n, prefix: 32 } } }) as const;
  const found = await Promise.all(Array.from({ length: 20 }, (_, n) => answers.find(lookUp(n), 'content')));
  assert.ok(found.every((each) => each !== BUSY && each !== undefined));
  assert.ok(state.most >= 20, String(state.most));
  await Promise.all(loud);
});

test('D14.15 a workspace has a bounded number of answers that wait', async () => {
  const { find } = world(10);
  const found = await Promise.all(Array.from({ length: 800 }, (_, n) => find('loud', n)));
  assert.equal(found.filter((each) => each === BUSY).length, 300);
});
