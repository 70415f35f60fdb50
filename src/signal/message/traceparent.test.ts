import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTraceparent } from './traceparent.ts';

test('D16.4 a traceparent is one of W3C Trace Context, or none', () => {
  const [trace, step] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  const good = `00-${trace}-${step}-01`;
  assert.equal(readTraceparent(good), good);
  assert.equal(readTraceparent(`cc-${trace}-${step}-01-what-comes-later`), `cc-${trace}-${step}-01`);
  const bad = [
    undefined,
    '',
    [good],
    `${good}-more`,
    good.toUpperCase(),
    `ff-${trace}-${step}-01`,
    `00-${'0'.repeat(32)}-${step}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${step}`,
    `${good}\n`,
  ];
  for (const text of bad) assert.equal(readTraceparent(text), undefined, String(text));
});
