import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { areOff, blockGuards, type GuardRails, NO_GUARD_RAILS, protectedWord, writePeers } from './guard-rails.ts';

const network = (text: string) => parseNetwork(text) as Network;
const SERVICE = { ...NO_GUARD_RAILS, self: ['192.88.99.4', '2600::1'] };
const guard = (own: Partial<GuardRails>, service: Partial<GuardRails> = {}) =>
  blockGuards({ ...SERVICE, ...service })({ ...NO_GUARD_RAILS, ...own });

test('D7.1, D41.1 protected networks are networks and names', () => {
  assert.deepEqual(['10.1.2.3/8', '2001:DB8::1', 'self', '::ffff:10.0.0.1'].map(protectedWord), [
    '10.0.0.0/8',
    '2001:db8::1',
    'self',
    '10.0.0.1',
  ]);
  for (const text of ['', 'Private', 'public', '10.0.0.0/33', '010.0.0.0/8', 'fe80::1%eth0', '::ffff:0:0/96'])
    assert.equal(protectedWord(text), undefined, text);
});

test('D7.1 private, special and self are the networks that the documents name', () => {
  const within = {
    private: [
      '10.0.0.0',
      '10.255.255.255',
      '100.64.0.1',
      '127.0.0.1',
      '169.254.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '::1',
      'fd00::1',
      'febf::1',
    ],
    special: [
      '0.1.2.3',
      '10.0.0.1',
      '192.0.0.8',
      '192.0.2.1',
      '198.19.0.0',
      '198.51.100.1',
      '203.0.113.255',
      '240.0.0.0',
      '255.255.255.255',
    ],
    self: ['192.88.99.4', '2600::1'],
  };
  const outside = {
    private: ['9.255.255.255', '11.0.0.0', '100.128.0.0', '172.32.0.0', '192.169.0.0', '192.0.2.1', 'fec0::1', '::2', '2001:db8::1'],
    special: [
      '1.0.0.0',
      '192.0.0.9',
      '192.0.0.10',
      '192.88.99.1',
      '192.175.48.1',
      '198.20.0.0',
      '224.0.0.1',
      '239.255.255.255',
      '2002::1',
      '64:ff9b::1',
    ],
    self: ['192.88.99.5', '2600::2'],
  };
  const v6 = {
    within: [
      '::',
      '64:ff9b:1::',
      '100::1',
      '100:0:0:1::1',
      '2001:2::1',
      '2001:1::4',
      '2001:1ff::1',
      '2001:db8::1',
      '3fff:fff::1',
      '5f00::1',
      'fc00::1',
    ],
    outside: [
      '2001::1',
      '2001:1::1',
      '2001:1::3',
      '2001:3::1',
      '2001:4:112::1',
      '2001:20::1',
      '2001:3f::1',
      '2001:200::1',
      '3fff:1000::1',
      '2600::1',
      'ff00::1',
    ],
  };
  for (const name of ['private', 'special', 'self'] as const) {
    const { protected: addresses } = guard({ protect: [name] });
    const [yes, no] = [within[name], outside[name]];
    for (const text of name === 'special' ? [...yes, ...v6.within] : yes)
      assert.ok(overlaps(addresses!, network(text)), `${name}: ${text}`);
    for (const text of name === 'special' ? [...no, ...v6.outside] : no)
      assert.ok(!overlaps(addresses!, network(text)), `${name}: ${text}`);
  }
});

test('D7.2 a fault names the protected network and the set that it belongs to', () => {
  const { faults } = guard({ protect: ['203.0.112.0/23'] }, { protect: ['private', 'special', 'self'] });
  assert.deepEqual(faults(network('10.1.2.3')), ['overlaps the protected network 10.0.0.0/8 (private)']);
  assert.deepEqual(faults(network('8.0.0.0/5')), ['overlaps the protected network 10.0.0.0/8 (private)']);
  assert.deepEqual(faults(network('198.18.0.0/24')), ['overlaps the protected network 198.18.0.0/15 (special)']);
  assert.deepEqual(faults(network('2600::/16')), ['overlaps the protected network 2600::1 (self)']);
  assert.deepEqual(faults(network('203.0.112.7')), ['overlaps the protected network 203.0.112.0/23']);
  assert.deepEqual(faults(network('2001::/32')), []);
  assert.deepEqual(faults(network('8.8.8.8')), []);
});

test('D7.1, D7.3 the longer prefix of service and workspace counts, beside what is protected', () => {
  const { faults } = guard({ minPrefixV4: 16, minPrefixV6: 10 }, { minPrefixV4: 8, minPrefixV6: 19, protect: ['10.0.0.0/8'] });
  assert.deepEqual(faults(network('11.0.0.0/15')), ['is wider than /16, the widest network that may be blocked']);
  assert.deepEqual(faults(network('11.0.0.0/16')), []);
  assert.deepEqual(faults(network('2600::/18')), ['is wider than /19, the widest network that may be blocked']);
  assert.deepEqual(faults(network('0.0.0.0/0')), [
    'is wider than /16, the widest network that may be blocked',
    'overlaps the protected network 10.0.0.0/8',
  ]);
});

test('D62.1, D62.6 peers are those of the workspace; a word after warn: refuses and cuts nothing, but says what it reaches', () => {
  const peers = writePeers([{ address: '9.9.9.9', name: 'key "fw"', lastSeen: '2026-11-20' }]);
  const client = '9.9.9.9 (peers: key "fw", last used on 2026-11-20)';
  assert.deepEqual(guard({ protect: ['peers'], peers }).faults(network('9.9.9.0/24')), [`overlaps the protected network ${client}`]);
  assert.deepEqual(guard({ peers }, { protect: ['peers'] }).faults(network('9.9.9.9')), [`overlaps the protected network ${client}`]);
  assert.deepEqual(guard({ peers }).faults(network('9.9.9.9')), []);
  const { faults, protected: cut, warned } = guard({ protect: ['warn:peers', 'warn:8.8.8.0/24', 'private'], peers });
  assert.deepEqual([faults(network('9.9.9.9')), faults(network('8.8.8.8')), faults(network('10.0.0.1')).length], [[], [], 1]);
  assert.equal(overlaps(cut!, network('8.0.0.0/7')), false);
  assert.deepEqual(warned.hits(network('8.8.8.8')), ['overlaps the protected network 8.8.8.0/24']);
  assert.deepEqual(warned.within(addressSet([network('8.0.0.0/7')])), [client, '8.8.8.0/24']);
  assert.deepEqual(['warn:private', 'warn:10.1.2.3/8', 'warn:', 'warn:warn:self', 'warn:all'].map(protectedWord), [
    'warn:private',
    'warn:10.0.0.0/8',
    ...[undefined, undefined, undefined],
  ]);
});

test('D7.1 nothing is set unless somebody does', () => {
  const { protected: addresses, faults } = guard({});
  assert.equal(areOff(NO_GUARD_RAILS), true);
  assert.equal(areOff({ ...NO_GUARD_RAILS, minPrefixV6: 1 }), false);
  assert.equal(addresses, undefined);
  for (const text of ['0.0.0.0/0', '::/0', '127.0.0.1']) assert.deepEqual(faults(network(text)), []);
});
