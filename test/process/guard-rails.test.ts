/** The guard rails of the service (SPEC D7.1), as an operator sets them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '../../src/config.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { postSignals } from '../support/http.ts';
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
