import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../test/support/random.ts';
import { coalesceV4, coalesceV6 } from '../../network/coalesce.ts';
import { V4Ranges, V6Ranges } from '../../network/ranges.ts';
import { FORMATS } from './table.ts';
import { TextBlocks } from './text-blocks.ts';

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
