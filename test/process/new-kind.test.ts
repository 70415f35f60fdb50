/**
 * A kind of rule is one row: a copy of the sources with a made-up kind, in which only a row, a scheme and a migration are new, serves it everywhere.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LandingItem } from '../../src/ports/landing.ts';
import type { Store } from '../../src/ports/store.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { addFormats } from '../support/made-up-formats.ts';
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { copyTree } from '../support/tree-copy.ts';

type Settings = Record<string, string>;

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROW = `  dns_rule: {
    holds: 'expression',
    scope: 'workspace',
    table: 'dns_rules',
    actions: ['sinkhole', 'allow'],
    called: 'DNS rules',
    hasPhase: false,
    example: { ruleRef: 'dns-1', type: 'custom', expression: 'dns.qname == "example.org"', action: 'sinkhole', order: 1 },
  },
`;

const folder = temporaryFolder({ after });

/** A copy of the sources into which files are written; `changed` names those under src/. */
function copySources(name: string) {
  const copy = join(folder, name);
  const changed: string[] = [];
  copyTree(copy, ['src', 'test/support']);
  return {
    path: (file: string) => join(copy, file),
    changed,
    edit(file: string, change: (text: string) => string, from = file) {
      const before = readFileSync(join(copy, from), 'utf8');
      const text = change(before);
      assert.notEqual(text, before, file);
      writeFileSync(join(copy, file), text);
      changed.push(file);
    },
    /** What the compiler says of these files and of all that they import. */
    compile(...include: string[]) {
      const options = { extends: join(ROOT, 'tsconfig.json'), include, exclude: ['**/*.test.ts'] };
      writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(options));
      const { stdout } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['--noEmit', '--project', copy], { encoding: 'utf8' });
      return stdout.trim();
    },
  };
}
type Copy = ReturnType<typeof copySources>;

const addRow = (copy: Copy) =>
  copy.edit('src/rule.ts', (text) => text.replace(/^\} as const satisfies Record<string, TargetKindRow/m, `${ROW}$&`));

function addScheme(copy: Copy): void {
  copy.edit('packages/expression/schemes.json', (text) => {
    const schemes = JSON.parse(text);
    schemes.kinds.dns_rule = { called: 'DNS rules' };
    schemes.dns_rule = { 'dns.qname': { type: 'Bytes' } };
    return JSON.stringify(schemes);
  });
}

/** The tables are those of another expression kind under their own names. */
function addTables(copy: Copy): void {
  const { stdout } = spawnSync(process.execPath, [join(ROOT, 'scripts/kind-tables.mjs'), 'dns_rules'], { encoding: 'utf8' });
  copy.edit('src/store/migrations/999-dns-rules.sql', () => stdout, 'src/store/migrations/050-enforced.sql');
}

const dns = (ref: string, body: object = {}, more: object = {}) => ({
  kind: 'dns_rule',
  op: 'upsert',
  rule_ref: ref,
  ...more,
  rule: { type: 'custom', expression: 'dns.qname == "bad.example"', action: 'sinkhole', ...body },
});

describe('a made-up kind of rule', () => {
  let copy: Copy;
  let support: typeof import('../support/weir.ts');
  let commands: typeof import('../support/command.ts');
  before(async () => {
    copy = copySources('with-dns');
    addRow(copy);
    addScheme(copy);
    addTables(copy);
    support = await import(copy.path('test/support/weir.ts'));
    commands = await import(copy.path('test/support/command.ts'));
  });

  test('2.2, 4.5 a kind is a row, a scheme and a migration, a format a row; the compiler asks for what is missing, and for nothing else', () => {
    assert.deepEqual(copy.changed, ['src/rule.ts', 'packages/expression/schemes.json', 'src/store/migrations/999-dns-rules.sql']);
    addFormats(copy.path(''));
    assert.equal(copy.compile('src'), '');
    const incomplete = copySources('without-scheme');
    addRow(incomplete);
    assert.match(
      incomplete.compile('src/signal/v2.ts'),
      /signal\/v2\.ts.*\n {2}Property 'dns_rule' does not exist on type .*<SchemeKind, Scheme>/,
    );
  });

  test('D1.9 expression check knows a new kind', async () => {
    const check = (text: string) => support.weir(['expression', 'check', '--kind', 'dns_rule'], { DATA_DIR: join(folder, 'none') }, text);
    assert.deepEqual(await check('lower(dns.qname) == "x"'), { code: 0, stdout: 'valid, uses dns.qname\n', stderr: '' });
    const { code, stdout } = await check('http.request.path == "/"');
    assert.equal(code, 1);
    assert.match(stdout, /"http.request.path" is a field of WAF rules, not of DNS rules/);
  });

  test('6.2 a new kind of rule over HTTP, in the embedded store, and moved', (t) => everywhere(t, {}));

  describe('on PostgreSQL', { skip: noPostgres() }, () => {
    let postgres: Postgres;
    before(async () => {
      postgres = await startPostgres();
    });
    after(() => postgres.stop());

    test('6.2 a new kind of rule over HTTP, in PostgreSQL, and moved', async (t) =>
      everywhere(t, { DATABASE_URL: await postgres.createDatabase() }));

    test('D4 retention: PostgreSQL sweeps rules of a new kind', async (t) => {
      const { openPostgresStore }: typeof import('../../src/store/postgres/store.ts') = await import(
        copy.path('src/store/postgres/store.ts')
      );
      await swept(t, await openPostgresStore(await postgres.createDatabase()));
    });
  });

  test('D4 retention: SQLite sweeps rules of a new kind', async (t) => {
    const { openSqliteStore }: typeof import('../../src/store/sqlite/store.ts') = await import(copy.path('src/store/sqlite/store.ts'));
    await swept(t, await openSqliteStore(temporaryFolder(t)));
  });

  /** From the signal to the rule, its listing and its move into another workspace, with the programs of the copy. */
  async function everywhere(t: TestContext, engine: Settings): Promise<void> {
    const { startWeir, eventually, KEY } = support;
    const data = temporaryFolder(t);
    const settings = { DATA_DIR: data, BOOTSTRAP_API_KEY: KEY, ...smallGeo(data), ...engine };
    const server = await startWeir(settings);
    t.after(() => server.kill('SIGKILL'));
    const post = async (entries: unknown) => {
      const headers = { authorization: `Bearer ${KEY}` };
      const response = await fetch(`${server.url}/v2/signal`, { method: 'POST', body: JSON.stringify(entries), headers });
      return { status: response.status, ...((await response.json()) as { errors: string[]; message: string }) };
    };
    const run = (...args: string[]) => commands.commandText(args, settings);
    const rules = async (workspace: string) =>
      (JSON.parse(await run('rule', 'ls', '--workspace', workspace, '--kind', 'dns_rule', '--json')) as Record<string, unknown>[]).map(
        ({ id: _, batch_id: __, key_id: ___, ...rule }) => rule,
      );

    const api = (await (await fetch(`${server.url}/docs/signal/swagger/json`)).json()) as {
      info: { description: string };
      paths: Record<string, { post: { requestBody: { content: Record<string, { examples: Record<string, { value: unknown }> }> } } }>;
      components: { schemas: Record<string, { properties: object }> };
    };
    assert.match(api.info.description, /, Smart Firewall rules and DNS rules\./);
    assert.ok('rule_ref' in api.components.schemas.DnsRuleEnvelope!.properties);
    const shown = api.paths['/v2/signal']!.post.requestBody.content['application/json']!.examples.dns_rule!.value;
    assert.deepEqual(await post(shown), { status: 200, success: true, message: 'Processed 1 entries, 0 failed', errors: [] });

    assert.equal((await post([dns('d:1'), dns('d:2', { order: 7, config: { a: 1 } }, { reason: 'r', expires_in: 3600 })])).status, 200);
    assert.deepEqual(
      (await post([dns('d:3', { phase: 'request' }), dns('d:4', { action: 'block' }), dns('d:5', { expression: 'x' })])).errors,
      [
        'Entry 0: Schema validation failed: rule.phase: is not allowed for dns_rule',
        'Entry 1: Schema validation failed: rule.action: must be one of: sinkhole, allow',
        'Entry 2: Expression validation failed: rule.expression: (1:1) unknown field or function "x"',
      ],
    );
    assert.match((await post([dns('d:6', { type: 'x' })])).message, /rule\.type is required/);
    assert.equal((await post([dns('d:1', { action: 'ALLOW' }), { kind: 'dns_rule', op: 'delete', rule_ref: 'dns-1' }])).status, 200);
    const landed = await eventually(async () => {
      const found = await rules('default');
      assert.deepEqual(
        found.map((rule) => [rule.kind, rule.rule_ref, rule.action, rule.order]),
        [
          ['dns_rule', 'd:2', 'sinkhole', 7],
          ['dns_rule', 'd:1', 'allow', null],
        ],
      );
      return found;
    });
    assert.equal(await run('dead-letter', 'ls', '--json'), '[]\n');
    const read = async (path: string) => (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${KEY}` } })).json();
    const { rules: document } = (await read('/v1/rules/dns')) as { rules: { rule_ref: string }[] };
    assert.deepEqual(
      document.map(({ rule_ref }) => rule_ref),
      ['d:2', 'd:1'],
    );
    const { config } = (await read('/config')) as { config: { dns_rules: { rules: object[] } } };
    assert.equal(config.dns_rules.rules.length, 2);

    const file = join(data, 'default.ndjson');
    await run('export', file, '--workspace', 'default');
    await run('workspace', 'create', 'copy', '--org', 'default');
    await run('import', file, '--workspace', 'copy');
    assert.deepEqual(await rules('copy'), landed);
  }
});

/** A rule of the kind that expired long ago is counted until the sweep has taken it. */
async function swept(t: TestContext, store: Store): Promise<void> {
  t.after(() => store.close());
  const { id: workspaceId } = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
  const rule = { ruleRef: 'old', name: null, type: 'custom', expression: 'dns.qname == "x"', action: 'allow', order: null } as const;
  const change = {
    change: 'upsert',
    kind: 'dns_rule',
    rule: { ...rule, shortDescription: null, config: null, reason: null, labels: null, expiresAt: 2000 },
  };
  const record = { offset: 0, timestamp: 1000, key: workspaceId, headers: {}, value: '{}' };
  const item = { record, workspaceId, listId: null, receivedAt: 1000, batchId: null, keyId: null, change } as unknown as LandingItem;
  const batch = { streamId: 's', partition: 0, from: null, to: 1, items: [item], poison: [], now: 1000 };
  assert.equal(await store.apply(batch), 'landed');
  assert.equal(await store.countRules(workspaceId, 0), 1);
  const sweep = (rulesExpiredBefore: number) => store.sweep({ now: 5000, rulesExpiredBefore, auditBefore: 0, limit: 10 });
  assert.equal(await sweep(1500), 1, 'the batch');
  assert.equal(await sweep(3000), 1, 'the rule');
  assert.equal(await store.countRules(workspaceId, 0), 0);
}
