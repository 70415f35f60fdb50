import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { coalesceV4, coalesceV6 } from '@weir/network/coalesce.ts';
import { V4Ranges, V6Ranges } from '@weir/network/ranges.ts';
import { seededRandom } from '../../../test/support/random.ts';
import { type Gzipped, gzipBody } from '../serve/gzip.ts';
import { FORMATS } from './table.ts';
import { beginsBlock, TextBlocks } from './text-blocks.ts';

const HEADING = { name: 'n', description: null, action: 'block', family: 'both' } as const;
const ADDRESSES = 12_000;

/** Hosts of both families, each with its number, as a feed has them. */
function networksOf(hosts: ReadonlySet<number>) {
  const [v4, v6] = [new V4Ranges(), new V6Ranges()];
  for (const host of hosts) {
    const address = Math.imul(host, 0x0101_6b55) >>> 0;
    if (host % 3 > 0) v4.pushNetwork(address, 32);
    else v6.pushNetwork([0x2001_0db8, 0, address, 0], 0, 96 + (host % 32));
  }
  const networks = { index: 0, v4: coalesceV4(v4), v6: coalesceV6(v6) };
  const count = networks.v4.length + networks.v6.length;
  return { classes: count === 0 ? [] : [networks], count };
}

test('D5.22 a text that was written before, and changed, is that of networks that are written anew, in bytes and parts', () => {
  const random = seededRandom(7);
  for (const format of ['plain', 'commented', 'set_elements'] as const) {
    const kept = new TextBlocks();
    const hosts = new Set(Array.from({ length: ADDRESSES }, () => random.below(1e6)));
    for (let step = 0; step < 8; step += 1) {
      const networks = networksOf(hosts);
      const text = FORMATS[format].render(networks, HEADING, kept);
      const anew = FORMATS[format].render(networks, HEADING);
      assert.equal(Buffer.compare(text.bytes, anew.bytes), 0);
      assert.deepEqual([text.parts, text.stampsAt], [anew.parts, anew.stampsAt]);
      assert.ok((text.parts?.length ?? 0) < ADDRESSES / 600);
      if (step === 5) hosts.clear();
      if (step === 6) for (let n = 0; n < ADDRESSES; n += 1) hosts.add(n);
      const all = [...hosts];
      for (let n = random.below(3); n > 0 && all.length > 0; n -= 1) hosts.delete(all[random.below(all.length)]);
      for (let n = random.below(3); n > 0; n -= 1) hosts.add(random.below(1e6));
    }
  }
});

test('D5.23 a change leaves all other parts as they were', () => {
  const hosts = new Set(Array.from({ length: 3 * ADDRESSES }, (_, n) => n * 7));
  const namesOf = () => FORMATS.plain.render(networksOf(hosts), HEADING).parts!.map(({ name }) => name);
  const before = namesOf();
  hosts.add(10_000_003);
  const after = namesOf();
  assert.ok(before.length > 8, 'there are several parts');
  assert.ok(after.filter((name) => !before.includes(name)).length <= 2);
});

/** Sorted IPv4 hosts. */
function hostsOf(addresses: readonly number[]) {
  const { length } = addresses;
  const v4 = { length, addresses: Uint32Array.from(addresses), prefixes: new Uint8Array(length).fill(32) };
  return { classes: [{ index: 0, v4, v6: coalesceV6(new V6Ranges()) }], count: length };
}

test('D5.22 a text that ends earlier or later than before, at the end of a part and next to it, is written and compressed as one written anew', async () => {
  const hosts = Array.from({ length: ADDRESSES }, (_, n) => 0x0a00_0000 + 350 * n);
  const ending = (length: number) => hostsOf(hosts.slice(0, length));
  for (const format of ['plain', 'set_elements'] as const) {
    const { render } = FORMATS[format];
    const kept = new TextBlocks();
    // The number of networks at which parts end.
    const whole = render(ending(ADDRESSES), HEADING);
    const ends = whole.parts!.map(({ to }) => Buffer.from(whole.bytes.subarray(0, to)).toString().split('/').length - 1);
    const lengths = ends.filter((end) => end > 0).flatMap((end) => [end, end - 1, ADDRESSES, end, Math.min(end + 1, ADDRESSES), end]);
    assert.ok(ends.length > 3, 'there are several parts');
    let before: Gzipped | undefined;
    for (const length of lengths) {
      const text = render(ending(length), HEADING, kept);
      const anew = render(ending(length), HEADING);
      assert.deepEqual([text.parts, Buffer.compare(text.bytes, anew.bytes)], [anew.parts, 0], `${format} ${length}`);
      before = await gzipBody(text.bytes, text.parts, before);
      assert.ok(gunzipSync(before.bytes).equals(text.bytes), `${format} ${length}`);
    }
  }
});

test('addresses that are chosen so that each could begin a part make few parts, and are written as anew wherever they change', () => {
  const random = seededRandom(19);
  const chosen: number[] = [];
  for (let address = 0x0a00_0000; chosen.length < 3_000; address += 1) if (beginsBlock(address)) chosen.push(address);
  const kept = new TextBlocks();
  let addresses = chosen;
  for (let step = 0; step < 40; step += 1) {
    const text = FORMATS.plain.render(hostsOf(addresses), HEADING, kept);
    const anew = FORMATS.plain.render(hostsOf(addresses), HEADING);
    assert.deepEqual([text.parts, Buffer.compare(text.bytes, anew.bytes)], [anew.parts, 0], `step ${step}`);
    assert.ok(text.parts!.length <= addresses.length / 256 + 1, `${text.parts!.length} parts of ${addresses.length}`);
    // Also lists that end a little later or earlier than before.
    const length = random.pick([3_000, 2_990, 1_000, 255, 256, 257, 100]);
    const gone = random.below(length);
    addresses = chosen.slice(0, length).filter((_, n) => n !== gone);
  }
});

test('a short last block that others follow is none of the new ones', () => {
  const chosen: number[] = [];
  for (let address = 0x0a00_0000; chosen.length < 1_000; address += 1) if (beginsBlock(address)) chosen.push(address);
  const kept = new TextBlocks();
  for (const length of [100, 1_000, 255, 1_000, 256, 1_000, 257]) {
    const networks = hostsOf(chosen.slice(0, length));
    assert.deepEqual(FORMATS.plain.render(networks, HEADING, kept).parts, FORMATS.plain.render(networks, HEADING).parts, `${length}`);
  }
});

test('D5.22 one network in place of another, or with another prefix length, is written; blocks without a change are those of before', () => {
  const count = 12_000;
  const v4 = {
    length: count,
    addresses: Uint32Array.from({ length: count }, (_, n) => 0x0a00_0000 + 700 * n),
    prefixes: new Uint8Array(count).fill(30),
  };
  const v6 = { length: count, words: new Uint32Array(4 * count), prefixes: new Uint8Array(count).fill(126) };
  for (let n = 0; n < count; n += 1) v6.words.set([0x2001_0db8, n, 0, 700 * n], 4 * n);
  const separator = Buffer.from(' ');
  const [kept, textOf] = [
    new TextBlocks(),
    (blocks: readonly { readonly text: Uint8Array }[]) => Buffer.concat(blocks.map(({ text }) => text)).toString(),
  ];
  let before = kept.update(v4, v6, separator);
  const changes: ((row: number) => readonly [typeof v4, typeof v6])[] = [
    (row) => [{ ...v4, prefixes: v4.prefixes.with(row, 31) }, v6],
    (row) => [{ ...v4, addresses: v4.addresses.with(row, v4.addresses[row]! + 4) }, v6],
    (row) => [v4, { ...v6, prefixes: v6.prefixes.with(row, 127) }],
    (row) => [v4, { ...v6, words: v6.words.with(4 * row + 3, v6.words[4 * row + 3]! + 4) }],
  ];
  for (const [row, change] of [1, 100, 4_001, count - 2].flatMap((row) => changes.map((change) => [row, change] as const))) {
    const networks = change(row);
    const blocks = kept.update(...networks, separator);
    assert.equal(textOf(blocks), textOf(new TextBlocks().update(...networks, separator)));
    // The block of this change, and that of the one before, at most two each.
    assert.ok(blocks.filter((block) => !before.includes(block)).length <= 4, `row ${row}`);
    assert.ok(blocks.length > 6);
    before = blocks;
  }
});
