/** `weir backtest`, as an operator runs it before rules land. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Report } from '../../src/backtest/report.ts';
import type { LandingItem } from '../../src/ports/landing.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { waf } from '../conformance/store.ts';
import { command } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';

const folder = temporaryFolder({ after });
const settings = { DATA_DIR: join(folder, 'data') };
const path = (name: string, content: string | Buffer): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const minute = (n: number) => String(n % 60).padStart(2, '0');
const line = (n: number, request: string, agent = 'Mozilla') =>
  `192.0.2.${n % 250} - - [10/Oct/2026:13:${minute(n)}:00 +0000] "${request} HTTP/1.1" 200 1 "-" "${agent}"`;
const LOG = [
  ...Array.from({ length: 60 }, (_, n) => line(n, `GET /shop/${n}?id=${n}&token=secret`)),
  ...Array.from({ length: 30 }, (_, n) => line(n, 'POST /login')),
  ...Array.from({ length: 10 }, (_, n) => line(n, 'GET /admin/x.php', 'sqlmap')),
  'no request at all',
].join('\n');
const log = path('access.log', LOG);

const rule = (ref: string, expression: string, action: string, order?: number) => ({
  kind: 'waf_rule',
  op: 'upsert',
  rule_ref: ref,
  reason: 'x',
  rule: { type: 'generated', expression, action, order },
});
const rules = path(
  'rules.json',
  JSON.stringify([
    rule('late', 'http.request.path == "/login"', 'block'),
    rule('broad', 'http.request.path contains "/shop"', 'challenge', 2),
    rule('admin', 'starts_with(http.request.path, "/admin") and http.request.user_agent == "sqlmap"', 'block', 1),
    rule('shop7', 'http.request.path in {"/shop/7" "/shop/8"}', 'block', 3),
    rule('escaped', 'http.request.method == "GET" and http.request.path matches "\\\\.php$"', 'block', 4),
    rule('together', 'http.request.method == "POST" and http.request.path == "/admin/x.php"', 'block', 5),
    rule('host', 'http.request.host == "" and http.request.path == "/login"', 'block', 6),
    rule('response', 'http.response.code == 200', 'block', 7),
    { kind: 'access_rule', op: 'upsert', rule: { action: 'block', target: { ip: '192.0.2.1' } } },
  ]),
);

async function run(...args: string[]): Promise<Report> {
  const { code, stdout, stderr } = await command(['backtest', '--json', ...args], settings);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test('D19.14 backtest: matches, shares and actions in the order of enforcement; what cannot be read is counted', async () => {
  const report = await run(log, '--rules', rules);
  assert.deepEqual(
    [report.requests, report.unread?.lines, report.first, report.last],
    [100, 1, '2026-10-10T13:00:00.000Z', '2026-10-10T13:59:00.000Z'],
  );
  assert.deepEqual(
    report.rules.map(({ name, matches, decides }) => [name, matches, decides]),
    [
      ['admin', 10, 10],
      ['broad', 60, 60],
      ['shop7', 2, 0],
      ['escaped', 0, 0],
      ['together', 0, 0],
      ['host', 30, 30],
      ['response', 100, 0],
      ['late', 30, 0],
    ],
  );
  assert.deepEqual(report.actions, { challenge: 60, block: 40 });
  assert.equal(
    report.histogram.bars.reduce((sum, { requests }) => sum + requests, 0),
    100,
  );
});

test('D19.14 backtest: what earlier rules take, what contains what, why a rule never matches', async () => {
  const report = await run(log, '--rules', rules);
  const of = (name: string) => report.rules.find((one) => one.name === name)!;
  assert.deepEqual(of('shop7').taken, [{ by: 'broad', requests: 2 }]);
  assert.deepEqual(of('broad').contains, ['shop7']);
  assert.deepEqual(of('escaped').never, ['never true: http.request.path matches r"\\\\.php$"']);
  assert.match(of('escaped').hints[0], /one backslash/);
  assert.deepEqual(of('together').never, ['each part is true of some requests, but never all of them together']);
});

test('D19.13, D19.14 backtest: what the recording lacks and what the agent sees otherwise is told', async () => {
  const report = await run(log, '--rules', rules);
  const of = (name: string) => report.rules.find((one) => one.name === name)!;
  assert.deepEqual(of('host').lacking, [{ what: 'http.request.host', requests: 100 }]);
  assert.equal(of('host').agent[0], 'it never fires at the agent');
  assert.deepEqual([of('host').atAgent, of('response').atAgent, of('admin').atAgent], [0, 0, 10]);
  assert.match(of('response').agent.join(), /does not load the rule/);
  const agent = await run(log, '--rules', rules, '--as', 'agent');
  assert.deepEqual(
    agent.rules.filter(({ matches }) => matches > 0).map(({ name }) => name),
    ['admin', 'broad', 'shop7', 'late'],
  );
});

test('D19.14 backtest: five samples of different paths, values of queries and cookies masked', async () => {
  const {
    rules: [broad],
  } = await run(log, '--expression', 'http.request.path contains "/shop"');
  assert.equal(broad.samples.length, 5);
  assert.equal(broad.samples[0].target, '/shop/0?id=…&token=…');
  assert.ok(!JSON.stringify(broad).includes('secret'));
});

test('D19.14 backtest: several recordings, gzip; people get tables', async () => {
  const twice = await run(log, path('access.log.gz', gzipSync(LOG)), '--expression', 'http.request.path == "/login"');
  assert.deepEqual([twice.requests, twice.rules[0].matches], [200, 60]);
  const { code, stdout } = await command(['backtest', log, '--rules', rules], settings);
  assert.equal(code, 0);
  assert.match(stdout, /^100 requests, 2026-10-10T13:00:00\.000Z to 2026-10-10T13:59:00\.000Z, as recorded\n1 line without a request/);
  assert.match(stdout, /\nbroad {5}challenge {2}60 {7}60\.00%/);
  assert.match(stdout, /\n {2}broad takes 2 of its 2 requests\n/);
});

test('D19.14 backtest: the rules of a workspace, with a file’s in their places', async () => {
  await command(['migrate'], settings);
  await command(['org', 'create', 'o'], settings);
  await command(['workspace', 'create', 'acme', '--org', 'o'], settings);
  const store = await openSqliteStore(settings.DATA_DIR);
  const [workspace] = await store.workspaces();
  const receivedAt = Date.now();
  const stored = [
    waf('admin', { expression: 'http.request.path == "/never"', order: 1 }),
    waf('own', { expression: 'http.request.path == "/login"', order: 9 }),
  ];
  const items = stored.map((rule, offset): LandingItem => {
    const record = { offset, timestamp: receivedAt, key: workspace.id, headers: {}, value: '{}' };
    const change = { change: 'upsert', kind: 'waf_rule', rule } as const;
    return { record, workspaceId: workspace.id, listId: null, receivedAt, batchId: null, keyId: null, change };
  });
  await store.apply({ streamId: 's', partition: 0, from: null, to: items.length, items, poison: [], now: receivedAt });
  await store.close();
  const own = await run(log, '--workspace', 'acme');
  assert.deepEqual(
    own.rules.map(({ name, matches }) => [name, matches]),
    [
      ['admin', 0],
      ['own', 30],
    ],
  );
  const both = await run(log, '--workspace', 'acme', '--rules', rules);
  const names = both.rules.map(({ name }) => name);
  assert.deepEqual([names[0], names.at(-2), names.at(-1), both.rules[0].matches], ['admin', 'own', 'late', 10]);
});

test('D19.14 backtest: country and ASN of clients come from the geo data where the recording has none', async () => {
  const geo = { ...settings, ...smallGeo(folder) };
  const clients = ['192.0.2.1', '198.51.100.1', '2001:db8::1', '10.0.0.1'];
  const recording = path('clients.log', clients.map((client) => line(0, 'GET /').replace(/^\S+/, client)).join('\n'));
  const of = async (expression: string) => {
    const { code, stdout, stderr } = await command(['backtest', '--json', recording, '--expression', expression], geo);
    assert.equal(code, 0, stderr);
    return (JSON.parse(stdout) as Report).rules[0];
  };
  const country = await of('ip.src.country == "DE"');
  assert.deepEqual([country.matches, country.samples[0].client], [1, '192.0.2.1']);
  assert.deepEqual(country.lacking, [{ what: 'ip.src.country', requests: 3 }]);
  assert.equal((await of('ip.src.asn == 64500')).matches, 1);
});

test('D19.14 backtest: mistakes are one sentence', async () => {
  for (const [args, expected] of [
    [[log], /name the rules: --workspace, --rules or --expression/],
    [[join(folder, 'nowhere'), '--rules', rules], /cannot be read/],
    [[log, '--rules', path('bad.json', '[{"kind":"waf_rule","rule":{}}]')], /entry 0: rule\.expression must be a text/],
    [[log, '--rules', rules, '--kind', 'smart_firewall_rule'], /there is no rule of the kind smart_firewall_rule/],
  ] as const) {
    const { code, stderr } = await command(['backtest', ...args], settings);
    assert.equal(code, 2);
    assert.match(stderr, expected);
  }
});
