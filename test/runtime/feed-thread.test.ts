import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { NO_GUARD_RAILS } from '../../src/account/guard-rails.ts';
import type { BuildResult } from '../../src/feed/builder.ts';
import { DEFAULT_VARIANT } from '../../src/feed/variant.ts';
import { combine } from '../../src/geo/load.ts';
import type { AccessRule, Target } from '../../src/rule.ts';
import { startFeedThread } from '../../src/runtime/threads/feeds.ts';
import { remoteCalls, serveCalls } from '../../src/runtime/threads/rpc.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../support/folder.ts';
import { compileFiles } from '../support/geo.ts';

const UNGUARDED = { guardRails: { ...NO_GUARD_RAILS, self: [] }, schemesFile: undefined };
const NOTHING = { name: null, reason: null, labels: null, config: null, expiresAt: null, ruleRef: null, confidence: null, severity: null };

/** An embedded store with rules on these targets, and what a feed thread needs to read it. */
async function fixture(t: TestContext, targets: readonly Target[]) {
  const folder = temporaryFolder(t);
  const store = await openSqliteStore(folder);
  t.after(() => store.close());
  const { id: workspaceId } = await store.createWorkspace((await store.createOrganization('acme', 'active')).id, 'main');
  const items = targets.map((target, offset) => {
    const record = { offset, timestamp: 1, key: workspaceId, headers: {}, value: '{}' };
    const rule: AccessRule = { ...NOTHING, action: 'block', target };
    return {
      record,
      workspaceId,
      listId: null,
      receivedAt: 1,
      batchId: null,
      keyId: null,
      change: { change: 'upsert', kind: 'access_rule', rule } as const,
    };
  });
  await store.apply({ streamId: randomUUID(), partition: 0, from: null, to: items.length, items, poison: [], now: 1 });
  const source = (dataDir: string) => () => {
    const { port1, port2 } = new MessageChannel();
    serveCalls(port1, { recordLog: store.recordLog });
    t.after(() => port1.close());
    return { dataDir, writes: port2 };
  };
  const request = {
    workspaceId,
    feedId: null,
    variant: DEFAULT_VARIANT,
    sequence: 1,
    offline: false,
    before: undefined,
  };
  return { folder, source, request };
}

const geoData = async (t: TestContext, netherlands: string) =>
  combine(
    await compileFiles(t, 'country', { 'country.csv': `${netherlands},NL\n` }),
    await compileFiles(t, 'asn', { 'asn.csv': '192.0.2.0,192.0.2.255,64500\n' }),
  );
const address = (text: string): Target => ({ kind: 'ip', network: parseNetwork(text) as Network });
const textOf = (result: BuildResult) => (result.kind === 'document' ? Buffer.from(result.bytes).toString() : result.kind);

test('1.4 D5 the feed thread builds from the store, with the geo data it was given last', async (t) => {
  const { folder, source, request } = await fixture(t, [address('203.0.113.7'), { kind: 'country', country: 'NL' }]);
  const thread = startFeedThread(source(folder), await geoData(t, '198.51.100.0,198.51.100.255'), UNGUARDED, () => {});
  t.after(() => thread.close());
  const first = await thread.build(request);
  assert.equal(textOf(first), '198.51.100.0/24\n203.0.113.7/32\n');
  await thread.useGeo(await geoData(t, '198.51.100.0,198.51.100.127'));
  const second = await thread.build({ ...request, sequence: 0 });
  assert.equal(textOf(second), '198.51.100.0/25\n203.0.113.7/32\n');
  assert.ok(
    first.kind === 'document' &&
      second.kind === 'document' &&
      first.geoVersion !== second.geoVersion &&
      first.at.monotonic === second.at.monotonic,
  );
  assert.equal((await thread.build({ ...request, feedId: randomUUID() })).kind, 'deleted');
});

test('D5 a feed thread that has died is followed by another', async (t) => {
  const { folder, source, request } = await fixture(t, [address('203.0.113.7')]);
  let dataDir = join(folder, 'weir.db', 'is no folder');
  const thread = startFeedThread(
    () => source(dataDir)(),
    await geoData(t, '198.51.100.0,198.51.100.255'),
    UNGUARDED,
    () => {},
  );
  t.after(() => thread.close());
  await assert.rejects(thread.build(request));
  dataDir = folder;
  assert.equal(textOf(await thread.build(request)), '203.0.113.7/32\n');
});

test('D5.21 a build that throws rejects alone: the thread goes on with the snapshots that it has', async (t) => {
  const { folder, source, request } = await fixture(t, [address('203.0.113.7')]);
  let sources = 0;
  const newSource = () => {
    sources += 1;
    return source(folder)();
  };
  const thread = startFeedThread(newSource, await geoData(t, '198.51.100.0,198.51.100.255'), UNGUARDED, () => {});
  t.after(() => thread.close());
  const first = await thread.build(request);
  const nonsense = { ...DEFAULT_VARIANT, format: 'nonsense' as typeof DEFAULT_VARIANT.format };
  await assert.rejects(thread.build({ ...request, variant: nonsense }), /undefined/);
  const second = await thread.build({ ...request, sequence: 0 });
  assert.equal(textOf(second), '203.0.113.7/32\n');
  assert.ok(first.kind === 'document' && second.kind === 'document' && first.at.monotonic === second.at.monotonic);
  assert.equal(sources, 1);
});

test('D5.21 a call that throws anything at all rejects on the other side', async (t) => {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const thrown: unknown[] = [undefined, null, 'a text', { code: Symbol('not to be sent') }, new RangeError('too long')];
  serveCalls(port1, {
    fail() {
      throw thrown.shift();
    },
  });
  const { fail } = remoteCalls<{ fail(): Promise<void> }>(port2);
  for (const message of [/undefined/, /null/, /a text/, /Symbol/, /too long/]) await assert.rejects(fail(), message);
});
