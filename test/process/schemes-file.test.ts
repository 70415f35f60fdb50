/** SCHEMES_FILE: the operator's own fields and functions. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { weir } from '../support/weir.ts';
import { type Json, startWorld } from '../support/world.ts';

test('2.4 SCHEMES_FILE adds and replaces fields and functions per kind', async (t) => {
  const folder = temporaryFolder(t);
  const schemes = join(folder, 'schemes.json');
  const waf = { 'bot.score': { type: 'Int' }, 'http.response.size': { type: 'Int', phase: 'response' }, 'ip.src.asn': { type: 'Bytes' } };
  const functions = [{ name: 'sha256', args: ['field Bytes'], returns: 'Bytes', kind: 'waf_rule' }];
  writeFileSync(schemes, JSON.stringify({ waf_rule: waf, functions }));
  const world = await startWorld({ ...smallGeo(folder), DATA_DIR: folder, SCHEMES_FILE: schemes });
  t.after(() => world.stop());
  const client = await world.client();

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
  const geo = smallGeo(folder);
  const start = async ([name, content]: [string, string | undefined]) => {
    const file = join(folder, name);
    if (content !== undefined) writeFileSync(file, content);
    const { code, stdout, stderr } = await weir(['serve'], { ...geo, DATA_DIR: join(folder, 'data'), SCHEMES_FILE: file });
    assert.deepEqual([code, stdout], [2, ''], name);
    assert.ok(stderr.startsWith(`weir: SCHEMES_FILE ${file}`) && stderr.length > file.length + 30, stderr);
    assert.equal(stderr.split('\n').length, 2, stderr);
    if (name === 'many.json') for (const part of ['waf: ', 'waf_rule.a: ', 'functions[0]: ']) assert.ok(stderr.includes(part), stderr);
  };
  await Promise.all(Object.entries(broken).map(start));
});
