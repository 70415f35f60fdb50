import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastAddressV4, lastAddressV6 } from './bounds.ts';
import { renderCidrs } from './render.ts';

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const v4 = { length: 2, addresses: Uint32Array.of(0x0102_0304, 0xc0a8_0000), prefixes: Uint8Array.of(32, 16) };
const v6 = { length: 2, words: Uint32Array.of(0, 0, 0, 1, 0x2001_0db8, 0, 0, 0), prefixes: Uint8Array.of(128, 32) };

test('4.5 plain: one network a line, always with its prefix, IPv4 before IPv6', () => {
  assert.equal(decode(renderCidrs(v4, v6, { separator: '\n', tail: '\n' })), '1.2.3.4/32\n192.168.0.0/16\n::1/128\n2001:db8::/32\n');
});

test('4.5 head, separator and tail of any length, in UTF-8', () => {
  assert.equal(
    decode(renderCidrs(v4, null, { separator: ', ', head: '# Zürich\n{ ', tail: ' }' })),
    '# Zürich\n{ 1.2.3.4/32, 192.168.0.0/16 }',
  );
  assert.equal(decode(renderCidrs(null, v6, { separator: '' })), '::1/1282001:db8::/32');
  assert.equal(decode(renderCidrs(v4, { ...v6, length: 0 }, { separator: ';' })), '1.2.3.4/32;192.168.0.0/16');
});

test('4.5 without networks only head and tail are left', () => {
  assert.equal(decode(renderCidrs(null, null, { separator: '\n', head: 'a', tail: 'b' })), 'ab');
  assert.equal(renderCidrs({ ...v4, length: 0 }, { ...v6, length: 0 }, { separator: '\n' }).length, 0);
});

test('4.5 the longest texts find room, and nothing but the text is returned', () => {
  const long4 = { length: 1, addresses: Uint32Array.of(0xffff_ffff), prefixes: Uint8Array.of(32) };
  const long6 = { length: 1, words: new Uint32Array(4).fill(0xffff_ffff), prefixes: Uint8Array.of(128) };
  const text = renderCidrs(long4, long6, { separator: '\n' });
  assert.equal(decode(text), '255.255.255.255/32\nffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128');
  assert.equal(text.buffer.byteLength, text.length);
});

test('4.5 csv_indicator: the last address of a network', () => {
  assert.equal(lastAddressV4(0, 0), 0xffff_ffff);
  assert.equal(lastAddressV4(0xc0a8_0000, 16), 0xc0a8_ffff);
  assert.equal(lastAddressV4(0x8000_0000, 1), 0xffff_ffff);
  assert.equal(lastAddressV4(0xffff_ffff, 32), 0xffff_ffff);
  const last = (prefix: number) => {
    const into = new Uint32Array(5);
    lastAddressV6([7, 0x2001_0db8, 0, 0, 0], 1, prefix, into, 1);
    return [...into.subarray(1)].map((word) => word.toString(16));
  };
  assert.deepEqual(last(128), ['20010db8', '0', '0', '0']);
  assert.deepEqual(last(97), ['20010db8', '0', '0', '7fffffff']);
  assert.deepEqual(last(96), ['20010db8', '0', '0', 'ffffffff']);
  assert.deepEqual(last(95), ['20010db8', '0', '1', 'ffffffff']);
  assert.deepEqual(last(32), ['20010db8', 'ffffffff', 'ffffffff', 'ffffffff']);
  assert.deepEqual(last(0), ['ffffffff', 'ffffffff', 'ffffffff', 'ffffffff']);
});
