/**
 * The data of a release: a backup with rules of all kinds, half of them as messages that have not landed, and the facts read from it.
 * `npm run set-version` adds both to this folder; of the releases before, the data and its feed stay.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import about from '../../../package.json' with { type: 'json' };
import { encodeMessage, encodeOperation } from '../../../src/signal/message/encode.ts';
import { openSqliteStream } from '../../../src/stream/sqlite/stream.ts';
import { command, commandJson } from '../../support/command.ts';
import { temporaryFolder } from '../../support/folder.ts';
import { smallGeo } from '../../support/geo.ts';
import { ask, bearer, getFeed, postSignals } from '../../support/http.ts';
import { eventually, KEY, startWeir } from '../../support/weir.ts';
import { type Interface, readInterface } from './interface.ts';

const TOKEN = 'metrics-token-0123456789';
const HERE = ['--workspace', 'default'];
const ADDRESS = '233.252.0.1';
/** s */
const CENTURY = 3_155_760_000;

/** Commands with `--json`; what follows the name is not part of it. */
const READS: readonly (readonly [name: string, ...rest: string[]])[] = [
  ...['org ls', 'workspace ls', 'target ls', 'source catalogue', 'dead-letter ls', 'geo status', 'audit ls', 'status'].map(
    (name) => [name] as const,
  ),
  ...['key ls', 'device ls', 'list ls', 'list deleted', 'feed ls', 'feed deleted', 'source ls', 'rule ls', 'batch ls', 'history'].map(
    (name) => [name, ...HERE] as const,
  ),
  ['source show', 'vendor', ...HERE],
  ['lookup', ADDRESS, ...HERE],
  ['expression check', 'http.host eq "a"', '--kind', 'waf_rule'],
  ['migrate', '--check'],
];

const words = (all: Iterable<string>) => [...new Set(all)].sort().join(' ');

function* membersOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield* Object.keys(value);
  for (const inner of Object.values(value)) yield* membersOf(inner);
}

/**
 * Starts weir on `dataDir`, lands everything, and reads feed, members of `--json` (of all commands, unless `isOld`) and labels of metrics.
 * `exported`: a file of `weir export`, imported into another workspace.
 */
export async function readData(
  folder: string,
  dataDir: string,
  { exported, isOld }: { exported?: string; isOld?: boolean } = {},
): Promise<Pick<Interface, 'feed' | 'json' | 'labels'>> {
  const settings = { DATA_DIR: dataDir, ...smallGeo(folder), METRICS_TOKEN: TOKEN };
  const weir = await startWeir(settings);
  try {
    await eventually(async () => {
      const { text } = await ask(weir.url, '/metrics', { headers: bearer(TOKEN) });
      if (!/^weir_landing_lag_messages 0$/m.test(text)) throw new Error(text);
    });
    const { text: feed } = await getFeed(weir.url, KEY, '/edge');
    const json = [];
    for (const [name, ...rest] of isOld ? [] : READS) {
      const { stdout, stderr } = await command([...name.split(' '), ...rest, '--json'], settings);
      if (stdout === '') throw new Error(`weir ${name}: ${stderr}`);
      json.push([name, words(membersOf(JSON.parse(stdout)))]);
    }
    const { text } = await ask(weir.url, '/metrics', { headers: bearer(TOKEN) });
    const labels = new Map<string, string[]>();
    for (const [, name, all] of text.matchAll(/^(weir_\w+?)(?:_bucket|_sum|_count)?\{(.*)\} /gm))
      labels.set(name!, [...(labels.get(name!) ?? []), ...[...all!.matchAll(/(\w+)="/g)].map(([, label]) => label!)]);
    const labelled = [...labels].map(([name, all]) => [name, words(all.filter((label) => label !== 'le'))]);
    if (exported !== undefined) {
      await commandJson(['workspace', 'create', 'moved', '--org', 'default'], settings);
      const { rules, unlanded } = await commandJson<{ rules: number; unlanded: number }>(
        ['import', exported, '--workspace', 'moved'],
        settings,
      );
      if (rules < 5 || unlanded > 0) throw new Error(`${rules} rules imported, ${unlanded} not landed`);
    }
    return { feed, json: Object.fromEntries(json), labels: Object.fromEntries(labelled) };
  } finally {
    await weir.kill('SIGTERM');
  }
}

const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip, expiration: CENTURY }) as const;
const typed = (ip: string, rest: object = {}) => ({
  schema_version: 2 as const,
  kind: 'access_rule' as const,
  op: 'upsert' as const,
  reason: 'scan',
  labels: { team: 'edge' },
  rule: { target: { ip }, action: 'block' as const, config: { confidence: 'high' as const, severity: 'low' as const } },
  expires_in: CENTURY,
  ...rest,
});
const expression = (kind: 'waf_rule' | 'smart_firewall_rule', rule_ref: string) => ({
  schema_version: 2 as const,
  kind,
  op: 'upsert' as const,
  rule_ref,
  rule: {
    name: 'one',
    type: 'custom' as const,
    expression: kind === 'waf_rule' ? 'http.host eq "a"' : 'ip.src eq 192.0.2.1',
    action: 'block' as const,
  },
});

async function makeData(folder: string, dataDir: string): Promise<void> {
  const settings = { DATA_DIR: dataDir, ...smallGeo(folder) };
  const weir = await startWeir({ ...settings, BOOTSTRAP_API_KEY: KEY });
  const run = (...args: string[]) => commandJson([...args, ...HERE], settings);
  for (const name of ['edge', 'old']) await run('list', 'create', name, '--description', name);
  await run('feed', 'create', 'all', '--all-lists');
  await run('feed', 'create', 'former', '--all-lists');
  await run('feed', 'delete', 'former', '--yes');
  await run('list', 'delete', 'old', '--yes');
  await run('source', 'add', 'vendor', 'https://lists.invalid/a.txt');
  await run('source', 'pause', 'vendor');
  await run('key', 'create', '--name', 'reader', '--permission', 'feed:read');
  await postSignals(weir.url, KEY, [block(ADDRESS), block('233.252.0.0/30'), block('2001:db8:1::/48')], '/v1/signal?list=edge');
  const all = [typed('233.252.0.64/26', { rule_ref: 'a' }), expression('waf_rule', 'w'), expression('smart_firewall_rule', 's')];
  await postSignals(weir.url, KEY, all, '/v2/signal?list=edge');
  await getFeed(weir.url, KEY, '/edge');
  const batches = await eventually(async () => {
    const found = await commandJson<{ id: string }[]>(['batch', 'ls', ...HERE], settings);
    if (found.length < 2) throw new Error('not landed');
    return found;
  });
  await weir.kill('SIGTERM');

  const [workspace] = await commandJson<{ id: string; organization_id: string }[]>(['workspace', 'ls'], settings);
  const lists = await commandJson<{ id: string; name: string }[]>(['list', 'ls', ...HERE], settings);
  const context = {
    workspaceId: workspace!.id,
    organizationId: workspace!.organization_id,
    listId: lists.find(({ name }) => name === 'edge')!.id,
    receivedAt: Date.now(),
  };
  const id = (n: number) => ({ ...context, signalId: `0195a000-0000-7000-8000-000000000${100 + n}` });
  const stream = openSqliteStream(dataDir);
  await stream.publish([
    { key: 'nobody', headers: { schema_version: '9' }, value: 'no signal' },
    encodeMessage({ version: 1, event: block('233.252.0.128/25') }, id(1)),
    encodeMessage({ version: 1, event: { ...block(ADDRESS), action: 'unblock', expiration: undefined } }, id(2)),
    encodeMessage({ version: 2, envelope: typed('2001:db8:2::/48') }, id(3)),
    encodeMessage({ version: 2, envelope: typed('', { rule: { target: { country: 'NL' }, action: 'block' } }) }, id(4)),
    encodeMessage({ version: 2, envelope: expression('waf_rule', 'x') }, id(5)),
    encodeMessage({ version: 2, envelope: expression('smart_firewall_rule', 'y') }, id(6)),
    encodeMessage({ version: 2, envelope: { schema_version: 2, kind: 'waf_rule', op: 'delete', rule_ref: 'w' } }, id(7)),
    encodeOperation({ change: 'delete_rules', kind: 'access_rule', ids: [1] }, id(8)),
    encodeOperation({ change: 'undo', batchId: batches[0]!.id }, id(9)),
  ]);
  await stream.close();
}

if (import.meta.main) {
  const folder = temporaryFolder({ after: () => {} });
  const at = (name: string) => join(import.meta.dirname, name);
  await makeData(folder, join(folder, 'data'));
  await commandJson(['backup', join(folder, 'backup')], { DATA_DIR: join(folder, 'data') });
  const facts = { ...(await readInterface()), ...(await readData(folder, join(folder, 'data'))) };
  await commandJson(['export', join(folder, 'export.ndjson'), ...HERE], { DATA_DIR: join(folder, 'data') });
  for (const name of globSync('*.json', { cwd: at('') })) {
    const { feed } = JSON.parse(readFileSync(at(name), 'utf8'));
    writeFileSync(at(name), `${JSON.stringify({ feed }, null, 2)}\n`);
  }
  const pack = ['--sort=name', '--owner=0', '--group=0', '-I', 'gzip -9n', '-cf', at(`${about.version}.tar.gz`)];
  execFileSync('tar', [...pack, '-C', folder, 'backup', 'export.ndjson']);
  writeFileSync(at(`${about.version}.json`), `${JSON.stringify(facts, null, 2)}\n`);
  process.exit();
}
