import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNetwork } from '../format.ts';
import type { Network } from '../network.ts';
import { parseNetwork } from '../parse.ts';
import { lastHost, networksAround } from './nesting.ts';

const network = (text: string) => parseNetwork(text) as Network;

test('the networks around a network are those of every shorter prefix, and itself', () => {
  assert.deepEqual(networksAround(network('192.0.2.128/26')).slice(-4).map(formatNetwork), [
    '192.0.2.0/23',
    '192.0.2.0/24',
    '192.0.2.128/25',
    '192.0.2.128/26',
  ]);
  assert.deepEqual([networksAround(network('192.0.2.1')).length, networksAround(network('2001:db8::1')).length], [33, 129]);
  assert.deepEqual(networksAround(network('8000::/1')).map(formatNetwork), ['::/0', '8000::/1']);
  assert.deepEqual(networksAround(network('0.0.0.0/0')).map(formatNetwork), ['0.0.0.0/0']);
});

test('the last address of a network', () => {
  const last = ['192.0.2.0/24', '192.0.2.7', '0.0.0.0/0', '2001:db8::/33', '::/0'].map((text) => formatNetwork(lastHost(network(text))));
  assert.deepEqual(last, [
    '192.0.2.255',
    '192.0.2.7',
    '255.255.255.255',
    '2001:db8:7fff:ffff:ffff:ffff:ffff:ffff',
    'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ]);
});
