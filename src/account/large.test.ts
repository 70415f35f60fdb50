import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '@weir/network/parse.ts';
import { DAY } from '../clock.ts';
import { addressesOf, isWayBack, type LargeSettings, largeReason, NO_LARGE_SETTINGS } from './large.ts';

const NOTHING = { isSignal: false, addresses: 0, places: 0 };
const reason = (size: object, settings: Partial<LargeSettings> = {}) =>
  largeReason({ ...NO_LARGE_SETTINGS, ...settings }, { ...NOTHING, ...size });

test('D64.1 a change is large above a limit of addresses, networks or percent of a feed, and with any country or ASN', () => {
  assert.equal(reason({ addresses: 65_536 }), undefined);
  assert.equal(reason({ addresses: 65_537 }), '65,537 addresses, more than 65,536');
  assert.equal(reason({ addresses: 2 }, { largeAddresses: 1 }), '2 addresses, more than 1');
  assert.equal(reason({ networks: 1_000_000, before: 1 }), undefined);
  assert.equal(reason({ networks: 10 }, { largeNetworks: 10 }), undefined);
  assert.equal(reason({ networks: 11 }, { largeNetworks: 10 }), '11 networks, more than 10');
  const half = { largePercent: 50 };
  assert.equal(reason({ networks: 5, before: 10 }, half), undefined);
  assert.equal(reason({ networks: 6, before: 10 }, half), '6 networks, more than 50% of 10');
  assert.equal(reason({ networks: 6, before: 0 }, half), undefined);
  assert.equal(reason({ places: 1 }), 'a country or ASN');
  assert.equal(reason({ places: 1 }, { large: 'none' }), undefined);
});

test('D64.1 signals are large only with all', () => {
  const signal = { isSignal: true, places: 2 };
  for (const large of [null, 'none', 'changes'] as const) assert.equal(reason(signal, { large }), undefined);
  assert.equal(reason(signal, { large: 'all' }), '2 countries and ASNs');
});

test('D64.1 an IPv6 /64 counts as one address', () => {
  const of = (text: string) => addressesOf({ kind: 'ip', network: parseNetwork(text) as never });
  assert.deepEqual(['192.0.2.1', '10.0.0.0/15', '2001:db8::1', '2001:db8::/47'].map(of), [1, 131_072, 1, 131_072]);
  assert.equal(addressesOf({ kind: 'country', country: 'NL' }), 0);
});

test('D64.2 the way back is open for 24 hours', () => {
  assert.deepEqual([isWayBack(0, DAY), isWayBack(0, DAY + 1)], [true, false]);
});
