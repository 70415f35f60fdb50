import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { openSecret, sealSecret } from './encrypted-secret.ts';

const [old, next] = [randomBytes(32), randomBytes(32)];
const owner = { id: '0195a3c0-0000-7000-8000-000000000001', url: 'https://lists.example:8443/a?b=c' };

test('D23.6 a secret opens with its key, for its source and its origin only; never the same twice, and nothing of it is seen', () => {
  const sealed = sealSecret([old], owner, 'user:pässword');
  assert.equal(openSecret([old], { ...owner, url: 'https://lists.example:8443/other' }, sealed), 'user:pässword');
  assert.equal(openSecret([next], owner, sealed), undefined);
  assert.equal(openSecret([], owner, sealed), undefined);
  assert.equal(openSecret([old], { ...owner, id: '0195a3c0-0000-7000-8000-000000000002' }, sealed), undefined);
  for (const url of ['https://lists.example/a', 'http://lists.example:8443/a', 'https://evil.example:8443/a'])
    assert.equal(openSecret([old], { ...owner, url }, sealed), undefined, url);
  assert.notDeepEqual(sealSecret([old], owner, 'user:pässword'), sealed);
  assert.ok(!Buffer.from(sealed).includes('user'));
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Uint8Array.from(sealed, (byte, i) => (i === at ? byte ^ 1 : byte));
    assert.equal(openSecret([old], owner, changed), undefined, `byte ${at}`);
  }
  for (let length = 0; length < sealed.length; length += 1) assert.equal(openSecret([old], owner, sealed.subarray(0, length)), undefined);
});

test('D23.6 keys are changed by putting the new one before the old one: it seals, both open', () => {
  const before = sealSecret([old], owner, 'a');
  const after = sealSecret([next, old], owner, 'b');
  assert.deepEqual([openSecret([next, old], owner, before), openSecret([next, old], owner, after)], ['a', 'b']);
  assert.deepEqual([openSecret([next], owner, before), openSecret([next], owner, after)], [undefined, 'b']);
  assert.throws(() => sealSecret([], owner, 'c'));
});
