/** `weir export` and `weir import`: a workspace moves from one engine to the other and back. */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, type TestContext, test } from 'node:test';
import { type AccessRule, KINDS } from '../../src/rule.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openSqliteStream } from '../../src/stream/sqlite/stream.ts';
import { command, commandJson } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { getFeed, postSignals } from '../support/http.ts';
import { kafkaForTests, noKafkaAtAll } from '../support/kafka.ts';
import { noPostgres, type Postgres, startPostgres } from '../support/postgres.ts';
import { eventually, inSeconds, KEY, PATIENT, type Weir, weir, weirFor } from '../support/weir.ts';

type Settings = Record<string, string>;
type Row = Record<string, unknown>;
/** A test, or all of them: what it uses goes with it. */
interface Scope {
  after(work: () => unknown): void;
}

/** Runs a command that must succeed; its JSON. */
const json = <T = Row>(settings: Settings, ...args: string[]): Promise<T> => commandJson<T>(args, settings);

/** Runs a command that may fail: its exit code and what `weir:` says on standard error. */
async function outcome(settings: Settings, ...args: string[]): Promise<{ code: number; said: string[] }> {
  const { code, stderr } = await command(args, settings);
  return { code, said: stderr.split('\n').filter((line) => line.startsWith('weir: ')) };
}

async function post(server: Weir, key: string, path: string, entries: readonly object[]): Promise<void> {
  const { status, text } = await postSignals(server.url, key, entries, path);
  assert.equal(status, 200, text);
}

/** A server on these engines that ends with the test. */
const serve = (t: Scope, settings: Settings): Promise<Weir> => weirFor(t, { FEED_REBUILD_SECONDS: '0', ...settings });

function embedded(t: Scope): Settings {
  const folder = temporaryFolder(t);
  return { DATA_DIR: folder, BOOTSTRAP_API_KEY: KEY, SECRETS_KEY: '5e'.repeat(32), ...smallGeo(folder) };
}

async function emptyWorkspace(settings: Settings): Promise<void> {
  await json(settings, 'org', 'create', 'acme');
  await json(settings, 'workspace', 'create', 'main', '--org', 'acme');
}

const key = async (settings: Settings, ...options: string[]) =>
  (await json<{ id: string; key: string }>(settings, 'key', 'create', '--workspace', 'main', ...options)) as { id: string; key: string };

const config = JSON.parse('{"__proto__":{"a":[1,2.5,null]},"constructor":"x","confidence":"low","severity":"critical"}');
const expression = (kind: string, rule_ref: string, more: object, body: object) => ({
  kind,
  op: 'upsert',
  rule_ref,
  ...more,
  rule: { type: 'custom', expression: 'ip.src == 192.0.2.1', action: 'block', ...body },
});
const access = (target: object, body: object = {}, more: object = {}) => ({
  kind: 'access_rule',
  op: 'upsert',
  ...more,
  rule: { target, ...body },
});

/** Signals of every shape for the default list. */
const V1 = [
  { type: 'access_rules', action: 'block', ip: '192.0.2.1', name: 'näme 𝄞', description: 'first', expiration: 3600 },
  { type: 'access_rules', action: 'block', ip: '192.0.2.2' },
  { type: 'access_rules', action: 'block', ip: '2001:db8::/32', name: '' },
  { type: 'access_rules', action: 'block', country: 'DE', expiration: 86_400 },
  { type: 'access_rules', action: 'block', asn: 'AS64500', name: 'an ASN' },
];
const V2 = [
  access({ ip: '198.51.100.0/24' }, { action: 'allow' }, { reason: 'ours', labels: { team: 'soc', deep: [{ a: 1 }] } }),
  access({ ip: '203.0.113.7' }, { config }, { rule_ref: 'soc:1', expires_in: 3_155_760_000 }),
  access({ ip: '203.0.113.7' }, { action: 'allow', config: {} }, { rule_ref: 'soc:2', labels: {} }),
  access({ country: 'VA' }, { action: 'allow' }, { rule_ref: 'a-country' }),
  expression(
    'waf_rule',
    'w:1',
    { labels: { a: null }, reason: '' },
    { phase: 'request', config, name: 'n', order: -5, action: 'challenge' },
  ),
  expression('waf_rule', 'w:2', { expires_in: 7200 }, { type: 'generated', short_description: 'short', order: Number.MAX_SAFE_INTEGER }),
  expression('waf_rule', 'w:3', {}, { phase: 'request' }),
  expression('smart_firewall_rule', 'w:1', { reason: 'same ref, other kind' }, { action: 'allow', config: {} }),
];
const EDGE = [
  access({ ip: '203.0.113.0/25' }, { config: { confidence: 'medium' } }, { rule_ref: 'soc:1', expires_in: 600 }),
  access({ ip: '203.0.113.128' }),
];
const unblock = (ip: string) => ({ kind: 'access_rule', op: 'delete', rule: { target: { ip } } });
/** Two ended blocks, of one target in its second batch, and one before the block of `EDGE`. */
const ENDED = ['203.0.113.200', '203.0.113.128'].map((ip) => [access({ ip }, {}, { expires_in: 60 }), unblock(ip)]);
/** Renewed later: their updated_at is not their created_at. */
const RENEWED = { v1: V1.slice(0, 2), v2: [V2[1], V2[5]] };

interface Keys {
  readonly writer: string;
  readonly bound: string;
  readonly device: string;
  readonly revoked: string;
}

const REPEAT = 'x4 within 30d up to 30d';

/** Fills a workspace `main` with lists, keys and rules of every kind. */
async function fill(settings: Settings, server: Weir): Promise<Keys> {
  await emptyWorkspace(settings);
  const list = (name: string, ...options: string[]) => json(settings, 'list', 'create', name, '--workspace', 'main', ...options);
  const edge = await list(
    'edge',
    '--description',
    'the edge',
    '--format',
    'csv_indicator',
    '--family',
    'v4',
    '--max-entries',
    '200000',
    '--repeat',
    REPEAT,
  );
  await list('twice', '--confidence', 'low', '--severity', 'medium', '--action', 'allow');
  await list('twice');
  await json(settings, 'list', 'set', 'default', '--workspace', 'main', '--description', 'everything', '--format', 'commented');
  const feed = (name: string, ...options: string[]) => json(settings, 'feed', 'create', name, '--workspace', 'main', ...options);
  await feed('device', '--list', 'edge', '--list', 'default', '--format', 'csv_indicator', '--max-entries', '1000', '--severity', 'low');
  await feed('everything', '--all-lists', '--description', 'all lists', '--min-sources', '1', '--always', 'edge');
  const secret = join(settings.DATA_DIR!, 'secret');
  writeFileSync(secret, 'T0ken\n');
  const auth = ['--auth', 'header', '--auth-header', 'X-Api-Key', '--secret-file', secret];
  const guards = ['--stale-after', '2d', '--may-be-empty', '--path', 'a[].b', '--where', 'c=d', '--copies', 'edge', '--every', '6h'];
  const signer = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP${'/'.repeat(42)}`;
  const url = 'https://lists.invalid/v1/threat/feeds/a?format=plain&family=v4';
  await json(settings, 'source', 'add', 'kept', url, '--workspace', 'main', ...auth, ...guards, '--signer', signer);
  await json(settings, 'source', 'pause', 'kept', '--workspace', 'main');
  const writer = await key(settings, '--name', 'writer', '--expires-in', '3600');
  const device = await key(settings, '--feed', 'device', '--from', '127.0.0.0/8', '--from', '::1');
  const bound = await key(settings, '--list', String(edge.id));
  const revoked = await key(settings, '--name', 'old', '--permission', 'manage');
  await json(settings, 'key', 'revoke', revoked.id);

  await post(server, writer.key, '/v1/signal', V1);
  await post(server, writer.key, '/v2/signal', V2);
  await post(server, bound.key, '/v2/signal', ENDED.flat());
  await post(server, bound.key, '/v2/signal', [...ENDED[0]!, ...EDGE]);
  await post(server, writer.key, '/v1/signal', RENEWED.v1);
  await post(server, writer.key, '/v2/signal', RENEWED.v2);
  await eventually(async () => assert.equal((await rulesOf(settings)).filter((rule) => rule.created_at !== rule.updated_at).length, 4));
  return { writer: writer.key, bound: bound.key, device: device.key, revoked: revoked.key };
}

/** Every rule without the store's own number and without the batch that wrote it, in no order. */
async function rulesOf(settings: Settings): Promise<Row[]> {
  const rules: Row[] = [];
  for (const kind of KINDS) {
    const { stdout } = await command(['rule', 'ls', '--workspace', 'main', '--kind', kind, '--json'], settings);
    for (const { id: _, batch_id: __, key_id: ___, ...rule } of JSON.parse(stdout)) rules.push(rule);
  }
  return rules.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function managementOf(settings: Settings): Promise<{ lists: Row[]; feeds: Row[]; sources: Row[]; keys: Row[] }> {
  const [lists, feeds, sources, keys] = await Promise.all(
    ['list', 'feed', 'source', 'key'].map((what) => json<Row[]>(settings, what, 'ls', '--workspace', 'main')),
  );
  const here = ({ workspace_id: _w, last_used_at: _l, ...row }: Row) => row;
  return {
    lists: lists.map(here),
    feeds: feeds.map(here),
    // A source that is moved begins anew, and waits for its secret.
    sources: sources.map(({ stop: _s, created_at: _c, ...source }) => here(source)),
    keys: keys.map(here),
  };
}

/** Every feed of the workspace: bytes, type, entry count and tag. The instant of a commented feed is the server's own. */
async function feedsOf(server: Weir, { writer }: Keys, lists: readonly Row[]): Promise<string[]> {
  const feeds: string[] = [];
  for (const path of ['', ...lists.map((list) => `/${list.id}`)]) {
    for (const query of [
      '',
      '?format=plain',
      '?format=csv_indicator&action=allow',
      '?format=set_elements&family=v4',
      '?format=commented',
    ]) {
      const { status, headers, text } = await getFeed(server.url, writer, `${path}${query}`);
      const tag = query === '' || query === '?format=commented' ? '' : headers.etag;
      const body = text.replace(/^# generated: .*$/m, '');
      feeds.push([path, query, status, headers['x-feed-entry-count'], tag, body].join('\n'));
    }
  }
  return feeds;
}

/** What `fill` makes. */
const MOVED = { lists: 5, feeds: 2, sources: 1, keys: 4, repeats: 3, rules: 15 };

/** The third block of a target of `ENDED` lasts as at the old place. */
async function repeatsMoved(settings: Settings, server: Weir, { bound }: Keys): Promise<void> {
  await post(server, bound, '/v2/signal', ENDED[0]!.slice(0, 1));
  await eventually(async () => {
    const texts = (await rulesOf(settings)).flatMap(({ repeated }) => repeated ?? []);
    assert.deepEqual(texts, [
      'second block, each within 30 days: four days instead of one day',
      'third block, each within 30 days: 16 minutes instead of one minute',
    ]);
  });
  const [batch] = await json<Row[]>(settings, 'batch', 'ls', '--limit', '1', '--workspace', 'main');
  const { stdout } = await command(['batch', 'show', String(batch!.id), '--workspace', 'main'], settings);
  assert.match(
    stdout,
    /\nlonger than sent: 1 block\n {2}203\.0\.113\.200 third block, each within 30 days: 16 minutes instead of one minute\n/,
  );
}

/** What the keys of a workspace may do, over HTTP. */
async function keysWork(server: Weir, { writer, bound, device, revoked }: Keys): Promise<void> {
  const status = async (text: string, path: string) => (await getFeed(server.url, text, path)).status;
  assert.deepEqual(
    [await status(writer, ''), await status(bound, '/edge'), await status(bound, ''), await status(revoked, '')],
    [200, 200, 403, 401],
  );
  assert.deepEqual([await status(device, '/device'), await status(device, '/edge')], [200, 403]);
  await post(server, bound, '/v1/signal?dry_run=1', [V1[0]]);
}

interface Source {
  readonly settings: Settings;
  readonly server: Weir;
  readonly keys: Keys;
}
const cleanup: (() => unknown)[] = [];
after(async () => {
  for (const work of cleanup.toReversed()) await work();
});
let source: Promise<Source> | undefined;

/** A server with a workspace `main` that `fill` has filled; one for all tests, which leave the workspace as it is. */
function filled(): Promise<Source> {
  const start = async () => {
    const whole = { after: (work: () => unknown) => cleanup.push(work) };
    const settings = embedded(whole);
    const server = await serve(whole, settings);
    return { settings, server, keys: await fill(settings, server) };
  };
  source ??= start();
  return source;
}

/** The lines of an export without its head, in no order. */
const content = (file: string) => readFileSync(file, 'utf8').split('\n').slice(1).sort();

async function equalWorkspaces(from: Settings, to: Settings): Promise<void> {
  assert.deepEqual(await rulesOf(to), await rulesOf(from));
  assert.deepEqual(await managementOf(to), await managementOf(from));
}

describe('D4 moving between embedded stores', () => {
  test('D4 moving, D8.7, D56.6, D56.9 SQLite → file → SQLite: rules, lists, keys and feeds are the same, and every API key works', async (t) => {
    const { settings: from, server: old, keys } = await filled();
    const to = embedded(t);
    const file = join(temporaryFolder(t), 'main.ndjson');
    const exported = await json(from, 'export', file, '--workspace', 'main');
    assert.deepEqual(exported, { file, ...MOVED });
    const printed = await command(['export', '--workspace', 'main'], from);
    assert.deepEqual(printed.stdout.split('\n').slice(1), readFileSync(file, 'utf8').split('\n').slice(1));

    const server = await serve(t, to);
    await emptyWorkspace(to);
    const imported = await json(to, 'import', file, '--workspace', 'main');
    const { workspace_id: _, ...report } = imported;
    assert.deepEqual(report, {
      ...MOVED,
      expired: 0,
      unlanded: 0,
      new_list_ids: {},
      new_feed_ids: {},
      missing_secrets: ['kept'],
      known_keys: [],
    });
    assert.ok(!readFileSync(file, 'utf8').includes('T0ken'));
    assert.equal((await json(to, 'source', 'show', 'kept', '--workspace', 'main')).stop, 'secret');
    await equalWorkspaces(from, to);
    await keysWork(server, keys);
    const { lists, feeds } = await managementOf(from);
    const all = [...lists, ...feeds];
    assert.deepEqual(await feedsOf(server, keys, all), await feedsOf(old, keys, all));
    assert.ok((await feedsOf(server, keys, all)).some((feed) => feed.includes('203.0.113.7')));
    await repeatsMoved(to, server, keys);
  });

  test('D1.11, D4.11 text with every character that some take for the end of a line moves as it is', async (t) => {
    const [from, to] = [embedded(t), embedded(t)];
    const file = join(temporaryFolder(t), 'main.ndjson');
    const old = await serve(t, from);
    await emptyWorkspace(from);
    const ends = 'a\u2028b\u2029c\u0085d\ve\ff\rg\r\nh\ni';
    const list = await json(from, 'list', 'create', 'one', '--workspace', 'main', '--description', ends);
    const writer = await key(from, '--name', 'key');
    // Names such as older versions allowed them (D47.10).
    const database = new DatabaseSync(join(from.DATA_DIR!, 'weir.db'), PATIENT);
    database.prepare('UPDATE lists SET name = ? WHERE id = ?').run('one\u2028two\u2029', String(list.id));
    database.prepare('UPDATE keys SET name = ? WHERE id = ?').run('key\u2028\u200b', writer.id);
    database.close();
    await post(old, writer.key, '/v1/signal', [{ ...V1[0], name: ends, description: ends }]);
    const labels = { [ends]: ends };
    await post(old, writer.key, '/v2/signal', [
      access({ ip: '192.0.2.77' }, { config: labels }, { rule_ref: 'a', reason: ends, labels }),
      expression('waf_rule', 'w', { reason: ends, labels }, { name: ends, short_description: ends, expression: `ip.src\n==\n192.0.2.1` }),
    ]);
    await eventually(async () => assert.equal((await rulesOf(from)).length, 3));
    await json(from, 'export', file, '--workspace', 'main');
    await serve(t, to);
    await emptyWorkspace(to);
    await json(to, 'import', file, '--workspace', 'main');
    await equalWorkspaces(from, to);
    assert.equal((await rulesOf(to)).filter(({ reason }) => reason === ends).length, 3);

    const lines = readFileSync(file, 'latin1').replace('192.0.2.77', '192.0.2.77\u00e9');
    writeFileSync(file, lines, 'latin1');
    const { code, said } = await outcome(to, 'import', file, '--workspace', 'default');
    assert.equal(code, 2);
    assert.match(said.join('\n'), /^weir: line \d of \S+: this is not UTF-8$/);
  });

  test('D4 moving without a consumer: the import says that the rules wait, a second one has to wait, and they land at the next start', async (t) => {
    const { settings: from, keys } = await filled();
    const to = embedded(t);
    const file = join(temporaryFolder(t), 'main.ndjson');
    await json(from, 'export', file, '--workspace', 'main');
    await emptyWorkspace(to);
    const imported = await json(to, 'import', file, '--workspace', 'main');
    // Four of the fifteen rules take two messages.
    assert.deepEqual([imported.rules, imported.keys, imported.unlanded], [15, 4, 19]);
    assert.deepEqual(await rulesOf(to), []);
    const [again, beforeLanding] = await Promise.all([
      outcome(to, 'import', file, '--workspace', 'main'),
      outcome(to, 'export', '--workspace', 'main'),
    ]);
    assert.equal(again.code, 2);
    assert.match(
      again.said.join('\n'),
      /^weir: 19 messages of the stream have not landed and nothing lands them; some may be rules of the workspace "main"[^\n]*$/,
    );
    assert.deepEqual([beforeLanding.code, beforeLanding.said.length], [2, 1]);
    assert.match(beforeLanding.said[0], /^weir: 19 messages of the stream have not landed/);

    const server = await serve(t, to);
    await eventually(() => equalWorkspaces(from, to));
    await keysWork(server, keys);
  });

  test('D4 moving within one store: taken list ids are replaced, known keys stay, and both are reported', async (t) => {
    const { settings, server, keys } = await filled();
    const folder = temporaryFolder(t);
    const file = join(folder, 'main.ndjson');
    await json(settings, 'export', file, '--workspace', 'main');
    await json(settings, 'workspace', 'create', 'copy', '--org', 'acme');
    const { stdout, code } = await command(['import', file, '--workspace', 'copy'], settings);
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.filter((line) => /^list \S+ is \S+ here: another list has its id$/.test(line)).length, 5);
    assert.equal(lines.filter((line) => /^key \S+ \(weir_\S+…, .*\) is known here already and stays as it is$/.test(line)).length, 4);
    assert.equal(lines.filter((line) => /^feed \S+ is \S+ here: another feed has its id/.test(line)).length, 2);
    assert.ok(lines.some((line) => line.startsWith('the secret of the source "kept" is not in the file: give it with weir source set')));
    assert.equal(lines.at(-1), '5 lists, 2 feeds, 1 sources, 0 keys, 15 rules imported');
    await keysWork(server, keys);

    // But for the ids of lists the copy is the same.
    const copy = join(folder, 'copy.ndjson');
    await json(settings, 'export', copy, '--workspace', 'copy');
    const anonymous = (path: string) => {
      const rules = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => /^\{"(rule|list)"/.test(line));
      const ids = new Map<string, string>();
      const name = (id: string) => ids.get(id) ?? ids.set(id, `list ${ids.size}`).get(id)!;
      return rules.map((line) => line.replace(/(?<="(?:list_)?id":")[0-9a-f-]{36}/g, name));
    };
    assert.deepEqual(anonymous(copy), anonymous(file));
  });

  test('D4 moving: import refuses a workspace with rules, expired ones too', async (t) => {
    const [from, to] = [embedded(t), embedded(t)];
    const file = join(temporaryFolder(t), 'main.ndjson');
    await emptyWorkspace(from);
    await json(from, 'export', file, '--workspace', 'main');
    const server = await serve(t, to);
    await emptyWorkspace(to);
    const writer = await key(to);
    await post(server, writer.key, '/v2/signal', [expression('waf_rule', 'w', { expires_in: 1 }, {})]);
    await eventually(async () => assert.equal((await rulesOf(to)).length, 0));
    const before = await managementOf(to);
    const refused = await outcome(to, 'import', file, '--workspace', 'main');
    assert.equal(refused.code, 2);
    assert.deepEqual(refused.said, [
      'weir: the workspace "main" has 1 rules, counting expired ones of the last days; import into a workspace without rules, such as a new one',
    ]);
    assert.deepEqual(await managementOf(to), before);
  });

  test('D4 moving: rules that expire between export and import are left out', async (t) => {
    const [from, to] = [embedded(t), embedded(t)];
    const file = join(temporaryFolder(t), 'main.ndjson');
    const old = await serve(t, from);
    await emptyWorkspace(from);
    const writer = await key(from);
    await post(old, writer.key, '/v2/signal', [expression('waf_rule', 'long', { expires_in: 3600 }, {})]);
    await inSeconds(async (seconds) => {
      const until = Date.now() + seconds * 1000;
      await post(old, writer.key, '/v2/signal', [expression('waf_rule', 'short', { expires_in: seconds }, {})]);
      rmSync(file, { force: true });
      const { rules } = await json(from, 'export', file, '--workspace', 'main');
      if (rules !== 2 && Date.now() > until) return undefined;
      assert.equal(rules, 2);
      return rules;
    });
    await eventually(async () => assert.equal((await rulesOf(from)).length, 1));
    await serve(t, to);
    await emptyWorkspace(to);
    const { rules, expired } = await json(to, 'import', file, '--workspace', 'main');
    assert.deepEqual([rules, expired], [1, 1]);
    await equalWorkspaces(from, to);
  });
});

describe('D4 moving mistakes', () => {
  /** A file that is as it should be, as lines; and an empty workspace to import into. */
  async function world(t: TestContext) {
    const { settings: from } = await filled();
    const to = embedded(t);
    const folder = temporaryFolder(t);
    const whole = join(folder, 'whole.ndjson');
    await json(from, 'export', whole, '--workspace', 'main');
    await emptyWorkspace(to);
    const file = join(folder, 'file.ndjson');
    const empty = await managementOf(to);
    /** Imports this text, which must be refused with one sentence and change nothing; the sentence. */
    const refused = async (text: string): Promise<string> => {
      writeFileSync(file, text);
      const { code, said } = await outcome(to, 'import', file, '--workspace', 'main');
      assert.deepEqual([code, said.length], [2, 1], said.join('\n'));
      return said[0].replace(`${file}`, 'FILE');
    };
    return { from, to, whole, empty, refused, lines: readFileSync(whole, 'utf8').trimEnd().split('\n') };
  }

  test('D4 moving: a cut or changed file is refused with the line and the reason, and nothing is imported', async (t) => {
    const { to, empty, refused, lines, whole } = await world(t);
    const text = readFileSync(whole, 'utf8');
    const all = lines.length;
    const indexOf = (pattern: RegExp) => lines.findIndex((line) => pattern.test(line));
    const join = (changed: readonly string[]) => `${changed.join('\n')}\n`;
    /** The file with one line changed. */
    const with_ = (index: number, change: (line: string) => string) => join(lines.with(index, change(lines[index])));
    const rule = indexOf(/"rule_ref":"soc:1".*"labels"/);
    const waf = indexOf(/"waf_rule"/);
    const keyLine = indexOf(/^\{"key"/);
    const source = indexOf(/^\{"source"/);
    const repeat = indexOf(/^\{"repeat".*"blocks":2/);
    const [named, renewedTime] = [indexOf(/"name":"an ASN"/), /("updated_at":")[^"]*/];

    const cases: [string, RegExp][] = [
      // cut
      ['', /^weir: FILE is not whole: it was cut after line 0/],
      [join(lines.slice(0, 1)), /^weir: FILE is not whole: it was cut after line 1;/],
      [join(lines.slice(0, -1)), new RegExp(`^weir: FILE is not whole: it was cut after line ${all - 1};`)],
      [text.slice(0, -2), new RegExp(`^weir: line ${all} of FILE: this is not a JSON object; the file may have been cut here$`)],
      [text.slice(0, text.length / 2), /^weir: line \d+ of FILE: this is not a JSON object; the file may have been cut here$/],
      [
        join(lines.toSpliced(waf, 1)),
        new RegExp(`^weir: line ${all - 1} of FILE: end\\.rules: the file has 14; lines were removed or added$`),
      ],
      // not such a file
      ['[{"type":"access_rules"}]', /^weir: line 1 of FILE: this is not the first line of a file that weir export has written$/],
      [
        with_(0, (line) => line.replace('"weir_export":1', '"weir_export":2')),
        /^weir: line 1 of FILE: weir_export must be 1: the file is of another version of weir$/,
      ],
      [join([...lines, lines[waf]]), new RegExp(`^weir: line ${all + 1} of FILE: "rule" must not come after "end"$`)],
      [join([lines[0], ...lines]), /^weir: line 2 of FILE: "weir_export" must not come after "weir_export"$/],
      [
        with_(1, () => '{"rules":1}'),
        /^weir: line 2 of FILE: "rules" is none of: weir_export, settings, list, feed, source, key, repeat, rule, end$/,
      ],
      [with_(1, () => 'null'), /^weir: line 2 of FILE: this is not a JSON object/],
      // lists and keys
      [
        with_(1, (line) => line.replace('"format":"commented"', '"format":"xml"')),
        /^weir: line 2 of FILE: list\.format: must be one of: plain, /,
      ],
      [
        with_(1, (line) => line.replace('"default":true', '"default":false')),
        /^weir: line \d+ of FILE: no list before is the default one$/,
      ],
      [with_(2, () => lines[1]), /^weir: line 3 of FILE: list\.id: an earlier line has it$/],
      [
        with_(2, (line) => line.replace('"default":false', '"default":true')),
        /^weir: line 3 of FILE: list\.default: an earlier list is the default one$/,
      ],
      [with_(keyLine, (line) => line.replace(/"hash":"[^"]*"/, '"hash":"secret"')), /^weir: line \d+ of FILE: key\.hash: must match /],
      [
        with_(keyLine, (line) => line.replace(/"created_at":"[^"]*"/, '"created_at":"2026-02-31T00:00:00.000Z"')),
        /^weir: line \d+ of FILE: key\.created_at: would become "2026-03-03/,
      ],
      [
        with_(keyLine, (line) => line.replace('"feed:read"', '"root"')),
        /^weir: line \d+ of FILE: key\.permissions\.1: must be one of: signal:write, feed:read, manage, rules:read, config:read, rules:write, keys:write$/,
      ],
      [
        with_(indexOf(/"key".*"list_id":"/), (line) => line.replace(/"list_id":"[^"]{8}/, '"list_id":"00000000')),
        /^weir: line \d+ of FILE: key\.list_id: no line before is this list$/,
      ],
      // feeds
      [
        with_(indexOf(/"feed".*"device"/), (line) => line.replace(/"lists":\["[^"]{8}/, '"lists":["00000000')),
        /^weir: line \d+ of FILE: feed\.lists: no line before is one of them$/,
      ],
      [
        with_(indexOf(/"feed".*"everything"/), (line) => line.replace('"lists":[]', '"lists":["00000000-0000-0000-0000-000000000000"]')),
        /^weir: line \d+ of FILE: feed\.lists: a feed of all lists names none$/,
      ],
      [
        with_(indexOf(/"key".*"feed_id":"/), (line) => line.replace(/"feed_id":"[^"]{8}/, '"feed_id":"00000000')),
        /^weir: line \d+ of FILE: key\.feed_id: no line before is this feed$/,
      ],
      [
        with_(indexOf(/"key".*"feed_id":"/), (line) => line.replace('["feed:read"]', '["signal:write"]')),
        /^weir: line \d+ of FILE: key\.permissions: a key bound to a feed can only have feed:read$/,
      ],
      [
        with_(indexOf(/"feed".*"device"/), (line) => line.replace('"name":"device"', '"name":"edge"')),
        /^weir: the workspace has a list called "edge"; lists and feeds share their names$/,
      ],
      // sources
      [
        with_(source, (line) => line.replace(/"list_id":"[^"]{8}/, '"list_id":"00000000')),
        /^weir: line \d+ of FILE: source\.list_id: no line before is this list$/,
      ],
      [
        with_(source, (line) => line.replace('https://', 'file://')),
        /^weir: line \d+ of FILE: source\.url: must begin with https:\/\/ or http:\/\//,
      ],
      [
        with_(source, (line) => line.replace('"every":21600', '"every":60')),
        /^weir: line \d+ of FILE: source\.every: must be from 5m to 30d$/,
      ],
      [
        join(lines.toSpliced(source, 1)),
        new RegExp(`^weir: line ${all - 1} of FILE: end\\.sources: the file has 0; lines were removed or added$`),
      ],
      // repeated blocks
      [
        with_(repeat, (line) => line.replace(/"list_id":"[^"]{8}/, '"list_id":"00000000')),
        /^weir: line \d+ of FILE: repeat\.list_id: no line before is this list with "repeat"$/,
      ],
      [with_(repeat, (line) => line.replace('"blocks":2', '"blocks":0')), /^weir: line \d+ of FILE: repeat\.blocks: /],
      [
        with_(repeat, (line) => line.replace(/"ip":"[^"]*/, '"ip":"192.0.2.1/32')),
        /^weir: line \d+ of FILE: repeat\.target: would become \{"ip":"192\.0\.2\.1"\}$/,
      ],
      // rules
      [
        with_(rule, (line) => line.replace(/"list_id":"[^"]{8}/, '"list_id":"00000000')),
        /^weir: line \d+ of FILE: rule\.list_id: no line before is this list$/,
      ],
      [with_(rule, (line) => line.replace('"ip":"203.0.113.7"', '"ip":"203.0.113.07"')), /^weir: line \d+ of FILE: rule\.target\.ip: /],
      [
        with_(rule, (line) => line.replace('"ip":"203.0.113.7"', '"ip":"203.0.113.7/24"')),
        /^weir: line \d+ of FILE: rule\.target: would become \{"ip":"203\.0\.113\.0\/24"\}$/,
      ],
      [
        with_(rule, (line) => line.replace('"confidence":"low","severity"', '"confidence":"high","severity"')),
        /^weir: line \d+ of FILE: rule\.confidence: would become "low"$/,
      ],
      [with_(rule, (line) => line.replace('"labels":null', '"labels":"x"')), /^weir: line \d+ of FILE: rule\.labels: must be an object$/],
      [with_(rule, (line) => line.replace('"reason":null,', '')), /^weir: line \d+ of FILE: rule\.reason: is required$/],
      [
        with_(rule, (line) => line.replace('"reason":null', '"reason":"\\u0000"')),
        /^weir: line \d+ of FILE: rule\.reason: must not hold U\+0000/,
      ],
      [with_(rule, (line) => line.replace('"access_rule"', '"rule"')), /^weir: line \d+ of FILE: rule\.kind: must be one of: /],
      [
        with_(named, (line) => line.replace('"action":"block"', '"action":"allow"')),
        /^weir: line \d+ of FILE: rule\.action: would become "block"$/,
      ],
      [
        with_(named, (line) => line.replace(/"expires_at":"[^"]*"/, '"expires_at":null')),
        /^weir: line \d+ of FILE: rule\.expires_at: would become "20/,
      ],
      [
        with_(named, (line) => line.replace(renewedTime, '$12050-01-01T00:00:00.000Z')),
        /^weir: line \d+ of FILE: rule\.expires_at: no signal that lands has this expiry/,
      ],
      [with_(waf, (line) => line.replace('"order":-5', '"order":0.5')), /^weir: line \d+ of FILE: rule\.order: must be an integer from /],
      [
        with_(waf, (line) => line.replace('"rule_ref":"w:1"', '"rule_ref":null')),
        /^weir: line \d+ of FILE: rule\.rule_ref: must be a string$/,
      ],
    ];
    for (const [faulty, sentence] of cases) {
      assert.notEqual(faulty, text, `${sentence} changes nothing`);
      assert.match(await refused(faulty), sentence);
    }
    assert.deepEqual(await managementOf(to), empty);
    // A file of an older weir is fine, and nothing is on the stream.
    const older = lines.filter((line) => !line.startsWith('{"repeat"')).map((line) => line.replace('"repeats":3,', ''));
    writeFileSync(whole, join(older));
    assert.equal((await outcome(to, 'import', whole, '--workspace', 'main')).code, 0);
  });

  test('D4 moving: mistakes of the command line are one sentence, exit 2', async (t) => {
    const settings = embedded(t);
    const folder = temporaryFolder(t);
    await emptyWorkspace(settings);
    const file = join(folder, 'main.ndjson');
    await json(settings, 'export', file, '--workspace', 'main');
    const cases: [string[], RegExp][] = [
      [['export', file, '--workspace', 'main'], /^weir: the file ".*main\.ndjson" exists already$/],
      [['export', join(folder, 'no', 'x'), '--workspace', 'main'], /^weir: ENOENT/],
      [['export', '--workspace', 'nobody'], /^weir: there is no workspace "nobody"$/],
      [['import', '--workspace', 'main'], /^weir: missing required argument 'file'$/],
      [['import', file, '--workspace', 'nobody'], /^weir: there is no workspace "nobody"$/],
      [
        ['import', join(folder, 'none'), '--workspace', 'main'],
        /^weir: the file ".*none" cannot be read; it must be a file, which is read twice$/,
      ],
      [['import', '-', '--workspace', 'main'], /^weir: the file "-" cannot be read; it must be a file, which is read twice$/],
      [['import', folder, '--workspace', 'main'], /^weir: the file ".*" cannot be read; it must be a file, which is read twice$/],
    ];
    for (const [args, sentence] of cases) {
      const { code, said } = await outcome(settings, ...args);
      assert.deepEqual([code, said.length], [2, 1], args.join(' '));
      assert.match(said[0], sentence);
    }
    const again = await command(['export', file, '--workspace', 'main'], settings);
    assert.equal(again.stderr, `weir: the file "${file}" exists already\n`, 'nothing was read before');
    const nowhere = { ...settings, DATABASE_URL: 'postgres://weir@127.0.0.1:1/weir' };
    assert.deepEqual(await outcome(nowhere, 'export', '--workspace', 'main'), {
      code: 2,
      said: ['weir: PostgreSQL does not answer: connect ECONNREFUSED 127.0.0.1:1'],
    });
  });
});

describe('D4 moving between the engines', { skip: noPostgres() || noKafkaAtAll() }, () => {
  let postgres: Postgres;
  let kafka: Awaited<ReturnType<typeof kafkaForTests>>;
  before(async () => {
    [postgres, kafka] = await Promise.all([startPostgres(), kafkaForTests()]);
  });
  after(() => Promise.all([postgres.stop(), kafka.stop()]));
  const topic = (name: string) => `moving-${name}-${process.pid}`;
  const scaled = async (t: TestContext, name: string): Promise<Settings> => ({
    ...embedded(t),
    DATABASE_URL: await postgres.createDatabase(),
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_TOPIC: topic(name),
  });

  test('D4 moving, D56.6 SQLite → PostgreSQL and Kafka → SQLite: the same rules, lists, keys and feeds at each place', async (t) => {
    const { settings: from, server: first, keys } = await filled();
    const places = [from, await scaled(t, 'there'), embedded(t)];
    const folder = temporaryFolder(t);
    const files = places.map((_, i) => join(folder, `${i}.ndjson`));
    const { lists } = await managementOf(places[0]);
    const feeds = await feedsOf(first, keys, lists);
    await json(places[0], 'export', files[0], '--workspace', 'main');
    for (const i of [1, 2]) {
      const server = await serve(t, places[i]);
      await emptyWorkspace(places[i]);
      const imported = await json(places[i], 'import', files[i - 1], '--workspace', 'main');
      assert.deepEqual([imported.rules, imported.unlanded, imported.new_list_ids, imported.known_keys], [15, 0, {}, []]);
      await equalWorkspaces(places[0], places[i]);
      await keysWork(server, keys);
      assert.deepEqual(await feedsOf(server, keys, lists), feeds);
      await json(places[i], 'export', files[i], '--workspace', 'main');
      assert.deepEqual(
        content(files[i]).filter((line) => !line.startsWith('{"key"')),
        content(files[0]).filter((line) => !line.startsWith('{"key"')),
      );
      await repeatsMoved(places[i], server, keys);
    }
  });

  test('D4 moving: settings that name another stream than the one the store lands are refused', async (t) => {
    const settings = await scaled(t, 'here');
    const server = await serve(t, settings);
    await post(server, KEY, '/v1/signal', V1);
    await eventually(async () => assert.match((await command(['rule', 'ls', '--workspace', 'default'], settings)).stdout, /192\.0\.2\.1/));
    const elsewhere = { ...settings, KAFKA_TOPIC: topic('elsewhere') };
    for (const args of [['export'], ['import', new URL(import.meta.url).pathname]]) {
      const { code, said } = await outcome(elsewhere, ...args, '--workspace', 'default');
      assert.deepEqual([code, said.length], [2, 1]);
      assert.match(
        said[0],
        /^weir: the store lands the stream \S+, but these settings name the stream \S+: set DATA_DIR or KAFKA_BROKERS as the server has them$/,
      );
    }
  });
});

test('D1.18, D4.11, D45.1 rules and dead letters with instants of another producer can be shown, exported and imported, by whom the import names', async (t) => {
  const [from, to] = [embedded(t), embedded(t)];
  const file = join(temporaryFolder(t), 'main.ndjson');
  await emptyWorkspace(from);
  const store = await openSqliteStore(from.DATA_DIR);
  const [{ id: workspaceId }] = await store.workspaces();
  const far = Date.UTC(9999, 11, 31, 23, 59, 59);
  const instants = [-1, far, 253_402_300_800_000, 8_640_000_000_000_001, Number.MAX_SAFE_INTEGER];
  const records = instants.map((timestamp, offset) => ({ offset, timestamp, key: workspaceId, headers: {}, value: '{}' }));
  const items = records.map((record, i) => {
    const target = { kind: 'asn', asn: i + 1 } as const;
    const given = { name: null, reason: null, labels: null, config: null, confidence: null, severity: null };
    const rule: AccessRule = { ...given, ruleRef: `r${i}`, action: 'block', target, expiresAt: far + 1000 * i };
    return {
      record,
      workspaceId,
      listId: null,
      receivedAt: record.timestamp,
      batchId: null,
      keyId: null,
      change: { change: 'upsert', kind: 'access_rule', rule } as const,
    };
  });
  const stream = openSqliteStream(from.DATA_DIR);
  await stream.publish(records);
  const streamId = await stream.id();
  const poison = records.map((record) => ({ record, reason: 'not understood' }));
  await store.apply({ streamId, partition: 0, from: null, to: records.length, items, poison, now: Date.now() });
  await stream.close();
  await store.close();

  const letters = await json<Row[]>(from, 'dead-letter', 'ls');
  assert.deepEqual(
    letters.map(({ timestamp }) => timestamp),
    ['1970-01-01T00:00:00.000Z', '9999-12-31T23:59:59.000Z', ...Array(3).fill('9999-12-31T23:59:59.999Z')],
  );
  const ids = letters.map(({ id }) => String(id));
  assert.equal((await outcome(from, 'dead-letter', 'replay', ...ids)).code, 0);
  const shown = await rulesOf(from);
  assert.deepEqual([shown.length, shown.filter(({ created_at }) => created_at === '1970-01-01T00:00:00.000Z').length], [5, 1]);

  const server = await serve(t, from);
  await eventually(async () => assert.equal((await json<Row[]>(from, 'dead-letter', 'ls')).length, 5));
  await server.kill('SIGKILL');
  assert.equal((await json(from, 'export', file, '--workspace', 'main')).rules, 5);
  await serve(t, to);
  await emptyWorkspace(to);
  assert.equal((await json(to, 'import', file, '--workspace', 'main', '--actor', 'Jana')).rules, 5);
  assert.deepEqual(
    (await rulesOf(to)).map(({ target, actor }) => [target, actor]).sort(),
    ['AS1', 'AS2', 'AS3', 'AS4', 'AS5'].map((asn) => [asn, 'Jana']),
  );
});

test('D4 moving: a stream that was set back is refused: nothing would land', async (t) => {
  const settings = embedded(t);
  await emptyWorkspace(settings);
  const file = join(temporaryFolder(t), 'main.ndjson');
  await json(settings, 'export', file, '--workspace', 'main');
  const [store, stream] = [await openSqliteStore(settings.DATA_DIR), openSqliteStream(settings.DATA_DIR)];
  const batch = { streamId: await stream.id(), partition: 0, from: null, to: 5, items: [], poison: [], now: Date.now() };
  assert.equal(await store.apply(batch), 'landed');
  await store.close();
  await stream.close();
  assert.deepEqual(await outcome(settings, 'import', file, '--workspace', 'main'), {
    code: 2,
    said: ["weir: the store's position is outside the stream, so landing has stopped; /readyz of a consumer says what to do"],
  });
});

test('D4 moving 25,000 rules: export and import stream them, with less memory than the file has bytes', async (t) => {
  const RULES = 25_000;
  const [from, to] = [embedded(t), embedded(t)];
  const file = join(temporaryFolder(t), 'main.ndjson');
  const old = await serve(t, from);
  await emptyWorkspace(from);
  const writer = await key(from);
  const labels = { note: 'x'.repeat(1100) };
  for (let at = 0; at < RULES; at += 1000) {
    const batch = Array.from({ length: 1000 }, (_, i) => {
      const n = at + i;
      return access({ ip: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` }, {}, { rule_ref: `r${n}`, labels, expires_in: 86_400 + n });
    });
    await post(old, writer.key, '/v2/signal', batch);
  }
  // The rules as text alone are more than this heap.
  const small = { NODE_OPTIONS: '--max-old-space-size=32 --max-semi-space-size=4' };
  const exported = await weir(['export', file, '--workspace', 'main', '--json'], { ...from, ...small });
  assert.equal(exported.code, 0, exported.stderr);
  assert.equal(JSON.parse(exported.stdout).rules, RULES);
  assert.ok(readFileSync(file).length > 34 * 1024 * 1024);

  const server = await serve(t, to);
  await emptyWorkspace(to);
  const { code, stdout, stderr } = await weir(['import', file, '--workspace', 'main', '--json'], { ...to, ...small });
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).unlanded, 0);
  assert.match(stderr, /checking .* 100% \| 25000 rules/);
  assert.match(stderr, /importing .* 100% \| 25000 rules/);
  const bodies = [];
  for (const { url } of [old, server]) bodies.push((await getFeed(url, writer.key, '?format=csv_indicator')).text);
  assert.equal(bodies[1], bodies[0]);
});
