import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HitReport } from '../../ports/history.ts';
import { hitRecorder } from './hit-recorder.ts';
import { hitWindows } from './hits.ts';

const item = (origin: unknown, value: unknown, unit = 'packet', name = 'dropped') => ({
  name,
  value,
  unit,
  labels: { origin, ip_type: 'ipv4' },
});
const report = (items: unknown, at: unknown = 1_800_000_000) => ({
  remediation_components: [{ type: 'firewall', utc_startup_timestamp: 7, metrics: [{ meta: { utc_now_timestamp: at }, items }] }],
});

test('D31.4 of usage metrics what was dropped is counted by the lists that they name; all else of none, or not at all', () => {
  const items = [
    item('lists:edge', 3),
    item('lists:edge', 4.4),
    item('lists:edge', 900, 'byte'),
    item('lists:other "list"', 1, 'request'),
    item('weir', 5),
    item('lists:', 1),
    { name: 'dropped', value: 2, unit: 'packet' },
    item('lists:edge', 70, 'packet', 'processed'),
    item('lists:edge', 'x'),
    item('lists:edge', -3),
    item('lists:huge', 1e300),
  ];
  const [{ digest, hits }] = hitWindows(report(items), 'key');
  assert.deepEqual(hits, [
    { list: 'edge', packets: 7, bytes: 900 },
    { list: 'other "list"', packets: 1, bytes: 0 },
    { list: null, packets: 7, bytes: 0 },
    { list: '', packets: 1, bytes: 0 },
    { list: 'huge', packets: 1e12, bytes: 0 },
  ]);
  assert.match(digest!, /^[\w-]{22}$/);
});

test('D31.5 a window is named by its key, its client, its time and what it has; without a time by nothing', () => {
  const items = [item('lists:edge', 3)];
  const digest = (body: object, key = 'key') => hitWindows(body as Record<string, unknown>, key)[0]!.digest;
  assert.equal(digest(report(items)), digest(report(items)));
  const others = [digest(report(items), 'other'), digest(report(items, 1)), digest(report([item('lists:edge', 4)]))];
  assert.equal(new Set([digest(report(items)), ...others]).size, 4);
  assert.equal(digest(report(items, 'x')), null);
  for (const empty of [{}, report([]), report([item('lists:edge', 0)]), { remediation_components: [[], { metrics: [null, 7] }] }])
    assert.deepEqual(hitWindows(empty, 'key'), []);
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  const odd = { remediation_components: [{ type: deep, metrics: [{ meta: { utc_now_timestamp: 1, deep }, deep, items }] }] };
  assert.equal(hitWindows(odd, 'key').length, 1);
  const names = Array.from({ length: 3000 }, (_, n) => item(`lists:${n}`, 1));
  assert.deepEqual(hitWindows(report(names), 'key')[0]!.hits.at(-1), { list: null, packets: 2500, bytes: 0 });
});

test('D31.5 reports of a workspace that wait share a transaction, workspaces take turns, and who has too many that wait is told', async () => {
  const written: string[] = [];
  const counted: [string | null, number][] = [];
  const errors: string[] = [];
  let isDown = false;
  let go: () => void = () => {};
  const store = {
    async recordHits(workspaceId: string, reports: readonly HitReport[]) {
      written.push(`${workspaceId} ${reports.length}`);
      if (written.length === 1) await new Promise<void>((resolve) => (go = resolve));
      if (isDown) throw new Error('down');
      return new Map([[workspaceId, reports.length]]);
    },
  };
  const record = hitRecorder(
    store,
    () => 0,
    (list, hits) => counted.push([list, hits]),
    ({ message }) => errors.push(message),
  );
  const one: HitReport = { listId: null, windows: [] };
  const asked = [record('loud', one)];
  asked.push(...Array.from({ length: 105 }, () => record('loud', one)));
  asked.push(record('quiet', one));
  await new Promise(setImmediate);
  go();
  const answers = await Promise.all(asked);
  assert.deepEqual([answers.filter((each) => !each).length, answers.at(-1)], [5, true]);
  assert.deepEqual(written, ['loud 1', 'loud 20', 'quiet 1', 'loud 20', 'loud 20', 'loud 20', 'loud 20']);
  assert.equal(counted.length, 7);
  isDown = true;
  for (let n = 0; n < 2; n++) await assert.rejects(record('loud', one), /down/);
  assert.deepEqual(errors, ['down'], 'told once');
  isDown = false;
  assert.equal(await record('loud', one), true);
});
