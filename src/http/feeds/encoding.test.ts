import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiateCoding } from './encoding.ts';

const CASES: readonly (readonly [string | undefined, 'gzip' | 'identity'])[] = [
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate, gzip;q=1.0, *;q=0.5', 'gzip'],
  ['gzip, deflate, br', 'gzip'],
  ['gzip;q=0', 'identity'],
  ['gzip;q=0.000', 'identity'],
  ['gzip;q=0.001', 'gzip'],
  ['gzip; q=0.5 , identity; q=0.5', 'gzip'],
  ['gzip;q=0.4, identity;q=0.5', 'identity'],
  ['identity', 'identity'],
  ['identity, gzip', 'gzip'],
  ['*', 'gzip'],
  ['*;q=0', 'identity'],
  ['gzip;q=0, *', 'identity'],
  ['*;q=0, gzip', 'gzip'],
  ['br, deflate', 'identity'],
  ['identity;q=0', 'identity'],
  ['gzip;q=2', 'identity'],
  ['gzip;level=9', 'identity'],
  ['gzipped', 'identity'],
  ['\tgzip\t;\tQ=0.5\t', 'gzip'],
];

test('D5 4.3 Accept-Encoding with q-values', () => {
  for (const [header, coding] of CASES) assert.equal(negotiateCoding(header), coding, String(header));
});
