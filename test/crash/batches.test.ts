/** Batches of all kinds of rules over kill -9 and over being sent again. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { type Client, type Json, startWorld } from '../support/world.ts';

const KINDS = ['access_rule', 'waf_rule', 'smart_firewall_rule'];

/** The n-th entry: the kinds in turn, none with an expiry, a rule_ref of its own. */
function entry(n: number): Json {
  const kind = KINDS[n % 3]!;
  const rule =
    kind === 'access_rule'
      ? { target: { ip: `10.0.${n >> 8}.${n & 255}` }, action: 'allow' }
      : { type: 'generated', action: 'block', expression: `threat.score > ${n}`, order: n, config: { n } };
  return { kind, op: 'upsert', rule_ref: `ref-${n}`, reason: `signal ${n}`, labels: { n }, rule };
}
const batch = (from: number, count: number) => Array.from({ length: count }, (_, i) => entry(from + i));

/** Everything stored of a workspace, by kind and rule_ref, without when it was last updated. */
async function stored(client: Client): Promise<Map<string, Json>> {
  const rules = new Map<string, Json>();
  for (const kind of KINDS) {
    for (const { updated_at: _, ...rule } of await client.rules(kind)) {
      const name = `${kind} ${rule.rule_ref}`;
      assert.ok(!rules.has(name), `${name} is there twice`);
      rules.set(name, rule);
    }
  }
  return rules;
}
const expected = (count: number) =>
  batch(0, count)
    .map(({ kind, rule_ref }) => `${kind} ${rule_ref}`)
    .sort();

async function startWorldFor(t: TestContext) {
  const folder = temporaryFolder(t);
  const world = await startWorld({ DATA_DIR: folder, ...smallGeo(folder) });
  t.after(() => world.stop());
  return world;
}

test('6.2 all three kinds in one batch survive kill -9 right after the answer, and sending it again changes nothing', async (t) => {
  const running = await startWorldFor(t);
  const client = await running.client();
  for (let round = 0; round < 2; round += 1) {
    // Four batches at once, so that some are landing and some are on their way when the process dies.
    const parts = [0, 1, 2, 3].map((part) => batch(round * 1200 + part * 300, 300));
    const answers = await Promise.all(parts.map((part) => client.post('/v2/signal', part)));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.message]),
      Array(4).fill([200, 'Processed 300 entries, 0 failed']),
    );
    await running.crash();
    const rules = await stored(client);
    assert.deepEqual([...rules.keys()].sort(), expected((round + 1) * 1200));
  }

  const before = await stored(client);
  const feed = await client.feed('?action=allow');
  for (const { status } of await Promise.all([0, 1, 2, 3].map((part) => client.post('/v2/signal', batch(part * 600, 600))))) {
    assert.equal(status, 200);
  }
  assert.deepEqual(await stored(client), before);
  assert.equal(await client.feed('?action=allow'), feed);
  await running.crash();
  assert.deepEqual(await stored(client), before);
});

test('D3 what was answered with 500 or not at all may be sent again without harm', async (t) => {
  const running = await startWorldFor(t);
  const client = await running.client();
  for (let round = 0; round < 3; round += 1) {
    const sending = client.post('/v2/signal', batch(0, 900)).then(
      ({ status }) => status,
      () => 'no answer',
    );
    await new Promise((resolve) => setTimeout(resolve, 5 + round * 15));
    await running.crash();
    assert.ok([200, 500, 'no answer'].includes(await sending));
    assert.equal((await client.post('/v2/signal', batch(0, 900))).status, 200);
    assert.deepEqual([...(await stored(client)).keys()].sort(), expected(900));
  }
});
