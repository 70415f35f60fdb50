import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { expressionContract } from '../contract/expressions.ts';
import { temporaryFolder } from '../support/folder.ts';
import { weir } from '../support/weir.ts';
import { type Client, type Json, startWorld } from '../support/world.ts';

expressionContract('the embedded engine', async () => ({ settings: {}, stop: async () => {} }));

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

async function world(t: TestContext, settings: Record<string, string> = {}) {
  const started = await startWorld({ DATA_DIR: temporaryFolder(t), ...settings });
  t.after(() => started.weir().kill('SIGTERM'));
  return started;
}

test('6.2 all three kinds in one batch survive kill -9 right after the answer, and sending it again changes nothing', async (t) => {
  const running = await world(t);
  const client = await running.client();
  for (let round = 0; round < 3; round += 1) {
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
  for (const { status } of await Promise.all([0, 1, 2, 3].map((part) => client.post('/v2/signal', batch(part * 900, 900))))) {
    assert.equal(status, 200);
  }
  assert.deepEqual(await stored(client), before);
  assert.equal(await client.feed('?action=allow'), feed);
  await running.crash();
  assert.deepEqual(await stored(client), before);
});

test('D3 what was answered with 500 or not at all may be sent again without harm', async (t) => {
  const running = await world(t);
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

test('2.4 SCHEMES_FILE adds and replaces fields and functions per kind', async (t) => {
  const schemes = join(temporaryFolder(t), 'schemes.json');
  const waf = { 'bot.score': { type: 'Int' }, 'http.response.size': { type: 'Int', phase: 'response' }, 'ip.src.asn': { type: 'Bytes' } };
  const functions = [{ name: 'sha256', args: ['field Bytes'], returns: 'Bytes', kind: 'waf_rule' }];
  writeFileSync(schemes, JSON.stringify({ waf_rule: waf, functions }));
  const client = await (await world(t, { SCHEMES_FILE: schemes })).client();

  const entries = (kind: string, expressions: readonly string[], rule: Json = {}) =>
    expressions.map((expression, n) => ({
      kind,
      op: 'upsert',
      rule_ref: `r-${n}`,
      rule: { type: 'custom', action: 'block', expression, ...rule },
    }));
  const known = [
    'bot.score > 5',
    'ip.src.asn == "AS1"',
    'sha256(http.request.body) == "x"',
    'http.response.size > 1',
    'http.request.path == "/"',
  ];
  const { body } = await client.post('/v2/signal', entries('waf_rule', known));
  assert.deepEqual(body, { success: true, message: 'Processed 5 entries, 0 failed', errors: [] });
  const phase = await client.post('/v2/signal', entries('waf_rule', known, { phase: 'request' }));
  assert.deepEqual(
    phase.body.errors.map((error) => error.split(':').slice(0, 3).join(':')),
    ['Entry 3: Schema validation failed: rule.phase'],
  );
  const other = await client.post('/v2/signal', entries('smart_firewall_rule', ['bot.score > 5', 'ip.src.asn == 1', 'sha256(ja4) == "x"']));
  assert.deepEqual(
    other.body.errors.map((error) => error.split(') ')[0]),
    ['Entry 0: Expression validation failed: rule.expression: (1:1', 'Entry 2: Expression validation failed: rule.expression: (1:1'],
  );
});

test('D1, 2.4 a SCHEMES_FILE that is missing or broken: exit 2 with one sentence, nothing is served', async (t) => {
  const folder = temporaryFolder(t);
  const broken = {
    'missing.json': undefined,
    'cut.json': '{\n  "waf_rule": {\n',
    'array.json': '[]',
    'type.json': '{"waf_rule":{"bot.score":{"type":"Float"}}}',
    'name.json': '{"waf_rule":{"not.a\\n.name":{"type":"Int"}}}',
    'many.json': '{"waf":{},"waf_rule":{"a":{"type":"X"}},"functions":[{"name":"f","args":["Nothing"],"returns":"Int"}]}',
  };
  for (const [name, content] of Object.entries(broken)) {
    const file = join(folder, name);
    if (content !== undefined) writeFileSync(file, content);
    const { code, stdout, stderr } = await weir(['serve'], { DATA_DIR: join(folder, 'data'), SCHEMES_FILE: file });
    assert.deepEqual([code, stdout], [2, ''], name);
    assert.ok(stderr.startsWith(`weir: SCHEMES_FILE ${file}`) && stderr.length > file.length + 30, stderr);
    assert.equal(stderr.split('\n').length, 2, stderr);
    if (name === 'many.json') for (const part of ['waf: ', 'waf_rule.a: ', 'functions[0]: ']) assert.ok(stderr.includes(part), stderr);
  }
});
