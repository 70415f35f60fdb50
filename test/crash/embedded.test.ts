import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashRounds } from './embedded.ts';

test('6.2 D3 accepted signals of all three kinds survive kill -9, none twice, in order; stream and store open again', {
  timeout: 600_000,
}, async (t) => {
  const acknowledged = await crashRounds(3, (line) => t.diagnostic(line));
  assert.ok(acknowledged > 100);
});
