import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatNetwork } from './format.ts';
import { parseNetwork } from './parse.ts';
import { newReading, readNetwork, textOf } from './read.ts';

const WIDE = 'covers more than an IPv4 /8; send the IPv4 network itself';

/** The canonical text, or the fault. */
function canonical(text: string): string {
  const network = parseNetwork(text);
  return typeof network === 'string' ? network : formatNetwork(network);
}

describe('2.1 D3 ip: what is taken', () => {
  const taken: Record<string, [string, string][]> = {
    'a bare address is a host, the widest prefix makes the same one': [
      ['192.0.2.1', '192.0.2.1'],
      ['192.0.2.1/32', '192.0.2.1'],
      ['2001:db8::1', '2001:db8::1'],
      ['2001:db8::1/128', '2001:db8::1'],
    ],
    'host bits are masked off': [
      ['192.0.2.129/25', '192.0.2.128/25'],
      ['192.0.2.129/1', '128.0.0.0/1'],
      ['2001:db8:ffff:ffff::1/33', '2001:db8:8000::/33'],
      ['2001:db8::ffff:ffff:ffff/95', '2001:db8::fffe:0:0/95'],
    ],
    '/0 is accepted': [
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['255.255.255.255/0', '0.0.0.0/0'],
      ['::/0', '::/0'],
      ['ffff::1/0', '::/0'],
    ],
    'IPv4-mapped IPv6 of prefix 104 and longer is IPv4': [
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['::ffff:c000:201', '192.0.2.1'],
      ['0:0:0:0:0:FFFF:192.0.2.1/120', '192.0.2.0/24'],
      ['::ffff:192.0.2.1/104', '192.0.0.0/8'],
      ['::0.0.0.0/96', '::/96'],
      ['::192.0.2.1/104', '::c000:0/104'],
      ['::ffff:192.0.2.1/95', '::fffe:0:0/95'],
      ['::192.0.2.1', '::c000:201'],
      ['0:1::ffff:192.0.2.1', '0:1::ffff:c000:201'],
      ['0:0:1::ffff:192.0.2.1/120', '::1:0:0:ffff:c000:200/120'],
    ],
    'every notation of RFC 4291 reaches one canonical text': [
      ['2001:DB8:0:0:8:800:200C:417A', '2001:db8::8:800:200c:417a'],
      ['2001:0db8:0000:0000:0008:0800:200c:417a', '2001:db8::8:800:200c:417a'],
      ['::', '::'],
      ['1::', '1::'],
      ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
      ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
      ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
      ['1:2:3:4:5:6:192.0.2.33', '1:2:3:4:5:6:c000:221'],
      ['ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ],
  };
  for (const [title, pairs] of Object.entries(taken)) {
    test(title, () => {
      for (const [text, expected] of pairs) assert.equal(canonical(text), expected, text);
    });
  }
});

describe('2.1 D3 ip: what is a fault, and its words', () => {
  const faults: Record<string, string[]> = {
    'leading zeros are not allowed': ['010.0.0.1', '1.2.3.00', '::ffff:1.2.3.04', '10.0.0.0/08', '10.0.0.0/00', '::/064'],
    'zone ids are not allowed': ['fe80::1%eth0', 'fe80::1%25eth0/64', '1.2.3.4%1'],
    'netmasks are not allowed, only prefix lengths': ['10.0.0.0/255.0.0.0', '10.0.0.0/0.0.0.255', '::/ffff::', '/255.0.0.0'],
    'blanks are not allowed': [' 1.2.3.4', '1.2.3.4 ', '1.2.3.4\n', '1.2.3.4 /8', '\t::1', '1.2.3.4\r'],
    'a prefix length must follow the slash': ['1.2.3.4/', '::/', '1.2.3.4/-1', '1.2.3.4/+8', '1.2.3.4//8'],
    'the prefix length must be 0 to 32': ['1.2.3.4/33', '1.2.3.4/255', '1.2.3.4/256', '1.2.3.4/999', '1.2.3.4/3200'],
    'the prefix length must be 0 to 128': ['::/129', '::ffff:1.2.3.4/129', '::/999'],
    'an octet must be 0 to 255': ['256.1.1.1', '1.1.1.999', '::1.2.3.256', '1:1.2.3.256'],
    'a group has at most four digits': ['12345::', '::00001', '1:2:3:4:5:6:7:fffff'],
    '"::" may occur only once': ['1::2::3', '::1::'],
    'an IPv6 address has eight groups': [
      ...['1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4:5:6:7:8::', '::1:2:3:4:5:6:7:8', '1:2:3:4::5:6:7:8'],
      ...['1:2:3:4:5:6:7:1.2.3.4', '1:2:3:4:5:6::1.2.3.4'],
      ...['1:2:3:4:5:6:7:8::9', '1::2:3:4:5:6:7:1.2.3.4'],
    ],
    'must not be empty': [''],
    'is too long for an IP address or network': ['0'.repeat(50), `::${':'.repeat(1000)}`],
    'is not an IP address or network': [
      ...['1.2.3', '1.2.3.4.5', '127.1', '0x7f.0.0.1', '2130706433', '1.2.3.4x', '1.2.3.4/8x', '.1.2.3', '1..2.3', '1.2.3.', '/8', '/'],
      ...[
        ':',
        ':::',
        ':1::',
        ':12',
        ':1:2:3:4:5:6:7:8',
        '1:2.3',
        '1:',
        '1::2:',
        '::g',
        '[::1]',
        '1.2.3.4::',
        '::1.2.3.4:5',
        'example.com',
        '1,2,3,4',
        '1.2.3.4-1.2.3.9',
      ],
      // Digits that are not ASCII, and characters whose low byte is one.
      ...['１.2.3.4', '١.2.3.4', '\u0131.2.3.4', '1.2.3.4\u0000', '\ud800'],
    ],
  };
  for (const [fault, texts] of Object.entries(faults)) {
    test(fault, () => {
      for (const text of texts) assert.equal(parseNetwork(text), fault, JSON.stringify(text));
    });
  }
});

test('D41.1 an IPv4-mapped network wider than an IPv4 /8 is a fault, in each notation; the IPv6 networks around it stay IPv6', () => {
  for (const address of ['::ffff:0:0', '::ffff:0.0.0.0', '::FFFF:198.51.100.7', '0:0:0:0:0:ffff:c633:6407'])
    for (let prefix = 96; prefix < 104; prefix += 1) assert.equal(canonical(`${address}/${prefix}`), WIDE, `${address}/${prefix}`);
  for (const [text, expected] of [
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:0:0/95', '::fffe:0:0/95'],
    ['::ffff:0:0:0/96', '::ffff:0:0:0/96'],
    ['::/0', '::/0'],
    ['0.0.0.0/0', '0.0.0.0/0'],
  ])
    assert.equal(canonical(text), expected, text);
});

test('2.1 D3 ip: no text leaves a trace in the next one', () => {
  parseNetwork('255.255.255.255/8');
  assert.deepEqual(parseNetwork('1.2.3.2'), { family: 4, address: 0x01020302, prefix: 32 });
  parseNetwork('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff');
  assert.deepEqual(parseNetwork('1::'), { family: 6, address: [0x10000, 0, 0, 0], prefix: 128 });
  parseNetwork('::ffff:1.2.3.4');
  assert.deepEqual(parseNetwork('255.255.255.255'), { family: 4, address: 0xffff_ffff, prefix: 32 });
});

test('2.1 D3 ip: what stands behind the end of a text is not part of it, and need not be there', () => {
  const read = (text: string, behind: string) => {
    const into = newReading();
    const end = readNetwork(textOf(new TextEncoder().encode(text + behind)), 0, text.length, into);
    const { family, prefix, words } = into;
    return { end, ...(end === text.length && { family, prefix, words: [...words].slice(family === 4 ? 3 : 0) }) };
  };
  for (const text of [
    '1.2.3.4',
    '1.2.3.0/2',
    '1.2.3',
    '1',
    '::',
    '1::',
    '::1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8',
    '::1.2.3.4',
    ':',
    '::/1',
    'a',
    '',
  ]) {
    const alone = read(text, '');
    for (const behind of ['0', '1', '32', 'a', ':', '::', '::1', ':8', '.', '.4', '.3.4', '/', '/8', '\n']) {
      assert.deepEqual(read(text, behind), alone, `${text} before ${JSON.stringify(behind)}`);
    }
  }
});
