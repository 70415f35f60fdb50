import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCsv } from './csv.ts';
import { emptyRows } from './rows.ts';

const BITS = { 4: 32, 6: 128 } as const;

const v4Text = (address: bigint) => [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join('.');
const v6Text = (address: bigint) =>
  Array.from({ length: 8 }, (_, i) => ((address >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');

/** The first and the last address of the only row of a file with this network. */
function rangeOf(network: string, family: 4 | 6): bigint[] {
  const sink = { v4: emptyRows(4), v6: emptyRows(6), skipped: 0, names: new Map(), file: 0 };
  readCsv(Buffer.from(`network,country\n${network},AU\n`), 'country', sink, () => Buffer.alloc(0));
  const { count, words } = family === 4 ? sink.v4 : sink.v6;
  assert.equal(count, 1, network);
  const width = family === 4 ? 1 : 4;
  return [0, width].map((at) => words.subarray(at, at + width).reduce((value, word) => (value << 32n) | BigInt(word), 0n));
}

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: a prefix length gives first and last address, host bits cleared', () => {
  const cases = [
    { family: 4, address: 0xc0a8_1234n, text: v4Text },
    { family: 6, address: 0x2001_0db8_dead_beef_0123_4567_89ab_cdefn, text: v6Text },
  ] as const;
  for (const { family, address, text } of cases) {
    for (let prefix = 0; prefix <= BITS[family]; prefix++) {
      const hosts = (1n << BigInt(BITS[family] - prefix)) - 1n;
      const first = address & ~hosts;
      assert.deepEqual(rangeOf(`${text(address)}/${prefix}`, family), [first, first + hosts], `${family}: ${prefix}`);
    }
  }
});

test('D1 GEO_COUNTRY_FILE, GEO_ASN_FILE: IPv4-mapped networks are IPv4', () => {
  assert.deepEqual(rangeOf('::ffff:192.0.2.9/120', 4), [0xc000_0200n, 0xc000_02ffn]);
  assert.deepEqual(rangeOf('::ffff:192.0.2.9', 4), [0xc000_0209n, 0xc000_0209n]);
  assert.deepEqual(rangeOf('::ffff:192.0.2.9/95', 6), [0xfffe_0000_0000n, 0xffff_ffff_ffffn]);
});
