/** The checker finds what is planted, and two rounds with a real weir hold (`npm run test:kill` runs as many as one likes). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { must } from './api.ts';
import { millisecondsOf } from './bouncer.ts';
import { startEmbedded } from './embedded.ts';
import { type LandedBatch, matchLanded } from './landed.ts';
import { type Entry, ListModel } from './model.ts';
import { fewest, networkText } from './networks.ts';
import type { Act, Round } from './plan.ts';
import { runRounds } from './rounds.ts';
import type { Sent } from './senders.ts';
import { shrink } from './shrink.ts';

const entries = (count: number) => Array.from({ length: count }, (_, n): Entry => ({ op: 'upsert', rule_ref: `r${n}` }));
const sent = (outcome: Sent['outcome'], count: number, batch?: string): Sent => ({
  ...{ list: 'a', what: { entries: entries(count) }, outcome },
  ...(batch !== undefined && { batch }),
});
const told = (id: string, count: number): LandedBatch => ({ id, list_id: 'a', entries: count, undoes: null });
const SENT = [sent('taken', 2, 'one'), sent('unknown', 3), sent('refused', 4), sent('taken', 5, 'two')];

test('D4.10 what landed is held to what was sent: batches that were not acknowledged may have landed, in their place', () => {
  for (const landed of [
    [told('one', 2), told('two', 5)],
    [told('one', 2), told('x', 3), told('y', 4), told('two', 5)],
    [told('one', 2), told('two', 5), told('x', 3)],
  ])
    assert.equal(matchLanded('a', SENT, landed).length, landed.length);
});

for (const [what, landed, fault] of [
  ['an acknowledged batch that is lost', [told('two', 5)], /acknowledged and not landed: one/],
  ['an entry that is lost', [told('one', 1), told('two', 5)], /2 entries 1 have landed/],
  ['acknowledged batches in another order', [told('two', 5), told('one', 2)], /landed as two,one/],
  ['a batch that landed twice', [told('one', 2), told('x', 3), told('y', 3), told('two', 5)], /nobody sent/],
  ['a batch that was refused behind a later one', [told('one', 2), told('two', 5), told('x', 4)], /behind a later one/],
] as const)
  test(`D4.10 planted: ${what} is found`, () => assert.throws(() => matchLanded('a', SENT, landed), fault));

test('D9.3, D9.9 the model undoes as the contract says: what another batch changed since stays until that is undone', () => {
  const model = new ListModel();
  const upsert = (batch: string, reason: string) =>
    model.land({ batch, entries: [{ kind: 'access_rule', op: 'upsert', rule_ref: 'r', reason }] });
  const reasons = () => model.rules().map(({ reason }) => reason);
  upsert('A', 'first');
  upsert('B', 'second');
  model.land({ batch: 'U', undoes: 'A' });
  assert.deepEqual(reasons(), ['second']);
  model.land({ batch: 'V', undoes: 'B' });
  assert.deepEqual(reasons(), ['first']);
  model.land({ batch: 'W', undoes: 'V' });
  assert.deepEqual(reasons(), ['second']);
});

test('4.3.4 the model joins, cuts and writes networks', () => {
  const networks = fewest(['10.0.0.0/25', '10.0.0.128/25', '10.0.1.7', '2a00::1', '2a00::0'], ['10.0.0.1', '2a00::1/128']).map(networkText);
  assert.deepEqual(networks, [
    ...['10.0.0.0/32', '10.0.0.2/31', '10.0.0.4/30', '10.0.0.8/29', '10.0.0.16/28', '10.0.0.32/27', '10.0.0.64/26', '10.0.0.128/25'],
    ...['10.0.1.7/32', '2a00::/128'],
  ]);
  assert.equal(millisecondsOf('1h2m3.5s'), 3_723_500);
});

test('steps are shrunk to those that break the same, whatever else breaks on the way', async () => {
  const harm = (name: string) => ({ at: 0, harm: name, to: 'weir', ms: 0 });
  const act = (after: number): Act => ({ after, do: 'clear', group: 'a' });
  const round = (seed: number, harms: string[]): Round => ({
    ...{ seed, acts: { north: [act(1), act(2), act(3)], south: [act(4)] }, changes: [{ source: [1] }] },
    harms: harms.map(harm),
  });
  const rounds = [round(1, ['kill']), round(2, ['cut', 'pause']), round(3, ['slow', 'clock', 'lose'])];
  let runs = 0;
  const run = async (each: readonly Round[]) => {
    runs += 1;
    const has = (name: string) => each.some(({ harms }) => harms.some((harm) => harm.harm === name));
    const isActed = each.at(-1)!.acts.north!.some(({ after }) => after === 2);
    if (has('pause') && has('clock') && isActed) must(false, 'the fault');
    if (!has('slow')) throw new Error('another fault');
  };
  const least = await shrink(rounds, run, () => {});
  const nothing = { changes: [], acts: { north: [], south: [] } };
  assert.deepEqual(least, [
    { ...nothing, seed: 2, harms: [harm('pause')] },
    { ...nothing, seed: 3, harms: [harm('clock')], acts: { north: [act(2)], south: [] } },
  ]);
  assert.ok(runs < 100, String(runs));
});

test('D3.20, D4.10, D5.15 a round with a process that is killed while answers are lost leaves everything as it should be', {
  timeout: 300_000,
}, async () => {
  const entry = (n: number): Entry => ({
    kind: 'access_rule',
    op: 'upsert',
    reason: `north ${n}`,
    rule: { target: { ip: `20.0.0.${2 * n}` } },
  });
  const round: Round = {
    seed: 0,
    acts: {
      north: [1, 2, 3].map((n) => ({ after: 60, do: 'post', v1: false, entries: [entry(n), entry(n + 10)].slice(0, 2), once: false })),
      south: [],
      brief: [],
    },
    changes: [{ set: 'feed', field: 'family', value: 'v4' }],
    harms: [
      { at: 60, harm: 'lose', to: 'clients', ms: 100 },
      { at: 130, harm: 'kill', to: 'weir', ms: 0 },
    ],
  };
  const tally = { rounds: 0, acknowledged: 0, failed: 0, harms: 0 };
  await runRounds(startEmbedded, [round], tally);
  assert.deepEqual([tally.rounds, tally.acknowledged], [1, 6]);
});
