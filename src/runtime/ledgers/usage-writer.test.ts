import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../../../test/support/folder.ts';
import type { SeenDevice } from '../../account/device.ts';
import { FeedSizes } from '../../feed/monitor/feed-sizes.ts';
import type { SeenDevices } from '../../ports/devices.ts';
import { openSqliteStore } from '../../store/sqlite/store.ts';
import { loggedChecks } from '../check-log.ts';
import { startAuditLog } from './audit-log.ts';
import { startUsageWriter } from './usage-writer.ts';

const T0 = 1_800_000_000_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

test('D16.10 a device that stops has one line, one that is back another, of many devices 20 and a sum', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  const { id: workspaceId } = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
  const named = {
    name: 'fw',
    prefix: 'weir_abcd',
    permissions: ['feed:read' as const],
    listId: null,
    feedId: null,
    expiresAt: null,
    networks: [],
  };
  const { id: fw } = await store.createKey(workspaceId, { ...named, hash: Buffer.alloc(32) });
  const lines: string[] = [];
  let now = T0;
  const seen: SeenDevice[] = [];
  const take = (): SeenDevices => ({ devices: seen.splice(0), refused: [] });
  const past = startUsageWriter({
    store,
    devices: { take, takeNew: () => [], onNew() {} },
    sizes: new FeedSizes(),
    log: (level, line) => lines.push(`${level} ${line}`),
    now: () => now,
  });
  const counts = { ok: 1, notModified: 0, refused: 0, failed: 0, lastStatus: 200, validates: false, documents: [], refusals: [] };
  const pull = (n: number, pulls: number, firstPull: number, lastPull: number) =>
    seen.push({ workspaceId, keyId: fw, userAgent: 'fire"wall', address: `192.0.2.${n}`, pulls, firstPull, lastPull, ...counts });
  for (let n = 0; n < 22; n += 1) pull(n, 6, T0, T0 + 5 * MINUTE);
  pull(99, 2, T0, T0 + MINUTE);
  now = T0 + 5 * MINUTE;
  await past.write();
  assert.deepEqual([lines, past.counts()], [[], { pulling: 22, stopped: 0 }]);

  now = T0 + 15 * MINUTE;
  await past.write();
  await past.write();
  assert.equal(lines.length, 21);
  assert.match(
    lines[0]!,
    /^warn device stopped pulling: "fire\\"wall" at 192\.0\.2\.\d+, key "fw", workspace "main", last at 2027-.*Z, usually every 60 s$/,
  );
  assert.equal(lines[20], 'warn 2 other devices stopped pulling');
  assert.deepEqual(past.counts(), { pulling: 0, stopped: 22 });

  lines.length = 0;
  now = T0 + 65 * MINUTE;
  pull(3, 1, now, now);
  await past.stop();
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /^info device pulls again: "fire\\"wall" at 192\.0\.2\.3, key "fw", .*, after 60 minutes$/);

  // A process that has run for less long than a device may be silent says nothing of it: the service may have been down.
  lines.length = 0;
  now += DAY;
  const young = startUsageWriter({
    store,
    devices: { take, takeNew: () => [], onNew() {} },
    sizes: new FeedSizes(),
    log: (level, line) => lines.push(`${level} ${line}`),
    now: () => now,
  });
  await young.write();
  assert.deepEqual(lines, []);
  await store.close();
  await young.write();
  await young.write();
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /^warn device activity could not be written: /);
  await young.stop();
});

test('D16.3 changes of others are logged once; what was there before is not', async (t) => {
  const store = await openSqliteStore(temporaryFolder(t));
  t.after(() => store.close());
  await store.createOrganization('acme', 'active');
  const lines: string[] = [];
  const stop = startAuditLog(store, (level, line) => lines.push(`${level} ${line}`));
  await new Promise(setImmediate);
  const { id } = await store.createOrganization('globex', 'active');
  await stop();
  assert.deepEqual(lines, [`info organization created: ${id}`]);
});

test('D16.3 where the store fails the first look, what was there before is still not logged', async () => {
  const by = { keyId: null, actor: null };
  const before = { id: 1, at: 0, event: 'list created', object: 'list_1', by, change: null, workspaceId: null };
  let fails = true;
  async function auditSince() {
    if (!fails) return [before];
    fails = false;
    throw new Error('the store is away');
  }
  const lines: string[] = [];
  const stop = startAuditLog({ newestAudit: async () => before.id, auditSince }, (_level, message) => lines.push(message));
  await stop();
  assert.deepEqual([fails, lines], [false, []]);
});

test('D16.3 the store is told to be lost once, and once to be there again', async () => {
  const lines: string[] = [];
  let store = { ok: true } as { ok: boolean; reason?: string };
  const ready = loggedChecks(
    async () => ({ store, landing: { ok: false } }),
    (level, line) => lines.push(`${level} ${line}`),
  );
  await ready();
  store = { ok: false, reason: 'it does not answer' };
  await ready();
  assert.deepEqual(await ready(), { store, landing: { ok: false } });
  store = { ok: true };
  await ready();
  await ready();
  assert.deepEqual(lines, ['error the store is not ready: it does not answer', 'info the store is available again']);
});
