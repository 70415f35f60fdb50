import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import { newReading, textOf } from '@weir/network/read.ts';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { readAddressOrNumber } from './address.ts';

/** The bytes of an address; undefined when the text is none. */
function parse(text: string): number[] | undefined {
  const bytes = Buffer.from(`[${text}]`);
  const reading = newReading();
  if (!readAddressOrNumber(textOf(bytes), 1, bytes.length - 1, reading)) return undefined;
  const used = reading.family === 4 ? reading.words.subarray(3) : reading.words;
  return [...used].flatMap((word) => [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255]);
}

/** The same by node's own parsers; ipaddr.js cannot judge, because it reads ::10.0.0.0 as ::ffff:10.0.0.0. */
function reference(text: string): number[] | undefined {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text) || text.includes('%')) return undefined;
  return ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1)).toByteArray();
}

const octets = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
const SETTINGS = { seed: 20261120, numRuns: 3000 };

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: every written form of an address is read', () => {
  const sparse = fc.array(fc.oneof(fc.constant(0), fc.nat(255)), { minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(fc.oneof(octets(4), octets(16), sparse), (bytes) => {
      const address = ipaddr.fromByteArray([...bytes]);
      const texts = [address.toString(), address.toNormalizedString(), address.toString().toUpperCase()];
      for (const text of texts) assert.deepEqual(parse(text), [...bytes], text);
    }),
    SETTINGS,
  );
});

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: what is no address is refused, as node has it', () => {
  const alphabet = fc.constantFrom(':', ':', '.', '0', '1', 'f', 'A', '255', '256', 'g', '/', ' ', '::', '-', '01', '12345', '%');
  const mutated = fc.tuple(fc.oneof(octets(4), octets(16)), fc.nat(40), fc.nat(2), alphabet).map(([bytes, at, removed, inserted]) => {
    const text = ipaddr.fromByteArray([...bytes]).toString();
    return text.slice(0, at) + inserted + text.slice(at + removed);
  });
  const text = fc.oneof(
    mutated,
    fc.array(alphabet, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(text, (candidate) => {
      fc.pre(!/^\d+$/.test(candidate));
      assert.deepEqual(parse(candidate), reference(candidate), candidate);
    }),
    { ...SETTINGS, numRuns: 20_000 },
  );
});

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: addresses as decimal numbers', () => {
  const bytesOf = (value: bigint, count: number) =>
    Array.from({ length: count }, (_, i) => Number((value >> BigInt(8 * (count - 1 - i))) & 255n));
  for (const value of [0n, 1n, 16777216n, 4294967295n]) assert.deepEqual(parse(String(value)), bytesOf(value, 4));
  for (const value of [4294967296n, 9999999999n, 42540528726795050063891204319802818560n, 2n ** 128n - 1n]) {
    assert.deepEqual(parse(String(value)), bytesOf(value, 16));
  }
  for (const text of [String(2n ** 128n), '9'.repeat(39), '1'.repeat(60), '']) assert.equal(parse(text), undefined);
});
