import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairMap } from './fair-map.ts';

const owner = (workspaceId: string, keyId = 'key') => ({ workspaceId, keyId });

test('D14.14 a workspace that fills the map loses its own entries, the oldest of its key with most first', () => {
  const map = new FairMap<number>({ ofWorkspace: 5, inAll: 8 });
  const put = (workspace: string, key: string, name: number) => map.put(owner(workspace, key), String(name), name);
  assert.equal(put('quiet', 'a', 1), undefined);
  for (let n = 0; n < 3; n += 1) put('loud', 'a', n);
  assert.equal(put('loud', 'b', 0), undefined);
  assert.equal(put('loud', 'b', 1), undefined);
  assert.equal(put('loud', 'b', 2), 0, 'a has three and b would have three: the first of them');
  assert.equal(map.get(owner('loud', 'a'), '0'), undefined);
  assert.equal(map.get(owner('loud', 'a'), '1'), 1);
  // What is put again is the newest.
  put('loud', 'b', 0);
  assert.equal(put('loud', 'b', 3), 1);
  assert.equal(map.get(owner('loud', 'b'), '0'), 0);
  assert.equal(map.get(owner('quiet', 'a'), '1'), 1);
  assert.equal(map.size, 6);
});

test('D14.14 where all together have too many, the workspace with most gives way', () => {
  const map = new FairMap<string>({ ofWorkspace: 100, inAll: 50 });
  map.put(owner('quiet'), 'mine', 'mine');
  for (let n = 0; n < 5_000; n += 1) map.put(owner(`loud ${n % 3}`, `key ${n % 7}`), `${n}`, '');
  assert.equal(map.get(owner('quiet'), 'mine'), 'mine');
  assert.equal(map.size, 50);
});
