import assert from 'node:assert/strict';
import { test } from 'node:test';
import { politeness } from './politeness.ts';

const HOUR = 3_600_000;

test('D23.12, D23.13 an address is not asked sooner than its host wants, whoever has asked before and with whatever query', () => {
  const polite = politeness();
  const [drop, other] = ['https://www.spamhaus.org/drop/drop_v4.json', 'https://lists.example/a'];
  assert.equal(polite.earliest(drop, HOUR), 0);
  polite.asked(drop, HOUR, 1000);
  assert.equal(polite.earliest(`${drop}?again=1`, HOUR), 1000 + HOUR);
  assert.equal(polite.earliest('https://www.spamhaus.org/drop/drop_v6.json', HOUR), 0);
  polite.asked(other, 0, 1000);
  assert.equal(polite.earliest(other, 0), 2000);
  assert.equal(polite.earliest(`${other}?b`, 0), 0);
  polite.leaveAlone(other, 0, 9000);
  polite.asked(other, 0, 2000);
  assert.equal(polite.earliest(other, 0), 9000);
});

test('D23.12 of addresses that are remembered those go first that were asked longest ago', () => {
  const polite = politeness();
  for (let n = 0; n < 10_001; n += 1) polite.asked(`https://lists.example/${n}`, 0, 1);
  assert.equal(polite.earliest('https://lists.example/0', 0), 0);
  assert.equal(polite.earliest('https://lists.example/1', 0), 1001);
});
