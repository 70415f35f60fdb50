/** Rules that are tried on a sample of good traffic (SPEC D21), beside the tests of the signal endpoints. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { eventually } from '../support/weir.ts';
import type { Client, Json, World } from '../support/world.ts';
import type { Once } from './engine.ts';

const waf = (ref: string, expression: string, rule: Json = {}) => ({
  kind: 'waf_rule',
  op: 'upsert',
  rule_ref: ref,
  rule: { type: 'generated', expression, action: 'block', ...rule },
});
const TRAFFIC = Array.from({ length: 1000 }, (_, i) => {
  const path = i % 10 === 0 ? `/checkout?token=secret${i}` : `/page/${i}`;
  return `198.51.100.${i % 200} - - [22/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 12 "-" "Mozilla/5.0"`;
}).join('\n');

export function sampleTests(world: () => World, once: Once): void {
  async function sampled(...options: string[]): Promise<Client> {
    const client = await world().client();
    const file = join(world().settings.DATA_DIR!, '..', `recording-${client.workspace}.log.gz`);
    writeFileSync(file, gzipSync(`${TRAFFIC}\nno request\n`));
    const [sample] = await world().json(['sample', 'set', file, '--workspace', client.workspace, ...options]);
    assert.deepEqual([sample!.requests, sample!.seen, sample!.unreadable], [1000, 1000, 1]);
    return client;
  }
  /** Until the entries of a batch have these faults; a change of the sample is known within 2 seconds. */
  const errorsOf = (client: Client, entries: readonly Json[], expected: readonly string[], path = '/v2/signal?dry_run=1') =>
    eventually(async () => assert.deepEqual((await client.post(path, entries)).body.errors ?? [], expected));
  const broad = (entry: number, matches: number, limit: number, first = 'GET /checkout from 198.51.100.0') =>
    `Entry ${entry}: Schema validation failed: rule.expression: matches ${matches.toLocaleString('en-US')} of 1,000 requests of the sample (limit ${limit}), first: ${first}`;

  test('D21.3, D21.4 a generated rule that would block more of the sample than it may is an entry fault; others pass', async () => {
    const client = await sampled('--max-share', '5%');
    const batch = [
      waf('narrow', 'http.request.path == "/page/7"'),
      waf('broad', 'http.request.path contains "/checkout"'),
      waf('mine', 'http.request.path contains "/checkout"', { type: 'custom' }),
      waf('lets', 'http.request.path contains "/"', { action: 'allow' }),
      waf('asks', 'http.request.user_agent contains "Mozilla"', { action: 'challenge' }),
      { kind: 'access_rule', op: 'upsert', rule: { target: { ip: '198.51.100.0/24' } } },
    ];
    const expected = [broad(1, 100, 50), broad(4, 1000, 50)];
    await errorsOf(client, batch, expected);
    const { status, body } = await client.post('/v2/signal', batch);
    assert.deepEqual([status, body.message, body.errors], [206, 'Processed 4 entries, 2 failed', expected]);
    assert.deepEqual((await client.rules('waf_rule')).map(({ rule_ref }) => rule_ref).sort(), ['lets', 'mine', 'narrow']);
    const [shown] = await world().json(['sample', 'show', '--workspace', client.workspace]);
    assert.deepEqual([shown!.max_sample_share, shown!.sample_rules], [0.05, 'generated']);
  });

  once('D21.3, D21.4 all rules that block are tried where that is set: addresses by the clients that they would cut off', async () => {
    const client = await sampled('--max-share', '0.1%', '--rules', 'all');
    const block = (target: Json) => ({ kind: 'access_rule', op: 'upsert', rule: { target } });
    const fault = (entry: number, matches: number, first: string) =>
      `Entry ${entry}: Schema validation failed: rule.target.ip: matches ${matches} of 1,000 requests of the sample (limit 1), first: ${first}`;
    await errorsOf(
      client,
      [
        block({ ip: '198.51.100.7' }),
        block({ ip: '203.0.113.0/24' }),
        waf('mine', 'http.request.path contains "/checkout"', { type: 'custom' }),
      ],
      [fault(0, 5, 'GET /page/7 from 198.51.100.7'), broad(2, 100, 1)],
    );
    const v1 = await client.post('/v1/signal?dry_run=1', [{ type: 'access_rules', action: 'block', ip: '198.51.100.0/25' }]);
    assert.match(v1.body.errors[0]!, /^Entry 0: Schema validation failed: ip: matches 640 of 1,000 requests of the sample/);
    assert.equal(
      (await client.post('/v1/signal?dry_run=1', [{ type: 'access_rules', action: 'unblock', ip: '198.51.100.0/25' }])).status,
      200,
    );
  });

  test('D21.5, D21.6 without a limit a dry run tells what rules would block, and nothing is refused', async () => {
    const client = await sampled();
    const batch = [waf('broad', 'http.request.path contains "/checkout"'), waf('slow', '(http.request.path matches "x")')];
    await eventually(async () => {
      const { status, body } = await client.post('/v2/signal?dry_run=1', batch);
      assert.deepEqual(
        [status, body.warnings],
        [200, ['broad: matches 100 of 1,000 requests of the sample, first: GET /checkout from 198.51.100.0']],
      );
    });
    assert.equal((await client.post('/v2/signal', batch)).status, 200);
    await world().text(['sample', 'limit', '--workspace', client.workspace, '--max-share', '0']);
    await errorsOf(client, batch, [broad(0, 100, 0)]);
    await world().text(['sample', 'delete', '--workspace', client.workspace]);
    await errorsOf(client, batch, []);
  });

  once('D21.4 the fault of a rule that is refused has the hints on its expression', async () => {
    const client = await sampled('--max-share', '5%');
    const { body } = await eventually(async () => {
      const answer = await client.post('/v2/signal', [waf('lang', 'http.request.headers["accept-language"][0] != "en"')]);
      assert.equal(answer.status, 206);
      return answer;
    });
    const [line] = body.errors!;
    assert.ok(line!.startsWith(broad(0, 1000, 50).replace(/, first.*/, '')), line);
    assert.match(line!, /first: GET .*; hint: .*accept-language/);
  });

  once('D21.2 what a sample keeps is masked: query values, cookies, secrets', async () => {
    const client = await sampled('--max-share', '0');
    await errorsOf(
      client,
      [waf('a', 'http.request.query contains "secret"'), waf('b', 'http.request.query == "token=xxxxxx00"')],
      [broad(1, 9, 0, 'GET /checkout from 198.51.100.10')],
    );
  });

  test('D21.1 a recording that is larger than a sample is refused by set and chosen from by take', async () => {
    const client = await world().client();
    const file = join(world().settings.DATA_DIR!, '..', `large-${client.workspace}.jsonl`);
    writeFileSync(file, '{"http.request.path":"/"}\n'.repeat(10_001));
    await assert.rejects(world().text(['sample', 'set', file, '--workspace', client.workspace]), /10001 requests, a sample at most 10000/);
    const [taken] = await world().json(['sample', 'take', file, '--workspace', client.workspace]);
    assert.deepEqual([taken!.requests, taken!.seen], [10_000, 10_001]);
    await assert.rejects(world().text(['sample', 'take', '/dev/null', '--workspace', client.workspace]), /no request that can be read/);
    await assert.rejects(world().text(['sample', 'limit', '--workspace', client.workspace, '--max-share', '101%']), /--max-share must be/);
  });
}
