import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCountry } from './iso3166.ts';

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

test('2.1 country is an ISO 3166 alpha-2 code: the 249 assigned ones and no other pair of letters', () => {
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  assert.equal(codes.filter(isCountry).length, 249);
  for (const code of ['US', 'DE', 'TW', 'BQ', 'SS']) assert.ok(isCountry(code), code);
});

test('D3 XK and reserved codes are not ISO; other forms are no codes', () => {
  for (const code of ['XK', 'EU', 'UK', 'ZZ', 'AN', 'us', 'Us', 'USA', '840', '', 'U', ' US']) assert.equal(isCountry(code), false, code);
});
