/** The workspace as a file: `weir apply` and `weir workspace export --settings` (SPEC D28). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Client } from 'pg';
import { parse } from 'yaml';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { command, commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { noPostgres, startPostgres } from '../support/postgres.ts';
import { seededRandom } from '../support/random.ts';
import { eventually, MAIN, testEnvironment } from '../support/weir.ts';

type Json = Record<string, unknown>;
interface Reply {
  readonly changed: boolean;
  readonly act: string | null;
  readonly changes: readonly { readonly text: string; readonly goes_text: string | null }[];
  readonly keys: readonly { readonly name: string; readonly key: string }[];
}

suite('workspace file', () => {
  const folder = temporaryFolder({ after });
  const settings = {
    DATA_DIR: join(folder, 'data'),
    SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    TOKEN: 'a-token',
    OTHER: 'another-token',
    HOOK: 'a-secret-of-webhooks',
    CHAT: 'https://chat.example/hooks/xyz',
  };
  before(() => command(['org', 'create', 'acme'], settings));
  const workspace = async (name: string) => {
    await commandText(['workspace', 'create', name, '--org', 'acme'], settings);
    return name;
  };
  let files = 0;
  const file = (content: string | Json): string => {
    files += 1;
    const path = join(folder, `${files}.yaml`);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const run = (to: string, content: string | Json, ...options: string[]) =>
    command(['apply', file(content), '--workspace', to, ...options], settings);
  const apply = (to: string, content: string | Json, ...options: string[]) =>
    commandJson<Reply>(['apply', file(content), '--workspace', to, ...options], settings);
  const exported = async (from: string) => parse(await commandText(['workspace', 'export', from, '--settings'], settings)) as Json;
  const texts = ({ changes }: Reply) => changes.map(({ text }) => text);

  const FILE = `
version: 1
workspace: { protect: [private, 203.0.113.0/24], min_prefix_v4: 8, subtract_allow: on, people: [operator=soc] }
lists:
  - name: scanners
    description: "yes"
    max_entries: 50000
  - { name: other, format: fortinet }
sources:
  - { name: feodo, url: https://lists.invalid/a, auth: bearer, secret_env: TOKEN, every: 1h, list: { confidence: low } }
  - { name: drop, catalogue: spamhaus-drop, paused: true, change_percent: 80 }
feeds:
  - { name: fw-berlin, lists: [scanners, feodo], min_sources: 2, always: [scanners], target: pan-os, max_entries: 10000 }
  - { name: everything, all_lists: true }
keys:
  - { name: berlin, permissions: [feed:read], feed: fw-berlin, from: [10.0.0.1/8] }
  - { name: ops, role: operator, expires_at: 2200-01-01T00:00:00Z }
  - { name: feodo reader, list: feodo }
webhooks:
  - { name: soc, url_env: CHAT, secret_env: HOOK }
  - { name: other, url: https://chat.example/plain, style: teams }
`;

  test('D28.1, D28.2, D28.4, D28.5 a file is applied as one act, a second time nothing differs, and what is exported makes the same elsewhere', async () => {
    const [from, to] = [await workspace('edge'), await workspace('copy')];
    const dry = await run(from, FILE, '--dry-run');
    assert.deepEqual([dry.code, dry.stdout.split('\n')[1]], [3, '+ list scanners']);
    assert.deepEqual(await exported(from), {
      version: 1,
      workspace: {},
      lists: [{ name: 'default' }],
      sources: [],
      feeds: [],
      keys: [],
      webhooks: [],
    });
    const done = await apply(from, FILE);
    assert.deepEqual(
      done.keys.map(({ name, key }) => [name, /^weir_\S{43}$/.test(key)]),
      [
        ['berlin', true],
        ['ops', true],
        ['feodo reader', true],
      ],
    );
    for (const option of ['--dry-run', '--prune']) {
      const { code, stdout } = await run(
        from,
        FILE.replace('\nkeys:', '\n  # as it is\nkeys:'),
        option,
        ...(option === '--prune' ? ['--dry-run'] : []),
      );
      assert.deepEqual([code, stdout], [0, 'no difference\n'], option);
    }
    const rows = await commandJson<Json[]>(['audit', 'ls', '--workspace', from, '--object', done.act!], settings);
    assert.deepEqual(
      [rows[0]!.event, rows[0]!.after, new Set(rows.map(({ act }) => act))],
      ['settings applied', { changes: 13 }, new Set([done.act])],
    );
    assert.ok(rows.some(({ event, name }) => event === 'key created' && name === 'berlin'));

    const content = await exported(from);
    assert.deepEqual((content.sources as Json[])[1], {
      name: 'feodo',
      url: 'https://lists.invalid/a',
      every: 3600,
      auth: 'bearer',
      list: { confidence: 'low' },
    });
    assert.deepEqual((content.keys as Json[])[0], { name: 'berlin', permissions: ['feed:read'], feed: 'fw-berlin', from: ['10.0.0.0/8'] });
    const unsaid = await run(to, content);
    assert.deepEqual([unsaid.code, /sources\[1\]\.secret: is missing/.test(unsaid.stderr)], [2, true]);
    (content.sources as Json[])[1]!.secret_env = 'TOKEN';
    assert.match((await run(to, content)).stderr, /webhooks\[1\]\.secret: is missing/);
    (content.webhooks as Json[])[1]!.secret_env = 'HOOK';
    await apply(to, content);
    const copy = await exported(to);
    assert.deepEqual(copy, await exported(from));
    // Words that YAML 1.1 takes for others are quoted.
    const text = await commandText(['workspace', 'export', from, '--settings'], settings);
    assert.ok(text.includes('subtract_allow: "on"') && text.includes('description: "yes"'), text);
    const json = join(folder, 'whole.json');
    await commandText(['workspace', 'export', to, json, '--settings', '--format', 'json'], settings);
    assert.deepEqual([JSON.parse(readFileSync(json, 'utf8')), statSync(json).mode & 0o777], [copy, 0o600]);
  });

  test('D28.2, D28.5 what is not named stays, null unsets, and the difference is told as people read it', async () => {
    const to = await workspace('changing');
    await apply(to, FILE);
    const told = await apply(to, {
      workspace: { min_prefix_v4: 16 },
      lists: [{ name: 'scanners', description: null }],
      feeds: [
        { name: 'fw-berlin', max_entries: 20_000, lists: ['other', 'scanners'] },
        { name: 'everything', lists: [] },
      ],
      sources: [{ name: 'feodo', list: { confidence: null }, paused: true }],
      keys: [{ name: 'berlin', from: [], role: null }],
      webhooks: [
        { name: 'soc', url: 'https://chat.example/hooks/abc', secret: null },
        { name: 'other', style: 'weir' },
      ],
    });
    assert.deepEqual(texts(told), [
      '~ workspace: min_prefix_v4 8 → 16',
      '~ list scanners: description yes → none',
      '~ source feodo: paused false → true, list.confidence low → none',
      '~ feed fw-berlin: lists scanners, feodo → other, scanners, max_entries 10000 → 20000',
      '~ feed everything: all_lists true → false',
      '~ key berlin: from 10.0.0.0/8 → none',
      '~ webhook soc: url https://chat.example/… → https://chat.example/…, has_secret true → false',
      '~ webhook other: style teams → weir',
    ]);
    assert.deepEqual(told.keys, []);
    const { workspace: own, lists } = await exported(to);
    assert.deepEqual([(own as Json).people, (lists as Json[])[2]], [['operator=soc'], { name: 'scanners', max_entries: 50_000 }]);
  });

  test('D28.3, D47.12 every fault is told with its place in the file and what is allowed, and nothing is done', async () => {
    const to = await workspace('faulty');
    await apply(to, { lists: [{ name: 'there' }], feeds: [{ name: 'taken', lists: ['there'] }], keys: [{ name: 'k', role: 'viewer' }] });
    const before = await exported(to);
    const form = await run(to, {
      lists: [{ name: 'a', max_entries: 0, cap: 5 }, {}],
      feds: [],
      feeds: 3,
      sources: [{ name: 's', every: 'soon' }],
      workspace: { protect: ['x'] },
    });
    assert.equal(form.code, 2);
    for (const line of [
      'feds: is not known; there are $schema, version, workspace, lists, sources, feeds, keys, webhooks',
      'lists[0].max_entries: must be an integer from 1 to 4000000',
      'sources[0].every: must be an integer from 300 to 2592000, or a duration such as 90s, 12h, 7d',
      'lists[0].cap: is not known; there are name, description, format',
      'lists[1].name: is required',
      'feeds: must be an array',
      'workspace.protect[0]: must be a network, or one of: private, special, self, peers',
    ])
      assert.ok(form.stderr.includes(line), `${line}\n${form.stderr}`);
    const meaning = await run(to, {
      lists: [{ name: 'a' }, { name: 'taken' }, { name: 'a' }],
      sources: [
        { name: 'there', url: 'ftp://x/y' },
        { name: 's', catalogue: 'nobody' },
        { name: 'local', url: 'http://127.0.0.1/x' },
      ],
      feeds: [{ name: 'f', lists: ['nowhere'] }, { name: 'g' }, { name: 'h', lists: [], all_lists: true }],
      keys: [
        { name: 'k', role: 'admin' },
        { name: 'b', role: 'admin', feed: 'taken' },
        { name: 'c', list: 'nowhere' },
        { name: 'bootstrap', role: 'viewer' },
        { name: 'late', expires_at: '2020-01-01T00:00:00Z' },
        { name: 'when', expires_at: 'tomorrow' },
      ],
      webhooks: [{ name: 'a', url: 'http://127.0.0.1/x' }, { name: 'b' }, { name: 'c', url: 'https://x.example/', style: 'pagerduty' }],
    });
    assert.equal(meaning.code, 2);
    for (const line of [
      'lists[1].name: is the name of an existing feed: lists, sources and feeds share their names',
      'lists[2].name: is also the name of lists[0]',
      'sources[0].name: is the name of an existing list',
      'sources[0].url: must begin with https:// or http://',
      'sources[1].catalogue: has no "nobody"',
      'sources[2].url: leads to 127.0.0.1',
      'feeds[0].lists: names "nowhere", but there is no such list',
      'feeds[1].lists: is required unless all_lists is true',
      'feeds[2].lists: cannot be combined with all_lists',
      'keys[0].permissions: is feed:read, rules:read, config:read and cannot be changed',
      'keys[1].permissions: cannot be: a key bound to a feed can only have feed:read',
      'keys[2].list: names "nowhere"',
      'keys[3].name: is reserved for the bootstrap key',
      'keys[4].expires_at: is in the past',
      'keys[5].expires_at: must be an instant',
      'webhooks[0].url: leads to 127.0.0.1',
      'webhooks[1].url: is required unless url_env is given',
      'webhooks[2].secret: is missing: PagerDuty',
    ])
      assert.ok(meaning.stderr.includes(line), `${line}\n${meaning.stderr}`);
    const DEEP = /\.yaml:1: is nested too deeply$/m;
    for (const [content, said] of [
      ['lists: [', /\.yaml:1: /],
      ['lists:\n  - name: a\n    name: b\n', /\.yaml:2: Map keys must be unique|\.yaml:3: Map keys must be unique/],
      ['- a\n', /the file: must be an object/],
      [`a: &a [x]\nb: [${'*a,'.repeat(200)}]\nc: [*a]\n`, /Excessive alias count|is not known/],
      // D47.12 In every form, and with what is not closed.
      [`lists: ${'['.repeat(30_000)}${']'.repeat(30_000)}`, DEEP],
      [`lists: ${'{"a":'.repeat(100_000)}`, DEEP],
      [`${'- '.repeat(30_000)}x`, DEEP],
      [`# ${'x'.repeat(1024 * 1024)}`, /has more than 1048576 bytes/],
    ] as const) {
      const { code, stderr } = await run(to, content);
      assert.deepEqual([code, said.test(stderr), /stack/i.test(stderr)], [2, true, false], stderr.slice(0, 400));
    }
    await commandText(['list', 'create', 'two', '--workspace', to], settings);
    await commandText(['list', 'create', 'two', '--workspace', to], settings);
    const two = await run(to, { lists: [{ name: 'two' }], feeds: [{ name: 'f', lists: ['two'] }] });
    assert.match(two.stderr, /lists\[0\]\.name: is the name of 2 lists, which the file cannot distinguish/);
    const left = await command(['workspace', 'export', to, '--settings'], settings);
    assert.deepEqual([parse(left.stdout), /left out: list two/.test(left.stderr)], [before, true]);
  });

  test('D28.6 --prune takes away what the file does not name, of the kinds that it has, and shows what goes with it', async () => {
    const to = await workspace('pruned');
    await apply(to, FILE);
    await commandText(['key', 'create', '--workspace', to], settings);
    const content = { lists: [], sources: [{ name: 'drop', catalogue: 'spamhaus-drop' }], keys: [{ name: 'ops' }] };
    const asked = await run(to, content, '--prune');
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /deleting the list "scanners" also changes 2 feeds/);
    assert.match(asked.stderr, /^weir: nothing has changed; add --yes to do it$/m);
    // Feeds are not told of, and have lists that would go.
    const told = await apply(to, content, '--prune', '--yes');
    assert.deepEqual(
      texts(told).map((text) => text.replace(/weir_\S+/, 'weir_')),
      [
        '- key berlin',
        '- key feodo reader',
        '- key weir_ (without a name)',
        '- source feodo',
        '- list other',
        '- list scanners',
        '~ source drop: change_percent 80 → 50, paused true → false',
      ],
    );
    const { workspace: own, lists, feeds, keys } = await exported(to);
    assert.deepEqual(
      [(own as Json).min_prefix_v4, lists, (feeds as Json[]).map(({ name }) => name), (keys as Json[]).map(({ name }) => name)],
      [8, [{ name: 'default' }], ['everything', 'fw-berlin'], ['ops']],
    );
    assert.match(await commandText(['list', 'deleted', '--workspace', to], settings), /scanners/);
    assert.equal((await run(to, content, '--prune')).stdout, 'no difference\n');
  });

  test('D28.7 the texts of keys are in files for the user alone before the keys are made, and a key that is there keeps its file', async () => {
    const [to, keys] = [await workspace('keyed'), join(folder, 'keys')];
    const content = { keys: [{ name: 'fw/berlin', role: 'viewer' }] };
    const done = await apply(to, content, '--key-dir', keys);
    const path = join(keys, 'fw%2Fberlin.key');
    assert.deepEqual([done.keys[0]!.key, statSync(path).mode & 0o777], [path, 0o600]);
    const store = await openSqliteStore(settings.DATA_DIR);
    const text = readFileSync(path, 'utf8').trim();
    assert.ok(await store.findCaller(createHash('sha256').update(text).digest()));
    await store.close();
    const again = await run(await workspace('keyed elsewhere'), content, '--key-dir', keys);
    assert.deepEqual([again.code, /has the text of a key that is there: nothing has been done/.test(again.stderr)], [2, true]);
    assert.equal(readFileSync(path, 'utf8').trim(), text);
    // What a try has left that ended before it made the key is written over.
    writeFileSync(join(keys, 'new.key'), 'weir_left\n');
    await apply(to, { keys: [{ name: 'new', role: 'viewer' }] }, '--key-dir', keys);
    assert.notEqual(readFileSync(join(keys, 'new.key'), 'utf8'), 'weir_left\n');
    const limited = { ...settings, MAX_LISTS: '3' };
    const none = await command(
      [
        'apply',
        file({ lists: [{ name: 'x' }, { name: 'y' }, { name: 'z' }], keys: [{ name: 'never', role: 'viewer' }] }),
        '--workspace',
        to,
        '--key-dir',
        keys,
      ],
      limited,
    );
    assert.deepEqual([none.code, readdirSync(keys).sort()], [2, ['fw%2Fberlin.key', 'new.key']], none.stderr);
  });

  test('D28.8 a secret is named by a file or a variable, told in nothing, and only another one is a difference', async () => {
    const to = await workspace('secret');
    const source = (more: Json) => ({ sources: [{ name: 's', url: 'https://lists.invalid/a', auth: 'bearer', ...more }] });
    const path = join(folder, 'token');
    writeFileSync(path, 'a-token\n');
    await apply(to, source({ secret_file: path }));
    for (const same of [{ secret_env: 'TOKEN' }, { secret: 'a-token' }, {}, { auth: undefined }])
      assert.equal((await run(to, source(same), '--dry-run')).stdout, 'no difference\n');
    const other = await run(to, source({ secret_env: 'OTHER' }));
    assert.match(other.stdout, /^~ source s: another secret\n/);
    assert.ok(!/a-token|another-token/.test(other.stdout + JSON.stringify(await exported(to))));
    assert.match((await run(to, source({ secret_env: 'NONE' }))).stderr, /sources\[0\]\.secret_env: the environment has no NONE/);
    assert.match(
      (await run(to, source({ url: 'https://elsewhere.invalid/a' }))).stderr,
      /sources\[0\]\.url: is not on https:\/\/lists\.invalid/,
    );
    assert.match((await run(to, source({ auth: null }))).stdout, /^~ source s: auth bearer → none\n/);
  });

  test('D28.10 the schema is printed, and judges what is exported', async () => {
    const schema = JSON.parse(await commandText(['apply', '--schema'], settings));
    assert.deepEqual(Object.keys(schema.properties), ['$schema', 'version', 'workspace', 'lists', 'sources', 'feeds', 'keys', 'webhooks']);
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
    assert.deepEqual([fits(parse(FILE)), fits(await exported('copy')), fits({ lists: [{ name: 'a', cap: 1 }] })], [true, true, false]);
  });

  /** 600 things, and how many of them there are. */
  const many = () => file({ lists: Array.from({ length: 600 }, (_, n) => ({ name: `l${n}` })), keys: [{ name: 'last', role: 'viewer' }] });
  const start = (of: Record<string, string>, path: string) =>
    spawn(process.execPath, [MAIN, 'apply', path, '--workspace', 'default'], { env: testEnvironment(of), stdio: 'ignore' });
  const isHalf = async (of: Record<string, string>) => {
    const lists = (await commandJson<Json[]>(['list', 'ls', '--workspace', 'default'], of)).length;
    const keys = (await commandJson<Json[]>(['key', 'ls', '--workspace', 'default'], of)).filter(({ name }) => name === 'last').length;
    assert.ok((lists === 1 && keys === 0) || (lists === 601 && keys === 1), `${lists} lists, ${keys} keys`);
    return lists === 1;
  };
  const prepare = async (of: Record<string, string>) => {
    await commandText(['org', 'create', 'default'], of);
    await commandText(['workspace', 'create', 'default', '--org', 'default'], of);
  };

  test('D28.4 a process that is killed while it applies leaves all or nothing: SQLite', async () => {
    const random = seededRandom(27);
    const path = many();
    for (let round = 0; round < 3; round += 1) {
      const of = { DATA_DIR: join(folder, `killed-${round}`) };
      await prepare(of);
      const log = join(of.DATA_DIR, 'weir.db-wal');
      const child = start(of, path);
      const ended = once(child, 'exit');
      // From when the transaction writes on, at an instant of its own each time.
      const least = random.below(200_000);
      while (child.exitCode === null && (!existsSync(log) || statSync(log).size <= least)) await delay(1);
      child.kill('SIGKILL');
      await ended;
      await isHalf(of);
    }
  });

  test('D28.4 the same: PostgreSQL', { skip: noPostgres() }, async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.stop());
    const of = { DATA_DIR: join(folder, 'postgres'), DATABASE_URL: await postgres.createDatabase() };
    await prepare(of);
    const other = new Client({ connectionString: of.DATABASE_URL });
    await other.connect();
    // The lists are made, and the key cannot be.
    await other.query('BEGIN; LOCK TABLE keys IN EXCLUSIVE MODE');
    const child = start(of, many());
    const ended = once(child, 'exit');
    await eventually(async () => {
      await other.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await other.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()");
      assert.equal(rows.length, 1);
    });
    child.kill('SIGKILL');
    await ended;
    await other.query('COMMIT');
    await other.end();
    assert.ok(await isHalf(of), 'before');
    assert.equal(await once(start(of, many()), 'exit').then(([code]) => code), 0);
    assert.ok(!(await isHalf(of)), 'after');
  });
});
