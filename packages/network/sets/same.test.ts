import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commonRun } from './same.ts';

test('what two rows of words have in common ends where the first differs, or where it is told to end', () => {
  // Words are compared 4,096 at once.
  for (const common of [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 12_000]) {
    const a = Uint32Array.from({ length: 12_010 }, (_, place) => place);
    const b = Uint32Array.from({ length: 12_003 }, (_, place) => (place < 3 + common ? place + 4 : 0));
    for (const most of [0, 1, 4096, 4097, 8192, 12_000])
      assert.equal(commonRun(a, 7, b, 3, most), Math.min(common, most), `${common} of ${most}`);
  }
});
