import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CANONICAL_FORMATS, DEFAULT_VARIANT, variantOf } from '../variant.ts';
import { renderFeed } from './table.ts';

const NO_NETWORKS = { classes: [], count: 0, until: Number.POSITIVE_INFINITY, lapsed: 0 };

test('D5 an empty feed can be handed to another thread any number of times', () => {
  for (const format of CANONICAL_FORMATS) {
    for (const time of [1, 2]) {
      const { bytes } = renderFeed(NO_NETWORKS, variantOf({ format }, DEFAULT_VARIANT), { name: 'n', description: null });
      const text = Buffer.from(bytes).toString();
      assert.equal(Buffer.from(structuredClone(bytes, { transfer: [bytes.buffer] })).toString(), text, `${format}, time ${time}`);
      assert.equal(text.endsWith('# entries: 0\n'), format === 'commented');
    }
  }
});
