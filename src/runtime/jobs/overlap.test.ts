import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode, WeirError } from '../../errors.ts';
import type { WorkspaceOverlap } from '../../feed/whatif/overlap/overlap.ts';
import type { GeoData } from '../../geo/data.ts';
import type { StoreReads } from '../../ports/store.ts';
import { overlapCounter } from './overlap.ts';
import type { OverlapData } from './work/overlap.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('D30.5 who asks for the same waits for one count, and what is known is told again; one of a workspace at a time, two in all, and not too many in line', async () => {
  let [revision, now] = [1, 0];
  const running: { readonly data: OverlapData; readonly end: (worth: WorkspaceOverlap) => void }[] = [];
  const worth = overlapCounter({
    store: { findNamed: async () => ({ revision }), feeds: async () => [] } as unknown as Pick<StoreReads, 'findNamed' | 'feeds'>,
    settings: { databaseUrl: undefined, dataDir: '' },
    guardRails: { protect: [], minPrefixV4: 0, minPrefixV6: 0, self: [] },
    geo: () => ({ version: 'a' }) as GeoData,
    now: () => now,
    count: (data) => new Promise((resolve) => running.push({ data, end: resolve })),
  });
  const names = () => running.map(({ data: { workspaceId, work } }) => `${workspaceId} ${'selected' in work ? work.selected : 'cost'}`);
  const answer = { at: 0 } as WorkspaceOverlap;
  const end = async () => {
    running.shift()!.end(answer);
    await settled();
  };

  const asked = [worth.lists('a'), worth.lists('a'), worth.detail('a', { id: 'x', name: 'x' }), worth.lists('b'), worth.lists('c')];
  await settled();
  assert.deepEqual(names(), ['a undefined', 'b undefined'], 'two workspaces, one count of each');
  const more = [worth.lists('a', 'y'), worth.lists('a', 'z')];
  await settled();
  await assert.rejects(worth.lists('a', 'v'), (error) => hasCode(error, 'LIMITED'));
  await end();
  assert.deepEqual(names(), ['b undefined', 'c undefined'], 'who has waited longest is next');
  for (const _ of [...asked, ...more].slice(2)) await end();
  for (const each of await Promise.all([...asked, ...more])) assert.equal(each, answer);
  assert.equal(running.length, 0);

  await worth.lists('a', 'z');
  assert.equal(running.length, 0, 'it is known until something changes');
  for (const change of [() => (revision = 2), () => (now = 600_000)]) {
    change();
    const again = worth.lists('a', 'z');
    await settled();
    assert.deepEqual(names(), ['a z']);
    await end();
    await again;
  }

  // What took ten seconds is told for a hundred, whatever changes.
  revision = 3;
  const slow = worth.lists('a', 'z');
  await settled();
  now += 10_000;
  await end();
  await slow;
  revision = 4;
  now += 99_999;
  await worth.lists('a', 'z');
  assert.equal(running.length, 0);
  now += 1;
  const tooMuch = worth.lists('a', 'z');
  const refused = assert.rejects(tooMuch, /too much/);
  await settled();
  running.shift()!.end(Promise.reject(new WeirError('TOO_LARGE', 'too much')) as never);
  await refused;
  revision = 5;
  await assert.rejects(worth.lists('a', 'z'), (error) => hasCode(error, 'TOO_LARGE'), 'and a refusal for ten minutes');
});
