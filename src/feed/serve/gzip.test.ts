import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { gzipBody } from './gzip.ts';

test('D5 compressed bytes depend on the input and the level only', async () => {
  for (const length of [0, 1, 1_000, 100_000, 3_000_000]) {
    const identity = Buffer.from(
      Array.from({ length: length / 10 }, (_, i) => `10.${i % 250}.0.0/`)
        .join('')
        .slice(0, length),
    );
    const compressed = await gzipBody(identity);
    assert.deepEqual(compressed, await gzipBody(identity));
    assert.deepEqual(Buffer.from(compressed), gzipSync(identity, { level: 4 }));
    assert.ok(gunzipSync(compressed).equals(identity));
    assert.ok(compressed.buffer.byteLength <= Math.max(2 * compressed.length, 1_024), 'nothing is kept besides the bytes');
  }
});
