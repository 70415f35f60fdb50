import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkspaceWorth } from '../../document/worth/worth.ts';
import { hasCode } from '../../errors.ts';
import type { GeoData } from '../../geo/data.ts';
import type { StoreReads } from '../../ports/store.ts';
import { type WorthData, worthCounter } from './worth.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('D30.5 who asks for the same waits for one count; one of a workspace at a time, two in all, and not too many in line', async () => {
  let [revision, now] = [1, 0];
  const running: { readonly data: WorthData; readonly end: (worth: WorkspaceWorth) => void }[] = [];
  const worth = worthCounter({
    store: { findNamed: async () => ({ revision }), feeds: async () => [] } as unknown as Pick<StoreReads, 'findNamed' | 'feeds'>,
    settings: { databaseUrl: undefined, dataDir: '' },
    guardRails: { protect: [], minPrefixV4: 0, minPrefixV6: 0, self: [] },
    geo: () => ({ version: 'a' }) as GeoData,
    now: () => now,
    count: (data) => new Promise((resolve) => running.push({ data, end: resolve })),
  });
  const names = () => running.map(({ data }) => `${data.workspaceId} ${data.listId}`);
  const answer = { at: 0 } as WorkspaceWorth;
  const end = async () => {
    running.shift()!.end(answer);
    await settled();
  };

  const asked = [worth('a', null), worth('a', null), worth('a', 'x'), worth('b', null), worth('c', null)];
  await settled();
  assert.deepEqual(names(), ['a null', 'b null'], 'two workspaces, one count of each');
  const more = [worth('a', 'y'), worth('a', 'z')];
  await settled();
  await assert.rejects(worth('a', 'v'), (error) => hasCode(error, 'LIMITED'));
  await end();
  assert.deepEqual(names(), ['b null', 'c null'], 'who has waited longest is next');
  for (const _ of [...asked, ...more].slice(2)) await end();
  for (const each of await Promise.all([...asked, ...more])) assert.equal(each, answer);
  assert.equal(running.length, 0);

  await worth('a', 'z');
  assert.equal(running.length, 0, 'it is known until something changes');
  for (const change of [() => (revision = 2), () => (now = 600_000)]) {
    change();
    const again = worth('a', 'z');
    await settled();
    assert.deepEqual(names(), ['a z']);
    await end();
    await again;
  }
});
