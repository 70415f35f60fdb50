/** Batches as their sender and an operator see them: the header of the answer, weir batch, weir undo, weir rule delete. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { command, commandJson, newKey } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { smallGeo } from '../support/geo.ts';
import { eventually, KEY, startWeir, type Weir } from '../support/weir.ts';

describe('D9 batches', () => {
  const folder = temporaryFolder({ after });
  const settings = { ...smallGeo(folder), DATA_DIR: join(folder, 'data'), BOOTSTRAP_API_KEY: KEY, FEED_REBUILD_SECONDS: '0' };
  const inWorkspace = ['--workspace', 'default'];
  let server: Weir;
  before(async () => {
    server = await startWeir(settings);
  });
  after(() => server.kill('SIGKILL'));

  async function post(entries: readonly object[], { path = '/v2/signal', key = KEY } = {}) {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(entries) });
    return { status: response.status, batch: response.headers.get('x-signal-batch'), body: await response.text() };
  }
  const block = (ip: string, more: object = {}) => ({
    schema_version: 2,
    kind: 'access_rule',
    op: 'upsert',
    rule: { target: { ip }, action: 'block' },
    ...more,
  });
  const unblock = (ip: string) => ({ ...block(ip), op: 'delete' });
  const feed = async () => {
    const response = await fetch(`${server.url}/v1/threat/feeds`, { headers: { authorization: `Bearer ${KEY}` } });
    return (await response.text()).split('\n').filter((line) => line !== '');
  };
  // A feed has one content a second.
  const feedIs = (lines: readonly string[]) => eventually(async () => assert.deepEqual(await feed(), lines));
  const batchOf = async (entries: readonly object[]) => {
    const { status, batch } = await post(entries);
    assert.equal(status, 200);
    return batch!;
  };
  const run = (...args: string[]) => commandJson<Record<string, unknown>>([...args, ...inWorkspace], settings);

  test('D9.1 an answer names the batch of what was taken; nothing taken, a dry run and a refusal name none; v1 bodies are as ever', async () => {
    const taken = await post([block('192.0.2.1')]);
    assert.match(taken.batch!, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{9}000$/);
    const part = await post([block('192.0.2.1'), block('nonsense')]);
    assert.ok(part.status === 206 && part.batch !== null && part.batch !== taken.batch);
    const v1 = await post([{ type: 'access_rules', action: 'unblock', ip: '192.0.2.1' }], { path: '/v1/signal' });
    assert.ok(v1.batch);
    assert.deepEqual(JSON.parse(v1.body), { success: true, message: 'Processed 1 entries, 0 failed' });
    for (const [entries, path] of [
      [[block('nonsense')], '/v2/signal'],
      [[block('192.0.2.1')], '/v2/signal?dry_run=1'],
      [[], '/v2/signal'],
    ] as const) {
      assert.equal((await post(entries, { path })).batch, null);
    }
  });

  test('D9.2, D9.3, D9.4 a wrong batch is seen, shown and undone, and that again; each is a batch of its own', async () => {
    const key = await newKey(settings, 'default', '--name', 'siem');
    const [{ id: keyId }] = (await commandJson<{ id: string; name: string }[]>(['key', 'ls', ...inWorkspace], settings)).filter(
      ({ name }) => name === 'siem',
    );
    await batchOf([block('198.51.100.0/24', { rule_ref: 'scanners', reason: 'scans' }), block('203.0.113.7')]);
    const good = ['198.51.100.0/24', '203.0.113.7/32'];
    await feedIs(good);
    const { batch: wrong } = await post([block('198.51.100.0/23', { rule_ref: 'scanners' }), unblock('203.0.113.7'), block('8.8.8.8')], {
      key,
    });
    await feedIs(['8.8.8.8/32', '198.51.100.0/23']);

    const [newest] = await commandJson<Record<string, unknown>[]>(['batch', 'ls', ...inWorkspace, '--limit', '1'], settings);
    assert.deepEqual([newest.id, newest.key_id, newest.entries, newest.undone_by], [wrong, keyId, 3, null]);
    const shown = (await run('batch', 'show', wrong!)) as { undo: { removes: number; restores: number; keeps: number; sample: string[] } };
    assert.deepEqual([shown.undo.removes, shown.undo.restores, shown.undo.keeps], [1, 2, 0]);
    assert.ok(shown.undo.sample.includes('remove block 8.8.8.8'), shown.undo.sample.join());

    const asked = await command(['undo', wrong!, ...inWorkspace], settings);
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /removes 1 rule, restores 2[\s\S]*nothing has changed; add --yes/);
    const undone = await run('undo', wrong!, '--yes');
    assert.deepEqual([undone.undone, undone.unlanded], [wrong, 0]);
    await feedIs(good);
    assert.equal((await run('batch', 'show', wrong!)).undone_by, undone.batch_id);

    const nothing = await command(['undo', wrong!, ...inWorkspace, '--yes'], settings);
    assert.ok(nothing.code === 2 && /there is nothing to undo/.test(nothing.stderr), nothing.stderr);
    await run('undo', String(undone.batch_id), '--yes');
    await feedIs(['8.8.8.8/32', '198.51.100.0/23']);
    await run('rule', 'delete', '--list', 'default', '--yes');
    await feedIs([]);
  });

  test('D9.3 what a later batch has changed stays', async () => {
    const first = await batchOf([block('192.0.2.10'), block('192.0.2.11')]);
    await batchOf([block('192.0.2.11', { reason: 'confirmed' })]);
    const { removes, keeps } = await run('undo', first, '--yes');
    assert.deepEqual([removes, keeps], [1, 1]);
    await feedIs(['192.0.2.11/32']);
    await run('rule', 'delete', '--reason', 'confirmed', '--yes');
  });

  test('D15.30 several batches are undone at once, the newest first, each by a batch of its own', async () => {
    const first = await batchOf([block('192.0.2.20')]);
    const second = await batchOf([block('192.0.2.21')]);
    const third = await batchOf([block('192.0.2.21', { reason: 'again' }), block('192.0.2.22')]);
    const unknown = await command(['undo', first, '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000', ...inWorkspace, '--yes'], settings);
    assert.ok(unknown.code === 2 && /there is no batch "0199f3c2/.test(unknown.stderr), unknown.stderr);
    const undone = await commandJson<Record<string, unknown>[]>(['undo', first, third, second, ...inWorkspace, '--yes'], settings);
    assert.deepEqual(
      undone.map((each) => each.undone),
      [third, second, first],
    );
    assert.equal(new Set(undone.map((each) => each.batch_id)).size, 3);
    await feedIs([]);
  });

  test('D9.6, D9.8 rules are deleted by label, reason, key, batch and time; the command asks first, and wants a condition', async () => {
    const key = await newKey(settings, 'default');
    const keys = await commandJson<{ id: string }[]>(['key', 'ls', ...inWorkspace], settings);
    await batchOf([block('192.0.2.1', { labels: { source: 'a', n: 1 } }), block('192.0.2.2', { reason: 'scan' })]);
    await post([block('192.0.2.3')], { key });
    const batch = await batchOf([block('192.0.2.4'), block('192.0.2.4', { rule_ref: 'r' })]);
    await feedIs(['192.0.2.1/32', '192.0.2.2/31', '192.0.2.4/32']);

    for (const [args, pattern] of [
      [[], /say which rules: give --list/],
      [['--label', 'source'], /--label must be key=value/],
      [['--since', 'noon'], /--since must be an instant/],
    ] as const) {
      const { code, stderr } = await command(['rule', 'delete', ...inWorkspace, ...args], settings);
      assert.ok(code === 2 && pattern.test(stderr), stderr);
    }
    const asked = await command(['rule', 'delete', ...inWorkspace, '--label', 'source=a'], settings);
    assert.match(asked.stderr, /deleting 1 rule\nweir: {3}block {2}192\.0\.2\.1 [\s\S]*nothing has changed/);

    const deleted = async (...args: string[]) => (await run('rule', 'delete', ...args, '--yes')).deleted;
    assert.equal(await deleted('--label', 'source=b'), 0);
    assert.equal(await deleted('--label', 'source=a', '--label', 'n=1'), 1);
    assert.equal(await deleted('--reason', 'scan'), 1);
    assert.equal(await deleted('--key', keys.at(-1)!.id), 1);
    await feedIs(['192.0.2.4/32']);
    // By its value both rules would be removed.
    assert.equal(await deleted('--batch', batch, '--since', '2h'), 2);
    await feedIs([]);
  });

  test('D33.1 weir rule change gives rules that meet conditions another expiry, reason or list, after it has asked; one undo takes it back', async () => {
    await run('list', 'create', 'edge');
    await batchOf([block('192.0.2.60', { reason: 'x' }), block('192.0.2.62', { reason: 'x' }), block('192.0.2.64')]);
    const change = ['rule', 'change', '--reason', 'x', '--set-list', 'edge', '--set-expires', '30d'];
    const asked = await command([...change, ...inWorkspace], settings);
    assert.match(asked.stderr, /changing 2 rules\nweir: {3}block {2}192\.0\.2\.60 [\s\S]*nothing has changed/);
    const { changed, moved, batch_id: batch } = await run(...change, '--yes');
    assert.deepEqual([changed, moved], [2, 2]);
    const edge = async () => (await run('rule', 'ls', '--list', 'edge')) as unknown as { target: string; expires_at: string }[];
    assert.deepEqual(
      (await edge()).map(({ target }) => target),
      ['192.0.2.60', '192.0.2.62'],
    );
    assert.ok(Date.parse((await edge())[0]!.expires_at) > Date.now() + 29 * 86_400_000);
    await run('rule', 'change', '--reason', 'x', '--set-reason', 'y', '--yes');
    await run('undo', String(batch), '--yes');
    assert.equal((await edge()).length, 2, 'what was changed since stays');
    for (const [args, pattern] of [
      [['--reason', 'y'], /say what changes: give --set-expires/],
      [['--set-reason', 'z'], /say which rules: give --list/],
      [['--reason', 'y', '--set-expires', 'soon'], /--set-expires must be a duration/],
      [['--kind', 'waf_rule', '--reason', 'y', '--set-list', 'edge'], /--set-list is for access rules only/],
    ] as const) {
      const { code, stderr } = await command(['rule', 'change', ...inWorkspace, ...args], settings);
      assert.ok(code === 2 && pattern.test(stderr), stderr);
    }
    await run('rule', 'delete', '--since', '2h', '--yes');
    await feedIs([]);
  });

  test('D9.4 no request can bring an operation: its words are unknown to the wire', async () => {
    const batch = await batchOf([block('192.0.2.1')]);
    const { status, body } = await post([
      { schema_version: 2, kind: 'batch', op: 'undo', batch_id: batch },
      { schema_version: 2, kind: 'access_rule', op: 'delete_rules', rule_ids: [1] },
      { schema_version: 2, kind: 'access_rule', op: 'set_rules', rule_ids: [1], reason: 'x' },
    ]);
    assert.equal(status, 206, body);
    await feedIs(['192.0.2.1/32']);
  });

  test('D9.10 a batch whose changes are given up says so, and undoing it is refused', async () => {
    await batchOf([block('198.51.100.7', { reason: 'first' })]);
    const batch = await batchOf([block('198.51.100.7', { reason: 'again' })]);
    await eventually(async () => assert.equal((await run('batch', 'show', batch)).undoable, true));
    const store = await openSqliteStore(settings.DATA_DIR);
    while ((await store.sweep({ now: Date.now(), rulesExpiredBefore: 0, auditBefore: 0, limit: 1000, mostPrevious: 0 })) > 0);
    await store.close();
    assert.equal((await run('batch', 'show', batch)).undoable, false);
    assert.match((await command(['batch', 'show', batch, ...inWorkspace], settings)).stdout, /undo is no longer possible$/m);
    assert.match((await command(['batch', 'ls', ...inWorkspace], settings)).stdout, new RegExp(`^${batch} .* no longer$`, 'm'));
    const refused = await command(['undo', batch, '--yes', ...inWorkspace], settings);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /too much has changed since; undo is no longer possible/);
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    const request = { method: 'POST', headers, body: JSON.stringify({ batches: [batch] }) };
    assert.equal((await fetch(`${server.url}/v1/manage/undo`, request)).status, 409);
  });
});
