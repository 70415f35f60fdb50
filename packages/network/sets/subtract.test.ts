import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../../test/support/random.ts';
import { addressSet, difference, overlaps, union } from '../address-set.ts';
import { coalesceV4, coalesceV6 } from '../coalesce.ts';
import type { Network } from '../network.ts';
import { parseNetwork } from '../parse.ts';
import { renderCidrs } from '../render.ts';

const networks = (text: string) => text.split(' ').filter(Boolean).map(parseNetwork) as Network[];
const setOf = (text: string) => addressSet(networks(text));

/** The networks of the first text without the addresses of the second. */
function without(from: string, other: string): string {
  const set = difference(setOf(from), setOf(other));
  return new TextDecoder().decode(renderCidrs(coalesceV4(set.v4), coalesceV6(set.v6), { separator: ' ' }));
}

describe('D7.4 range subtraction', () => {
  test('nothing taken, nothing left, nothing there', () => {
    assert.equal(without('10.0.0.0/8 2001:db8::/32', ''), '10.0.0.0/8 2001:db8::/32');
    assert.equal(without('10.0.0.0/8 2001:db8::/32', '11.0.0.0/8 2001:db9::/32'), '10.0.0.0/8 2001:db8::/32');
    assert.equal(without('10.0.0.0/8 2001:db8::/32', '10.0.0.0/7 2001::/16'), '');
    assert.equal(without('10.0.0.0/8 2001:db8::/32', '10.0.0.0/8 2001:db8::/32'), '');
    assert.equal(without('', '10.0.0.0/8 2001:db8::/32'), '');
  });

  test('a hole, a beginning, an end, a bridge between two ranges', () => {
    assert.equal(without('10.0.0.0/30', '10.0.0.1'), '10.0.0.0/32 10.0.0.2/31');
    assert.equal(without('10.0.0.0/30', '10.0.0.0'), '10.0.0.1/32 10.0.0.2/31');
    assert.equal(without('10.0.0.0/30', '10.0.0.3'), '10.0.0.0/31 10.0.0.2/32');
    assert.equal(without('10.0.0.0/30 10.0.0.8/30', '10.0.0.0/28'), '');
    assert.equal(without('10.0.0.2/31 10.0.0.6/31 10.0.0.14/31', '10.0.0.3 10.0.0.4/30'), '10.0.0.2/32 10.0.0.14/31');
    assert.equal(without('2001:db8::/126', '2001:db8::1'), '2001:db8::/128 2001:db8::2/127');
  });

  test('the ends of both address spaces', () => {
    assert.equal(without('0.0.0.0/0', '0.0.0.0 255.255.255.255').split(' ').length, 62);
    assert.equal(without('0.0.0.0/0', '128.0.0.0/1'), '0.0.0.0/1');
    assert.equal(without('0.0.0.0/0', '0.0.0.0/1'), '128.0.0.0/1');
    assert.equal(without('0.0.0.0 255.255.255.255', '0.0.0.0/0'), '');
    assert.equal(without('255.255.255.254/31', '255.255.255.255'), '255.255.255.254/32');
    assert.equal(without('::/0', '::/1'), '8000::/1');
    assert.equal(without('::/0', '8000::/1'), '::/1');
    assert.equal(without('::/127', '::'), '::1/128');
    assert.equal(
      without('ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'),
      'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/128',
    );
    assert.equal(without(':: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::/0'), '');
  });

  test('IPv6 where the carry and the borrow go from word to word', () => {
    for (const boundary of ['0:1::', '0:0:0:1::', '0:0:0:0:0:1::', '1:0:0:0::', '1:0:0:1::', '1:0:0:0:0:1::']) {
      const [first] = networks(boundary) as [Extract<Network, { family: 6 }>];
      const number = first.address.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
      const text = (n: bigint) => {
        const words = [96n, 64n, 32n, 0n].map((shift) => Number((n >> shift) & 0xffff_ffffn));
        return new TextDecoder().decode(
          renderCidrs(null, { length: 1, words: Uint32Array.from(words), prefixes: Uint8Array.of(128) }, { separator: ' ' }),
        );
      };
      const [before, at, after] = [number - 1n, number, number + 1n].map(text) as [string, string, string];
      assert.equal(without(`${before} ${at} ${after}`, at), `${before} ${after}`);
      assert.equal(without(`${before} ${at}`, before), at);
      assert.equal(without(`${before} ${at}`, at), before);
    }
  });

  test('whether a network has an address in common with a set', () => {
    const set = setOf('10.0.0.0/8 192.0.2.7 2001:db8::/32 ffff::1');
    for (const text of ['10.1.2.3', '0.0.0.0/0', '192.0.2.0/29', '2001:db8::1', '2001:d00::/24', 'ffff::/16', '::/0']) {
      assert.equal(overlaps(set, networks(text)[0]!), true, text);
    }
    for (const text of ['9.255.255.255', '11.0.0.0/8', '192.0.2.6', '192.0.2.8/29', '2001:db7::/32', '2001:db9::1', 'ffff::2', '::/8']) {
      assert.equal(overlaps(set, networks(text)[0]!), false, text);
    }
    assert.equal(overlaps(setOf(''), networks('0.0.0.0/0')[0]!), false);
    assert.equal(overlaps(setOf(''), networks('::/0')[0]!), false);
    assert.equal(overlaps(union([set, setOf('12.0.0.0/8')]), networks('12.1.1.1')[0]!), true);
  });

  test('property: equals the same with one flag for each address', () => {
    const random = seededRandom(17);
    const host = (family: number, n: number) =>
      family === 4 ? `255.255.255.${n}` : `ffff:ffff:ffff:ffff:ffff:ffff:ffff:ff${n.toString(16).padStart(2, '0')}`;
    const member = (family: number) => {
      const length = random.below(9);
      const n = (random.below(256) >> length) << length;
      return { text: `${host(family, n)}/${(family === 4 ? 32 : 128) - length}`, from: n, to: n + 2 ** length - 1 };
    };
    for (let round = 0; round < 400; round++) {
      const family = random.pick([4, 6]);
      const [from, other] = [random.below(12), random.below(12)].map((count) => Array.from({ length: count }, () => member(family)));
      const has = (list: typeof from, n: number) => list!.some((each) => n >= each.from && n <= each.to);
      const rest = Array.from({ length: 256 }, (_, n) => n).filter((n) => has(from, n) && !has(other, n));
      const textOf = (list: typeof from) => list!.map(({ text }) => text).join(' ');
      assert.equal(without(textOf(from), textOf(other)), without(rest.map((n) => host(family, n)).join(' '), ''));
      const probe = member(family);
      const expected = Array.from({ length: 256 }, (_, n) => n).some((n) => n >= probe.from && n <= probe.to && has(from, n));
      assert.equal(overlaps(setOf(textOf(from)), networks(probe.text)[0]!), expected);
    }
  });
});
