import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '@weir/network/parse.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { Target } from '../rule.ts';
import { type AddressChange, AddressTally, addressFaults, isBroad, largeChanges } from './addresses.ts';

const GEO = { ranges: () => ({ v4: Uint32Array.of(0x3c00_0000, 0x3c00_00ff), v6: new Uint32Array() }) } as unknown as GeoDatabase;
const ip = (text: string): Target => {
  const network = parseNetwork(text);
  assert(typeof network !== 'string', text);
  return { kind: 'ip', network };
};
const changed = async (before: readonly string[], after: readonly string[]) => {
  const tally = new AddressTally(GEO);
  for (const each of before) tally.push('before', { action: 'block', target: ip(each) });
  for (const each of after) {
    tally.push('after', { action: 'block', target: ip(each) });
    if (!before.includes(each)) tally.noteNew({ action: 'block', target: ip(each) });
  }
  return await tally.change(async () => undefined);
};
const counts = (rows: readonly AddressChange[]) =>
  rows.map(({ family, before, after, added, removed }) => [family, before, after, added, removed]);

test('D44.1 addresses are counted once, whatever networks have them, and IPv6 in networks of /64', async () => {
  const rows = await changed(
    ['192.0.2.0/24', '192.0.2.7', '198.51.100.1', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::/64'],
    ['192.0.2.0/25', '60.0.0.0/8', '0.0.0.0/0', '2001:db8::/32', '2001:db8::9'],
  );
  assert.deepEqual(counts(rows), [
    [4, 257, 2 ** 32, 2 ** 32 - 257, 0],
    [6, 2, 2 ** 32, 2 ** 32 - 2, 0],
  ]);
  assert.deepEqual(
    rows.map(({ widest }) => widest),
    [['0.0.0.0/0', '60.0.0.0/8', '192.0.2.0/25'], ['2001:db8::/32']],
  );
});

test('D44.1 a country counts as its networks, and each action by itself', async () => {
  const tally = new AddressTally(GEO);
  const country = { kind: 'country', country: 'NL' } as const;
  tally.push('before', { action: 'block', target: ip('60.0.0.0/25') });
  tally.push('after', { action: 'block', target: country });
  tally.noteNew({ action: 'block', target: country });
  tally.push('after', { action: 'allow', target: ip('60.0.0.0/25') });
  const [block, allow] = await tally.change(async () => undefined);
  assert.deepEqual(block, { action: 'block', family: 4, before: 128, after: 256, added: 128, removed: 0, widest: ['NL'] });
  assert.deepEqual([allow!.action, allow!.before, allow!.after], ['allow', 0, 128]);
});

test('D44.1 counts are those of a plain model, in any order and beyond what is sorted at once', async () => {
  const all = Array.from({ length: 30_000 }, (_, n) => `10.${(n * 7) & 255}.${((n * 31) >> 8) & 255}.${n & 254}/31`);
  const [before, after] = [all.slice(0, 20_000), all.slice(9000)];
  const of = (texts: readonly string[]) => new Set(texts);
  const [b, a] = [of(before), of(after)];
  assert.deepEqual(counts(await changed(before, after)), [[4, 2 * b.size, 2 * a.size, 2 * a.difference(b).size, 2 * b.difference(a).size]]);
});

const large = (before: number, row: Partial<AddressChange>, of: Partial<Parameters<typeof largeChanges>[1]> = {}) =>
  largeChanges([{ action: 'block', family: 4, before, after: 0, added: 0, removed: 0, widest: [], ...row }], {
    ...{ present: before, added: 1, removed: 0, percent: 50 },
    ...of,
  }).length === 1;

test('D44.1 more than half of the addresses is a question, but for a list without rules and for few single addresses', () => {
  assert.deepEqual([large(2000, { added: 1000 }), large(2000, { added: 1001 })], [false, true]);
  assert.deepEqual([large(2000, { removed: 1000 }), large(2000, { removed: 1001 })], [false, true]);
  assert.equal(large(0, { added: 1e9 }), false);
  assert.equal(large(2000, { removed: 2000 }, { mayLose: true }), false);
  // Single addresses: as many entries.
  assert.deepEqual([large(3, { added: 100 }, { added: 100 }), large(3, { added: 101 }, { added: 101 })], [false, true]);
  assert.equal(large(3, { added: 4 }, { added: 1 }), true, 'one network of four');
  assert.equal(large(2000, { added: 1500 }, { percent: 80 }), false);
});

test('D44.1 the first addresses of another family are a question where they are more than half of the rules', () => {
  const of = { present: 2000 };
  assert.deepEqual([large(0, { family: 6, added: 900 }, of), large(0, { family: 6, added: 65_536 }, of)], [false, true]);
});

test('D44.2 the reason names the addresses before and after and the widest new networks; single addresses are named as entries', async () => {
  const hosts = Array.from({ length: 2000 }, (_, n) => `192.0.${n >> 8}.${n & 255}`);
  const of = { present: 2000, added: 1, removed: 0, percent: 50 };
  assert.deepEqual(addressFaults(await changed(hosts, [...hosts, '60.0.0.0/8']), of), [
    'it would block 16,779,216 IPv4 addresses instead of 2,000 (16,777,216 added, 0 removed; the widest new ones are 60.0.0.0/8), more than 50 %',
  ]);
  const singles = Array.from({ length: 1100 }, (_, n) => `198.51.${n >> 8}.${n & 255}`);
  assert.deepEqual(addressFaults(await changed(hosts, [...hosts, ...singles]), { ...of, added: 1100 }), []);
});

test('D44.4 networks wider than /24 and /48 are broad, also of never-block lists', () => {
  const broad = (text: string, action: 'block' | 'allow' | 'unblock' = 'block') => isBroad({ target: ip(text), action });
  assert.deepEqual(
    [broad('10.0.0.0/24'), broad('10.0.0.0/23'), broad('2001:db8::/48'), broad('2001:db8::/47')],
    [false, true, false, true],
  );
  assert.deepEqual([broad('10.0.0.0/8', 'allow'), broad('10.0.0.0/8', 'unblock')], [true, false]);
});
