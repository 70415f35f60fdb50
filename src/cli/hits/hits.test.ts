import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originsIn, usageReports } from './attribution.ts';
import { countedSince, countersOf, nftElements } from './nft-sets.ts';

const element = (val: unknown, packets = 0, bytes = 0) => ({ elem: { val, counter: { packets, bytes } } });
const listing = (name: string, ...elem: unknown[]) =>
  JSON.stringify({ nftables: [{ metainfo: {} }, { set: { family: 'inet', table: 'weir', name, elem } }, { chain: {} }] });

test('D31.7 what nft lists: addresses, networks, ranges, of several sets, on one line or many; elements without counters are told', () => {
  const [prefix, range] = [{ prefix: { addr: '198.51.100.0', len: 24 } }, { range: ['10.0.0.0', '10.0.0.2'] }];
  const v4 = listing('block4', element('192.0.2.1', 3, 90), element(prefix, 1, 40), element(range, 2, 80), '192.0.2.9');
  const v6 = listing('block6', element('2001:db8::1', 7, 700));
  const { elements, withoutCounter } = nftElements(`${v4}\n${v6}\n`);
  assert.deepEqual(
    elements.map(({ name, value, counter }) => [name, value, counter.packets]),
    [
      ['inet weir block4 192.0.2.1', '192.0.2.1', 3],
      ['inet weir block4 198.51.100.0/24', '198.51.100.0/24', 1],
      ['inet weir block4 10.0.0.0-10.0.0.2', '10.0.0.0', 2],
      ['inet weir block6 2001:db8::1', '2001:db8::1', 7],
    ],
  );
  assert.equal(withoutCounter, 1);
  assert.deepEqual(nftElements(listing('empty')), { elements: [], withoutCounter: 0 });
  for (const wrong of ['', 'x', '{}', '[]', 'null'])
    if (wrong !== '') assert.throws(() => nftElements(wrong), /no listing of nftables/, wrong);
});

test('D31.7 what was counted since: a counter that is lower than before began anew, one that is new counts whole', () => {
  const [one] = nftElements(listing('s', element('192.0.2.1', 10, 1000))).elements;
  const before = countersOf([one!]);
  const since = (packets: number, bytes: number) => countedSince({ ...one!, counter: { packets, bytes } }, before);
  assert.deepEqual(since(12, 1200), { packets: 2, bytes: 200 });
  assert.deepEqual(since(10, 1000), { packets: 0, bytes: 0 });
  assert.deepEqual(since(4, 400), { packets: 4, bytes: 400 });
  assert.deepEqual(countedSince(one!, {}), { packets: 10, bytes: 1000 });
});

test('D31.7 an element is of the list of its decision, else of the one that has its first address, else of none', () => {
  const decision = (value: string, scenario: string, origin = 'lists') => ({ value, scenario, origin });
  const originOf = originsIn([
    decision('192.0.2.1', 'edge'),
    decision('198.51.100.0/24', 'weir'),
    decision('10.0.0.0/31', 'merged'),
    decision('2001:db8::/33', 'six'),
    decision('203.0.113.1', 'alone', 'weir'),
    decision('203.0.113.2', 'weir', 'weir'),
  ]);
  const cases: [string, string | undefined][] = [
    ['192.0.2.1', 'lists:edge'],
    ['198.51.100.0/24', 'lists:weir'],
    ['198.51.100.7', 'lists:weir'],
    ['10.0.0.0', 'lists:merged'],
    ['10.0.0.0/30', 'lists:merged'],
    ['2001:db8:7::1', 'lists:six'],
    ['203.0.113.1', 'lists:alone'],
    ['203.0.113.2', 'weir'],
    ['203.0.113.3', undefined],
  ];
  for (const [value, origin] of cases) assert.equal(originOf(value), origin, value);
  const many = new Map(Array.from({ length: 250 }, (_, n) => [`lists:${'é'.repeat(200)}${n}`, { packets: n, bytes: n }]));
  const reports = usageReports(many, { name: 'fw', version: '1', at: 7, window: 60 });
  assert.deepEqual([reports.length, reports.every((text) => Buffer.byteLength(text) < 256 * 1024)], [3, true]);
});
