import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, politeness } from './politeness.ts';

const HOUR = 3_600_000;
const DROP = new URL('https://www.spamhaus.org/drop/drop_v4.json');
const OTHER = new URL('https://lists.example/a');
const ONE: Client = { workspaceId: 'one', key: '' };
const OTHERS: Client = { workspaceId: 'others', key: '' };
const made = () => politeness({ least: ({ hostname }) => (hostname.includes('spamhaus') ? HOUR : 0), floor: 60_000 });

test('D23.12, D43.5 an address is not asked sooner than its host wants, nor than the floor, whoever has asked before and however it is written', () => {
  const polite = made();
  const until = (url: URL, now = 1000, client = ONE) => polite.wait(url, client, now)?.until;
  assert.equal(until(DROP), undefined);
  polite.asked(DROP, ONE, 1000);
  for (const same of ['https://www.spamhaus.org/drop/drop_v4.json?again=1', 'http://spamhaus.org.:80//drop/DROP_v4.json'])
    for (const client of [ONE, { ...ONE, isTrial: true }, OTHERS]) assert.equal(until(new URL(same), 1000, client), 1000 + HOUR, same);
  assert.equal(until(new URL('https://www.spamhaus.org/drop/drop_v6.json')), undefined);
  assert.match(polite.wait(DROP, ONE, 1000)!.for, /^the least interval of spamhaus\.org: 1h for an address$/);
  // An earlier request that is noted later changes nothing.
  polite.asked(DROP, ONE, 0);
  assert.equal(until(DROP), 1000 + HOUR);
  polite.asked(OTHER, ONE, 1000);
  assert.deepEqual([until(OTHER), until(new URL('http://LISTS.example.:80/a')), until(OTHER, 61_000)], [61_000, 61_000, undefined]);
  assert.equal(until(new URL('https://lists.example/a?b')), undefined);
  // Neither another workspace nor a trial waits for that.
  assert.deepEqual(
    [until(OTHER, 1000, OTHERS), until(OTHER, 2000, OTHERS), until(OTHER, 1000, { ...ONE, isTrial: true })],
    [2000, undefined, undefined],
  );
  polite.asked(new URL('https://lists.example/t'), { ...ONE, isTrial: true }, 1000);
  assert.equal(until(new URL('https://lists.example/t')), undefined);
});

test('D43.1 what a server has answered holds for the same address with the same credentials, and for nobody else', () => {
  const polite = made();
  const wrong = { ...ONE, key: 'wrong token' };
  polite.backOff(OTHER, wrong, 0, 7 * 24 * HOUR);
  assert.equal(polite.wait(OTHER, wrong, 1)?.until, 7 * 24 * HOUR);
  for (const same of [
    { ...OTHERS, key: wrong.key },
    { ...wrong, isTrial: true },
  ])
    assert.match(polite.wait(new URL('http://LISTS.example./a'), same, 1)!.for, /^the server of lists\.example, which requested/);
  for (const key of ['', 'right token']) assert.equal(polite.wait(OTHER, { ...ONE, key }, 1), undefined);
  assert.equal(polite.wait(new URL('https://lists.example/b'), wrong, 1), undefined);
});

test('D23.13 however many addresses are asked, what still holds is not forgotten for what is over', () => {
  const polite = made();
  polite.backOff(OTHER, ONE, 0, HOUR);
  for (let n = 0; n < 10_001; n += 1) polite.asked(new URL(`https://many.example/${n}`), ONE, n * 100);
  assert.equal(polite.wait(OTHER, ONE, 1_000_000)?.until, HOUR);
});
