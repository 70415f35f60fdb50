import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { seededRandom } from '../../test/support/random.ts';
import { slowCoalesce, slowText } from '../../test/support/slow-networks.ts';
import { coalesceV4, coalesceV6, countV4, countV6 } from './coalesce.ts';
import { parseNetwork } from './parse.ts';
import { V4Ranges, V6Ranges } from './ranges.ts';
import { renderCidrs } from './render.ts';

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const v6Number = (words: number[]) => words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
const v6Words = (address: bigint) => [96n, 64n, 32n, 0n].map((shift) => Number((address >> shift) & 0xffff_ffffn));

/** The networks that cover IPv4 ranges. */
function v4(...ranges: [number, number][]): string {
  const collected = new V4Ranges();
  for (const [start, end] of ranges) collected.push(start, end);
  return decode(renderCidrs(coalesceV4(collected), null, { separator: ' ' }));
}

/** The networks that cover IPv6 ranges. */
function v6(...ranges: [bigint, bigint][]): string {
  const collected = new V6Ranges();
  for (const [start, end] of ranges) collected.push([...v6Words(start), ...v6Words(end)], 0);
  return decode(renderCidrs(null, coalesceV6(collected), { separator: ' ' }));
}

/** The networks that cover networks. */
function merged(...texts: string[]): string {
  const [four, six] = [new V4Ranges(), new V6Ranges()];
  for (const text of texts) {
    const network = parseNetwork(text);
    assert.ok(typeof network === 'object', text);
    if (network.family === 4) four.pushNetwork(network.address, network.prefix);
    else six.pushNetwork(network.address, 0, network.prefix);
  }
  return decode(renderCidrs(coalesceV4(four), coalesceV6(six), { separator: ' ' }));
}

describe('4.3.4 deduplicated, coalesced, sorted', () => {
  test('duplicates, overlaps and neighbours become one', () => {
    assert.equal(merged('10.0.0.1', '10.0.0.1'), '10.0.0.1/32');
    assert.equal(merged('10.0.0.1', '10.0.0.0'), '10.0.0.0/31');
    assert.equal(merged('10.0.0.0/24', '10.0.1.0/24', '10.0.0.7'), '10.0.0.0/23');
    assert.equal(merged('2001:db8::/33', '2001:db8:8000::/33'), '2001:db8::/32');
    assert.equal(merged('2001:db8::/32', '2001:db8:1::/48', '2001:db8::1'), '2001:db8::/32');
  });

  test('neighbours that share no wider network stay apart', () => {
    assert.equal(merged('10.0.0.1', '10.0.0.2'), '10.0.0.1/32 10.0.0.2/32');
    assert.equal(merged('10.0.1.0/24', '10.0.2.0/24'), '10.0.1.0/24 10.0.2.0/24');
    assert.equal(merged('2001:db8::1', '2001:db8::2'), '2001:db8::1/128 2001:db8::2/128');
  });

  test('sorted as numbers, IPv4 before IPv6', () => {
    assert.equal(
      merged('::1', 'ffff::', '10.0.0.0/8', '9.0.0.0/8', '200.0.0.1', '2001:db8::/32', '2001:db8:0:1:8000::/66'),
      '9.0.0.0/8 10.0.0.0/8 200.0.0.1/32 ::1/128 2001:db8::/32 ffff::/128',
    );
    assert.equal(
      merged('2001:db8:0:1:ffff::', '2001:db8:0:1::5', '2001:db8::', '2001:db8:0:1::'),
      '2001:db8::/128 2001:db8:0:1::/128 2001:db8:0:1::5/128 2001:db8:0:1:ffff::/128',
    );
  });

  test('the ends of IPv4', () => {
    assert.equal(v4([0, 0xffff_ffff]), '0.0.0.0/0');
    assert.equal(v4([0, 0x7fff_ffff], [0x8000_0000, 0xffff_ffff]), '0.0.0.0/0');
    assert.equal(v4([0xffff_ffff, 0xffff_ffff], [0, 0]), '0.0.0.0/32 255.255.255.255/32');
    assert.equal(v4([0xffff_fffe, 0xffff_ffff], [0xffff_ffff, 0xffff_ffff]), '255.255.255.254/31');
    assert.equal(v4([0x8000_0000, 0xffff_ffff]), '128.0.0.0/1');
    assert.equal(v4([1, 0xffff_fffe]).split(' ').length, 62);
    assert.equal(merged('0.0.0.0/0', '1.2.3.4', '255.255.255.255'), '0.0.0.0/0');
  });

  test('the ends of IPv6', () => {
    const last = 2n ** 128n - 1n;
    assert.equal(v6([0n, last]), '::/0');
    assert.equal(v6([0n, 2n ** 127n - 1n], [2n ** 127n, last]), '::/0');
    assert.equal(v6([last, last], [0n, 0n]), '::/128 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128');
    assert.equal(v6([last - 1n, last], [last, last]), 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127');
    assert.equal(v6([1n, last - 1n]).split(' ').length, 254);
    assert.equal(merged('::/0', '::1', 'ffff::'), '::/0');
  });

  test('no ranges, no networks', () => {
    assert.equal(v4(), '');
    assert.equal(v6(), '');
    assert.equal(countV4(new V4Ranges()), 0);
    assert.equal(countV6(new V6Ranges()), 0);
  });

  test('lossless: every IPv4 range near an end of the address space, against the slow reference', () => {
    for (const base of [0, 0xffff_ffc0]) {
      for (let start = base; start < base + 64; start++) {
        for (let end = start; end < base + 64; end++) {
          assert.equal(v4([start, end]), slowCoalesce(4, [{ start: BigInt(start), end: BigInt(end) }]).join(' '));
        }
      }
    }
  });

  test('lossless: every IPv6 range across a boundary between 32-bit words, against the slow reference', () => {
    for (const boundary of [2n ** 32n, 2n ** 64n, 2n ** 96n, (2n ** 96n - 1n) << 32n]) {
      for (let start = boundary - 17n; start <= boundary + 17n; start++) {
        for (let end = start; end <= boundary + 17n; end++) assert.equal(v6([start, end]), slowCoalesce(6, [{ start, end }]).join(' '));
      }
    }
  });

  test('lossless: IPv6 ranges whose ends have a single bit, or all but one, anywhere', () => {
    const all = 2n ** 128n - 1n;
    for (let a = 0n; a < 128n; a += 18n) {
      for (let b = 2n; b < 128n; b += 25n) {
        for (const one of [2n ** a, all - 2n ** a]) {
          for (const other of [2n ** b, all - 2n ** b]) {
            const [start, end] = one < other ? [one, other] : [other, one];
            assert.equal(v6([start, end]), slowCoalesce(6, [{ start, end }]).join(' '));
          }
        }
      }
    }
  });

  test('lossless: neighbours on both sides of a boundary between 32-bit words become one', () => {
    for (const boundary of [2n ** 32n, 2n ** 64n, 2n ** 96n]) {
      assert.equal(
        v6([boundary, boundary + 3n], [boundary - 4n, boundary - 1n]),
        slowCoalesce(6, [{ start: boundary - 4n, end: boundary + 3n }]).join(' '),
      );
      assert.equal(v6([boundary - 1n, boundary - 1n], [boundary + 1n, boundary + 1n]).split(' ').length, 2);
    }
  });

  test('IPv6 hosts in any order, whichever bits they share', () => {
    const random = seededRandom(23);
    const number = () => v6Number([random.bits(), random.bits(), random.bits(), random.bits()]);
    for (const shared of [0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 120]) {
      const mask = 2n ** BigInt(128 - shared) - 1n;
      // Some differ from all others in the first bits, so that the others share more.
      const common = number();
      const hosts = Array.from({ length: 300 }, (_, i) => (i % 97 === 0 ? number() : (common & ~mask) | (number() & mask)));
      const ranges = [...hosts, ...hosts.slice(0, 40)].map((start): [bigint, bigint] => [start, start]);
      assert.equal(
        v6(...ranges),
        slowCoalesce(
          6,
          ranges.map(([start, end]) => ({ start, end })),
        ).join(' '),
        `${shared} bits shared`,
      );
    }
  });

  test('every prefix length covers what its first and last address say', () => {
    for (let prefix = 0; prefix <= 128; prefix++) {
      const text = slowText(6, 0xa5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5_a5a5n, BigInt(prefix), true);
      assert.equal(merged(text), text);
      const v4Text = slowText(4, 0xa5a5_a5a5n, BigInt(prefix % 33), true);
      assert.equal(merged(v4Text), v4Text);
    }
  });
});

describe('4.6 the number of networks without building them', () => {
  test('counting merges, and ranges that are added later are merged too', () => {
    const ranges = new V4Ranges();
    ranges.push(10, 11);
    ranges.push(12, 13);
    assert.equal(countV4(ranges), 2);
    assert.equal(ranges.length, 1);
    ranges.push(8, 9);
    ranges.pushAll(Uint32Array.of(14, 15, 100, 100));
    assert.equal(countV4(ranges), 2);
    assert.equal(decode(renderCidrs(coalesceV4(ranges), null, { separator: ' ' })), '0.0.0.8/29 0.0.0.100/32');
  });

  test('many at once, before and behind others', () => {
    const pairs = Uint32Array.from({ length: 400 }, (_, i) => 8 * (i >> 1) + (i & 1));
    const [ranges, v6] = [new V4Ranges(), new V6Ranges()];
    for (const add of [1, 2]) {
      ranges.pushAll(pairs.map((word) => word + 4000 * add));
      ranges.push(9000 * add, 9001 * add);
      v6.pushAll(Uint32Array.from([...pairs].flatMap((word) => [0, 0, add, word])));
      v6.push([0, 0, add, 9000, 0, 0, add, 9001], 0);
    }
    assert.deepEqual([countV4(ranges), ranges.length], [402, 401]);
    assert.deepEqual([countV6(v6), v6.length], [402, 402]);
  });

  test('the same for IPv6', () => {
    const ranges = new V6Ranges();
    ranges.pushAll(Uint32Array.of(0, 0, 0, 10, 0, 0, 0, 11, 0, 0, 0, 12, 0, 0, 0, 13));
    assert.equal(countV6(ranges), 2);
    assert.equal(ranges.length, 1);
    ranges.push([9, 9, 0, 0, 0, 8, 0, 0, 0, 9], 2);
    ranges.pushNetwork([0, 0, 0, 14], 0, 127);
    assert.equal(countV6(ranges), 1);
    assert.equal(decode(renderCidrs(null, coalesceV6(ranges), { separator: ' ' })), '::8/125');
  });
});
