/** The guard rails of the service (SPEC D7.1), as an operator sets them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '../../src/config.ts';
import { commandJson, commandText } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { ask, bearer, postSignals } from '../support/http.ts';
import { eventually, KEY, startWeir } from '../support/weir.ts';

const block = (ip: string) => ({ type: 'access_rules', action: 'block', ip });

test('D7.1, D7.2 the settings hold for every workspace; self are the addresses of this machine and of its proxies', async (t) => {
  const folder = temporaryFolder(t);
  const [own] = Object.values(networkInterfaces()).flatMap((each = []) => each);
  const weir = await startWeir({
    ...smallGeo(folder),
    DATA_DIR: join(folder, 'data'),
    PROTECTED_NETWORKS: 'special, self',
    MIN_PREFIX_V4: '8',
    MIN_PREFIX_V6: '19',
    TRUST_PROXY: '198.51.100.0/30,2a00::/32',
    FEED_REBUILD_SECONDS: '0',
  });
  t.after(() => weir.kill('SIGKILL'));
  const { stdout, stderr } = weir.output();
  assert.doesNotMatch(stderr, /guard rails/);
  // The example that is printed can be pasted all the same.
  const curls = stdout.split('\n').filter((line) => /^\s*curl /.test(line));
  await eventually(async () => {
    const pasted = await promisify(execFile)('sh', ['-c', curls.join('\n')]);
    assert.equal(pasted.stdout, '{"success":true,"message":"Processed 1 entries, 0 failed"}233.252.0.1/32\n');
  });

  const key = /weir_[\w-]+/.exec(stdout)![0];
  const { status, text } = await postSignals(weir.url, key, [
    block('0.0.0.0/0'),
    block(own!.address),
    block('2a00:0:1::'),
    block('2a01::/18'),
    block('8.8.8.8'),
  ]);
  const { message, errors } = JSON.parse(text) as { message: string; errors: string[] };
  assert.deepEqual([status, message], [206, 'Processed 1 entries, 4 failed']);
  assert.match(errors[0]!, /is wider than \/8, .*; ip: overlaps the protected network 0\.0\.0\.0\/8 \(special\)$/);
  assert.match(errors[1]!, /overlaps the protected network .* \((special|self)\)$/);
  assert.match(errors[2]!, /overlaps the protected network 2a00::\/32 \(self\)$/);
  assert.match(errors[3]!, /is wider than \/19, /);
});

test('D62.1, D62.2, D62.3, D62.4, D62.6 `peers` protects the own clients of a workspace, until their key is revoked', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), TRUST_PROXY: '127.0.0.1', FEED_REBUILD_SECONDS: '0' };
  const weir = await startWeir(settings);
  t.after(() => weir.kill('SIGKILL'));
  const keyOf = (name: string, workspace: string) =>
    commandJson<{ id: string; key: string }>(
      [
        'key',
        'create',
        '--name',
        name,
        ...['signal:write', 'feed:read', 'manage'].flatMap((each) => ['--permission', each]),
        '--workspace',
        workspace,
      ],
      settings,
    );
  await commandText(['org', 'create', 'acme'], settings);
  for (const name of ['one', 'two']) await commandText(['workspace', 'create', name, '--org', 'acme'], settings);
  const [sender, device, other] = [await keyOf('ids', 'one'), await keyOf('fw "berlin"', 'one'), await keyOf('fw', 'two')];
  const from = (address: string | undefined, { key }: { key: string }, target: string, body?: object[]) =>
    ask(weir.url, target, {
      headers: { ...bearer(key), ...(address !== undefined && { 'x-forwarded-for': address }) },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
  const errors = async (ip: string, by = sender) =>
    ((JSON.parse((await from('192.0.2.9', by, '/v1/signal?dry_run=1', [block(ip)])).text) as { errors?: string[] }).errors ?? []).join();
  const feed = (by = device) => from('2001:db8::7', by, '/v1/threat/feeds').then(({ text }) => text);

  // Before it is on, an own address can be blocked, and nothing is stored.
  assert.equal((await from('192.0.2.9', sender, '/v1/signal', [block('2001:db8::/64'), block('192.0.2.9'), block('8.8.8.8')])).status, 200);
  await eventually(async () => assert.match(await feed(), /^8\.8\.8\.8\/32\n192\.0\.2\.9\/32\n2001:db8::\/64\n$/));
  await commandText(['workspace', 'set', 'one', '--protect', 'peers'], settings);
  await eventually(async () => {
    // Neither the proxy itself nor a private address is a peer.
    for (const address of [undefined, '10.0.0.1', '2001:db8::7'])
      assert.equal((await from(address, device, '/v1/threat/feeds')).status, 200);
    assert.match(
      await errors('2001:db8::/32'),
      /overlaps the protected network 2001:db8::7 \(peers: key "fw \\"berlin\\"", last used on 20\d\d-/,
    );
    assert.match(await errors('192.0.2.9'), /overlaps the protected network 192\.0\.2\.9 \(peers: key "ids", last used on /);
  });
  await eventually(async () => {
    const text = await feed();
    assert.match(text, /^8\.8\.8\.8\/32\n2001:db8::\/126\n/);
    assert.ok(!text.includes('192.0.2.9') && !text.includes('2001:db8::7'));
  });
  const answer = JSON.parse((await from('192.0.2.9', sender, '/v1/manage/workspace')).text) as { peers: { address: string }[] };
  assert.deepEqual(
    answer.peers.map(({ address }) => address),
    ['192.0.2.9', '2001:db8::7'],
  );
  assert.deepEqual([await errors('127.0.0.1'), await errors('10.0.0.1')], ['', '']);
  // Another workspace neither has these peers, nor are its own protected without the word.
  await feed(other);
  assert.equal(await errors('192.0.2.9', other), '');
  // A third way: such a block lands, and is reported.
  await commandText(['workspace', 'set', 'one', '--protect', 'warn:peers,warn:2001:db8::/64'], settings);
  const overlap = /^192\.0\.2\.9: overlaps the protected network 192\.0\.2\.9 \(peers: key "ids", last used on /;
  await eventually(async () => {
    const { status, text } = await from('192.0.2.9', sender, '/v2/signal', [
      { kind: 'access_rule', op: 'upsert', rule: { action: 'block', target: { ip: '192.0.2.9' } } },
    ]);
    assert.equal(status, 200);
    assert.match(((JSON.parse(text) as { warnings?: string[] }).warnings ?? []).join(), overlap);
  });
  await eventually(async () => {
    const { batches } = JSON.parse((await from('192.0.2.9', sender, '/v1/manage/batches')).text) as { batches: { id: string }[] };
    const { text } = await from('192.0.2.9', sender, `/v1/manage/batches/${batches.at(-1)!.id}`);
    const { warned } = JSON.parse(text) as { warned: { rules: number; first: { target: string; why: string }[] } };
    assert.deepEqual([warned.rules, warned.first.map(({ target }) => target)], [1, ['2001:db8::/64']]);
  });
  await eventually(async () => {
    assert.match(await feed(), /^8\.8\.8\.8\/32\n192\.0\.2\.9\/32\n2001:db8::\/64\n$/);
    const reported = (
      JSON.parse((await from('192.0.2.9', sender, '/v1/manage/status')).text) as { items: { state: string; text: string }[] }
    ).items;
    const [{ text } = { text: '' }] = reported.filter(({ state }) => state === 'warned');
    assert.match(
      text,
      /blocks addresses of protected networks: 192\.0\.2\.9 \(peers: key "ids", last used on .*\), 2001:db8::7 \(peers: .*\), 2001:db8::\/64 /,
    );
  });
  await commandText(['workspace', 'set', 'one', '--protect', 'peers'], settings);
  await eventually(async () => assert.notEqual(await errors('2001:db8::7'), ''));
  // The holder of a stolen key protects nothing once it is revoked.
  await commandText(['key', 'revoke', device.id, '--workspace', 'one', '--yes'], settings);
  await eventually(async () => assert.equal(await errors('2001:db8::7'), ''));
});

test('D7.1 the first start without guard rails says so in one line of the log, a later one does not', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY };
  const lines: number[] = [];
  for (let start = 0; start < 2; start++) {
    const weir = await startWeir(settings);
    assert.equal(await weir.kill('SIGTERM'), 0);
    const { stderr } = weir.output();
    lines.push(stderr.split('\n').filter((line) => line.includes('guard rails are off')).length);
  }
  assert.deepEqual(lines, [1, 0]);
});

test('D7.1 docs: .env.example and compose.yaml switch them on, as the page about running weir says', () => {
  const ON = { PROTECTED_NETWORKS: 'private,special', MIN_PREFIX_V4: '8', MIN_PREFIX_V6: '19' };
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const set = (file: string, line: RegExp) => Object.fromEntries([...read(file).matchAll(line)].map(([, name, value]) => [name, value]));
  assert.deepEqual(set('.env.example', /^([A-Z_0-9]+)=(.*)$/gm), ON);
  for (const [name, value] of Object.entries(ON)) {
    assert.equal(set('compose.yaml', /^ {2}([A-Z_0-9]+): (.*)$/gm)[name], value);
    assert.match(read('docs/deployment.md'), new RegExp(`^${name}=${value}$`, 'm'));
  }
  assert.ok('config' in readConfig(ON));
});
