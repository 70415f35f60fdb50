import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startStatusFile } from './status-file.ts';

test('D10.15 a process that has stopped leaves no status, whatever changes while it closes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const folder = mkdtempSync(join(tmpdir(), 'weir-status-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const turns = async () => {
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  };
  const status = { pid: process.pid, url: '', roles: [], startedAt: 0, checks: {}, feeds: [] } as never;
  const file = startStatusFile(folder, async () => status, assert.fail);
  await turns();
  assert.equal(readdirSync(folder).length, 1);
  const stopping = file.stop();
  file.soon();
  await stopping;
  t.mock.timers.tick(60_000);
  await turns();
  assert.deepEqual(readdirSync(folder), []);
});
