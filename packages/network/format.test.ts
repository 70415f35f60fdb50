import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, formatNetwork } from './format.ts';

const v6 = (...address: [number, number, number, number]) => ({ family: 6, address, prefix: 128 }) as const;

test('D3 canonical form: hosts are bare, wider networks have their prefix', () => {
  assert.equal(formatNetwork({ family: 4, address: 0, prefix: 0 }), '0.0.0.0/0');
  assert.equal(formatNetwork({ family: 4, address: 0xffff_fffe, prefix: 31 }), '255.255.255.254/31');
  assert.equal(formatNetwork({ family: 4, address: 0xc000_0201, prefix: 32 }), '192.0.2.1');
  assert.equal(formatNetwork({ family: 6, address: [0, 0, 0, 0], prefix: 0 }), '::/0');
  assert.equal(formatNetwork({ family: 6, address: [0x2001_0db8, 0, 0, 0], prefix: 127 }), '2001:db8::/127');
  assert.equal(formatNetwork(v6(0, 0, 0, 0)), '::');
  assert.equal(formatAddress({ family: 4, address: 0x0a00_0000, prefix: 8 }), '10.0.0.0');
  assert.equal(formatAddress({ family: 6, address: [0x2001_0db8, 0, 0, 0], prefix: 32 }), '2001:db8::');
});

test('D3 canonical form: RFC 5952 4.1 and 4.3, no leading zeros, lower case', () => {
  assert.equal(formatAddress(v6(0x0001_00ab, 0x0cde_f000, 0x000a_00b0, 0x0c00_d000)), '1:ab:cde:f000:a:b0:c00:d000');
});

test('D3 canonical form: RFC 5952 4.2.1, "::" takes as much as it can', () => {
  assert.equal(formatAddress(v6(0x2001_0db8, 0, 0, 0x0002_0001)), '2001:db8::2:1');
  assert.equal(formatAddress(v6(0, 0, 0, 1)), '::1');
  assert.equal(formatAddress(v6(0x10000, 0, 0, 0)), '1::');
});

test('D3 canonical form: RFC 5952 4.2.2, a single group of zeros is not shortened', () => {
  assert.equal(formatAddress(v6(0x2001_0db8, 0x0000_0001, 0x0001_0001, 0x0001_0001)), '2001:db8:0:1:1:1:1:1');
  assert.equal(formatAddress(v6(0x0000_0001, 0x0001_0001, 0x0001_0001, 0x0001_0000)), '0:1:1:1:1:1:1:0');
});

test('D3 canonical form: RFC 5952 4.2.3, the longest run, the first of equals', () => {
  assert.equal(formatAddress(v6(0x2001_0000, 0x0000_0001, 0, 0x0000_0001)), '2001:0:0:1::1');
  assert.equal(formatAddress(v6(0x2001_0db8, 0, 0x0001_0000, 0x0000_0001)), '2001:db8::1:0:0:1');
  assert.equal(formatAddress(v6(0, 0x0001_0000, 0, 0)), '0:0:1::');
});
