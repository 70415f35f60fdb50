import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Caller } from '../../account/caller.ts';
import { rememberedKeys } from './remembered-keys.ts';

const digest = (n: number) => createHash('sha256').update(String(n)).digest().toString('latin1');
const known = (workspaceId: string) => ({
  caller: { workspaceId, networks: [] as readonly string[] } as Caller,
  revision: 1,
  confirmedAt: 0,
});

test('D22.6 keys that are made, used and revoked without end: a workspace has so many that are remembered, and takes none from another', () => {
  const keys = rememberedKeys(3);
  keys.remember(digest(0), known('quiet'));
  for (let n = 1; n <= 10; n += 1) keys.remember(digest(n), known('busy'));
  const kept = Array.from({ length: 11 }, (_, n) => n).filter((n) => keys.find(digest(n)) !== undefined);
  assert.deepEqual(kept, [0, 8, 9, 10]);
  keys.remember(digest(8), known('busy'));
  keys.remember(digest(11), known('busy'));
  assert.deepEqual(
    [8, 9].map((n) => keys.find(digest(n)) !== undefined),
    [true, false],
    'the one that was confirmed last stays',
  );
  keys.forget(digest(10));
  assert.equal(keys.find(digest(10)), undefined);
});

test('D22.6, D62.1 the keys of a workspace share its guard rails, those read last', () => {
  const keys = rememberedKeys();
  const rails = (peers: string) => ({ protect: ['peers'], minPrefixV4: 0, minPrefixV6: 0, peers });
  const remember = (n: number, peers: string) => {
    const { caller, ...rest } = known('one');
    return keys.remember(digest(n), { caller: { ...caller, guardRails: rails(peers) }, ...rest }).caller.guardRails;
  };
  const first = remember(1, 'a');
  assert.equal(remember(2, 'a'), first);
  const second = remember(1, 'b');
  assert.deepEqual([second.peers, remember(2, 'b') === second], ['b', true]);
});
