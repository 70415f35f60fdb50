import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNetwork } from './format.ts';
import type { Network } from './network.ts';
import { rangeNetworks } from './range.ts';

const ALL_ONES = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
const RANGES: readonly (readonly [first: string, last: string, networks: string])[] = [
  ['192.0.2.1', '192.0.2.1', '192.0.2.1'],
  ['192.0.2.1', '192.0.2.9', '192.0.2.1 192.0.2.2/31 192.0.2.4/30 192.0.2.8/31'],
  ['0.0.0.0', '255.255.255.255', '0.0.0.0/0'],
  ['2001:db8::1', '2001:db8::1', '2001:db8::1'],
  ['2001:db8::', '2001:db8:1::2', '2001:db8::/48 2001:db8:1::/127 2001:db8:1::2'],
  ['::', ALL_ONES, '::/0'],
  ['::ffff:192.0.2.0', '::ffff:192.0.2.3', '192.0.2.0/30'],
  ['192.0.2.0', '::ffff:192.0.2.3', '192.0.2.0/30'],
  ['192.0.2.9', '192.0.2.1', 'a range begins with its lower end'],
  ['2001:db8::2', '2001:db8::1', 'a range begins with its lower end'],
  ['2001:db8::1', '2001:db7::2', 'a range begins with its lower end'],
  ['192.0.2.1', '2001:db8::1', 'the ends of a range are of one family'],
  ['192.0.2.1/24', '192.0.2.9', '192.0.2.1/24: the ends of a range are addresses'],
  ['192.0.2.1', '192.0.2.9/31', '192.0.2.9/31: the ends of a range are addresses'],
  ['x', '192.0.2.9', 'x: is not an IP address or network'],
  ['192.0.2.1', '192.0.2.010', '192.0.2.010: leading zeros are not allowed'],
];

test('4.3.4 a range is the fewest networks that hold it, or its fault is told', () => {
  for (const [first, last, expected] of RANGES) {
    const networks = rangeNetworks(first, last);
    assert.equal(typeof networks === 'string' ? networks : networks.map(formatNetwork).join(' '), expected, `${first} ${last}`);
  }
  assert.equal(rangeNetworks('0.0.0.1', '255.255.255.254').length, 62);
  assert.equal(rangeNetworks('::1', ALL_ONES.replace(/f$/, 'e')).length, 254);
});

test('D41.1 a range with an IPv4-mapped end that covers more than an IPv4 /8 is a fault', () => {
  for (const [first, last] of [
    ['::ffff:0:0', '::ffff:ffff:ffff'],
    ['::ffff:0.0.0.0', '255.255.255.255'],
    ['10.0.0.0', '::ffff:11.0.0.0'],
  ])
    assert.equal(rangeNetworks(first, last), 'covers more than an IPv4 /8; send the IPv4 network itself', `${first} ${last}`);
  assert.deepEqual((rangeNetworks('::ffff:10.0.0.0', '::ffff:10.255.255.255') as Network[]).map(formatNetwork), ['10.0.0.0/8']);
  assert.equal(rangeNetworks('::', '::ffff:ffff:ffff'), 'the ends of a range are of one family');
});
