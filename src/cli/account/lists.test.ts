import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/folder.ts';
import { runCommandLine } from '../program.ts';

const SETTINGS = {
  description: 'hosts that scan us',
  format: 'set_elements',
  family: 'v4',
  action: 'allow',
  max_entries: '300000',
  confidence: 'low',
  severity: 'critical',
};

test('D1.7 weir list set: a setting is stored, an empty value unsets it, what is not named stays', async (t) => {
  const environment = { DATA_DIR: temporaryFolder(t) };
  const weir = async (...args: string[]) => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    assert.equal(await runCommandLine([...args, '--json'], { environment, stdout, stderr }), 0, String(stderr.read()));
    return JSON.parse(String(stdout.read()));
  };
  await weir('org', 'create', 'acme');
  await weir('workspace', 'create', 'edge', '--org', 'acme');
  const given = Object.entries(SETTINGS).flatMap(([name, value]) => [`--${name.replace('_', '-')}`, value]);
  let expected = await weir('list', 'create', 'scanners', '--workspace', 'edge', ...given);
  assert.deepEqual(Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, String(expected[name])])), SETTINGS);
  for (const name of Object.keys(SETTINGS)) {
    expected = { ...expected, [name]: null };
    assert.deepEqual(await weir('list', 'set', 'scanners', '--workspace', 'edge', `--${name.replace('_', '-')}`, ''), expected);
  }
});
