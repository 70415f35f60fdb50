import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, lastOfNetwork, parseAddress, parseLooseAddress } from './address.ts';

const hex = (bytes: string | null) => (bytes === null ? null : Buffer.from(bytes, 'latin1').toString('hex'));

test('2.4 addresses are read strictly outside lists', () => {
  const cases: Record<string, string | null> = {
    '1.2.3.4': '01020304',
    '255.255.255.255': 'ffffffff',
    '::': '00'.repeat(16),
    '::1': `${'00'.repeat(15)}01`,
    '1:2:3:4:5:6:7::': '00010002000300040005000600070000',
    '::2:3:4:5:6:7:8': '00000002000300040005000600070008',
    '::ffff:1.2.3.4': '00000000000000000000ffff01020304',
    '1:2:3:4:5:6:1.2.3.4': '00010002000300040005000601020304',
  };
  for (const [text, bytes] of Object.entries(cases)) assert.equal(hex(parseAddress(text)), bytes, text);
  const faulty = [
    '',
    '1.2.3',
    '1.2.3.04',
    '256.1.1.1',
    '1.2.3.4.5',
    '1.2.3.4/8',
    ':',
    ':::',
    '1:',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:8::',
    '::1.2.3',
  ];
  for (const text of faulty) assert.equal(parseAddress(text), null, text);
});

test('2.4 inside lists short IPv4 addresses and leading zeros are taken, as the engine does', () => {
  assert.equal(hex(parseLooseAddress('10')), '0a000000');
  assert.equal(hex(parseLooseAddress('10.1')), '0a010000');
  assert.equal(hex(parseLooseAddress('1.1.1.01')), '01010101');
  assert.equal(hex(parseLooseAddress('0000000010.0.0.0')), '0a000000');
  for (const text of ['', '.', '10.', '256', '1.2.3.4.5', 'a']) assert.equal(parseLooseAddress(text), null, text);
});

test('2.4 bits behind the prefix must be zero', () => {
  assert.equal(hex(lastOfNetwork('\x0a\0\0\0', 8)), '0affffff');
  assert.equal(hex(lastOfNetwork('\x0a\0\0\0', 32)), '0a000000');
  assert.equal(hex(lastOfNetwork('\0\0\0\0', 0)), 'ffffffff');
  assert.equal(hex(lastOfNetwork('\x0a\x10\0\0', 12)), '0a1fffff');
  assert.equal(lastOfNetwork('\x0a\x10\0\0', 11), null);
});

test('2.4 a formatted address reads back as itself', () => {
  for (const text of ['1.2.3.4', '1:2:3:4:5:6:7:8', 'ffff:0:0:0:0:0:0:1']) assert.equal(formatAddress(parseAddress(text)!), text);
});
