import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/folder.ts';
import type { AuditReads } from '../../ports/stored/audit.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import { startAuditExport } from './audit-export.ts';

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('D59.1, D59.2 each audit event is a line, also what was there before, after a restart and while the file cannot be written', async (t) => {
  const dataDir = temporaryFolder(t);
  const path = join(dataDir, 'logs', 'audit.json');
  const store = await openSqliteStore(dataDir);
  t.after(() => store.close());
  const log: string[] = [];
  const run = async (work: () => Promise<unknown>, at = path) => {
    const stop = startAuditExport(store, { path: at, dataDir, stdout: new PassThrough() }, Date.now, (level, line) =>
      log.push(`${level} ${line}`),
    );
    await work();
    await stop();
  };
  const { id } = await store.createOrganization('acme', 'active', { keyId: null, actor: 'Renée' });
  let workspace = '';
  await run(async () => {
    ({ id: workspace } = await store.createWorkspace(id, 'edge'));
  });
  assert.equal(statSync(path).mode & 0o777, 0o640);
  renameSync(path, `${path}.1`);
  // In the place of the file.
  mkdirSync(path);
  const { id: list } = await store.createList(workspace, 'scanners', {} as never);
  await run(async () => {});
  assert.match(log.join('\n'), /^error audit events cannot be written to .+, and are written later: EISDIR/);
  rmdirSync(path);
  await run(() => store.deleteList(workspace, list));
  const [before, later] = [`${path}.1`, path].map((file) => linesOf(readFileSync(file, 'utf8')));
  assert.deepEqual(
    before.map(({ message }) => message),
    ['organization created', 'list created', 'workspace created'],
  );
  assert.deepEqual(
    later.map(({ message, type_uid }) => [message, type_uid]),
    [
      ['list created', 300401],
      ['list deleted', 300404],
    ],
  );
  const [first] = before;
  assert.deepEqual(first.actor, { user: { name: 'Renée' } });
  assert.deepEqual([later[0].entity, later[0].unmapped.workspace], [{ type: 'list', uid: list }, workspace]);
  assert.deepEqual(
    [...before, ...later].map(({ metadata }) => Number(metadata.uid)),
    [...before, ...later].map((_, n) => n + 1),
  );
});

test('D59.2 of thousands of events that become visible late and in disorder, none is lost or written twice', async (t) => {
  const now = 1_000_000_000;
  const all = Array.from({ length: 5_000 }, (_, n) => n + 1);
  const rowOf = (id: number) => ({
    id,
    at: now - 60_000,
    event: 'key created',
    object: 'k',
    by: { keyId: null, actor: null },
    change: null,
    workspaceId: null,
  });
  const visible = new Set(all.filter((id) => id % 7 !== 0));
  const store: AuditReads = {
    newestAudit: async () => 0,
    auditSince: async (after, limit) =>
      all
        .filter((id) => id > after && visible.has(id))
        .slice(0, limit)
        .map(rowOf),
  };
  const stdout = new PassThrough();
  let text = '';
  stdout.on('data', (chunk) => {
    text += chunk;
  });
  const dataDir = temporaryFolder(t);
  const run = async () => {
    await startAuditExport(
      store,
      { path: '-', dataDir, stdout },
      () => now,
      () => {},
    )();
    return linesOf(text).map(({ metadata }) => Number(metadata.uid));
  };
  assert.deepEqual(await run(), [...visible]);
  for (const id of all) visible.add(id);
  assert.deepEqual(
    (await run()).sort((a, b) => a - b),
    all,
  );
});
