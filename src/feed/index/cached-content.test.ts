/** Feeds of long lists, built again and again: where little has changed, most of ranges, networks, text and gzip is copied. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { lastAddressV4 } from '@weir/network/bounds.ts';
import { GEO, GUARDED } from '../../../test/support/changing-rules.ts';
import { type Random, seededRandom } from '../../../test/support/random.ts';
import { feedContent } from '../build/content.ts';
import { FORMATS } from '../formats/table.ts';
import { TextBlocks } from '../formats/text-blocks.ts';
import { classTable } from '../levels.ts';
import { type Gzipped, gzipBody } from '../serve/gzip.ts';
import { FeedRanges } from './feed-ranges.ts';
import { RuleColumns, type SnapshotPart } from './snapshot.ts';

const LISTS = 5;
const RULES = 9_000;
const STEPS = 40;
const RATED = classTable({ confidence: 'high', severity: 'low' });
const HEADING = { name: 'n', description: null, action: 'block', family: 'v4' } as const;

interface Rule {
  readonly id: number;
  readonly list: number;
  readonly role: 'block' | 'allow';
  readonly address: number;
  readonly prefix: number;
  /** Whole seconds; 0 = never. */
  readonly expires: number;
  readonly levels: number;
}

/** Where addresses lie close together, both ends of the space among them. */
const WIDTH = 1024;
const CLUSTERS = [0, 2 ** 32 - WIDTH, ...Array.from({ length: 30 }, (_, i) => Math.imul(i + 1, 0x0765_4321) & -WIDTH)];

/** Mostly hosts and small networks, which merge with their neighbours; now and then one that holds very much. */
function newRule(random: Random, id: number, list: number, second: number): Rule {
  const prefix = random.below(200) === 0 ? random.pick([0, 1, 8, 16, 20, 24, 24]) : random.pick([32, 32, 32, 32, 31, 30]);
  const word = Uint32Array.of(random.pick(CLUSTERS) + random.below(WIDTH));
  const address = prefix === 0 ? 0 : (word[0] & (0xffff_ffff << (32 - prefix))) >>> 0;
  return {
    ...{ id, list, role: random.below(12) === 0 ? 'allow' : 'block', address, prefix },
    expires: random.below(10) === 0 ? second + 1 + random.below(8) : 0,
    levels: random.pick([0, 0, 0, 7]),
  };
}

/** The networks of a feed as text, by a sweep over the ends of its rules: nothing of it is the code that is tested. */
function model(rules: Iterable<Rule>, second: number, subtracts: boolean): string[] {
  const edges: { readonly at: number; readonly block: number; readonly allow: number }[] = [];
  for (const { role, address, prefix, expires } of rules) {
    if ((expires !== 0 && expires <= second) || (role === 'allow' && !subtracts)) continue;
    const [block, allow] = role === 'block' ? [1, 0] : [0, 1];
    edges.push({ at: address, block, allow }, { at: lastAddressV4(address, prefix) + 1, block: -block, allow: -allow });
  }
  edges.sort((a, b) => a.at - b.at);
  const networks: string[] = [];
  let [block, allow, start] = [0, 0, -1];
  for (const [i, edge] of edges.entries()) {
    block += edge.block;
    allow += edge.allow;
    if (edges[i + 1]?.at === edge.at) continue;
    const isIn = block > 0 && allow === 0;
    if (isIn && start < 0) start = edge.at;
    if (isIn || start < 0) continue;
    for (let size = 1; start < edge.at; start += size, size = 1) {
      while (start % (2 * size) === 0 && start + 2 * size <= edge.at) size *= 2;
      networks.push(`${[24, 16, 8, 0].map((shift) => (start >>> shift) & 255).join('.')}/${32 - Math.log2(size)}`);
    }
    start = -1;
  }
  return networks;
}

test('D5.22 long lists: whatever comes, goes and expires, networks, text and gzip are those of rules that are read anew', async () => {
  const random = seededRandom(3);
  const rules = new Map<number, Rule>();
  const kept = { ranges: new FeedRanges(), blocks: new TextBlocks(), set: new TextBlocks(), gzip: undefined as Gzipped | undefined };
  const partsOf = (given: Iterable<Rule>, second: number): SnapshotPart[] => {
    const columns = Array.from({ length: LISTS }, () => new RuleColumns());
    for (const { id, list, role, address, prefix, expires, levels } of given) columns[list].v4(id, role, address, prefix, expires, levels);
    return columns.map((each, list) => ({ key: String(list), rules: each.rules(second), levels: 0 }));
  };
  let [second, next] = [100, 1];
  const come = (count: number, listOf: () => number): Rule[] => {
    const added = Array.from({ length: count }, () => newRule(random, next++, listOf(), second));
    for (const rule of added) rules.set(rule.id, rule);
    return added;
  };
  const parts = partsOf(
    come(RULES, () => random.below(LISTS)),
    second,
  );
  const head = { profile: { subtractAllow: 'on' as const } };

  for (let step = 0; step < STEPS; step += 1) {
    // Mostly one list changes: what is united of the others stays.
    const list = random.below(LISTS);
    const ids = [...rules.values()].filter((rule) => rule.list === list).map(({ id }) => id);
    const gone = new Set(Array.from({ length: random.pick([0, 1, 3, 30]) }, () => random.pick(ids)));
    // What holds very much goes soon, so that there is something below it to be seen.
    for (const { id, prefix } of rules.values()) if (prefix < 25 && (step === 0 || random.below(3) === 0)) gone.add(id);
    for (const id of gone) rules.delete(id);
    const more = partsOf(
      come(random.pick([0, 1, 3, 30]), () => list),
      second,
    );
    if (random.below(3) === 0) second += 1;
    // A clock that is set back: rules expire again.
    if (step % 15 === 14) second -= 2;
    for (const [list, { rules: own }] of parts.entries()) {
      own.v4.remove(gone, 0);
      own.v4.addAll(more[list].rules.v4);
      own.renewalsAskedThrough = second;
    }

    const action = random.pick(['block', 'block', 'allow'] as const);
    const query = { family: 'v4', action, asOf: second, guarded: undefined } as const;
    const plain = feedContent({ parts, head, ranges: kept.ranges }, { ...query, classes: undefined }, GEO);
    const wanted =
      action === 'block'
        ? model(rules.values(), second, true)
        : model(
            [...rules.values()].filter(({ role }) => role === 'allow').map((rule) => ({ ...rule, role: 'block' })),
            second,
            false,
          );
    const text = FORMATS.plain.render(plain, HEADING, kept.blocks);
    assert.equal(Buffer.from(text.bytes).toString(), wanted.map((each) => `${each}\n`).join(''), `step ${step}`);
    assert.equal(plain.count, wanted.length);

    const rated = { ...query, classes: RATED, guarded: step % 2 === 0 ? GUARDED : undefined } as const;
    const anew = partsOf(rules.values(), second);
    const { nextExpiry: _, ...content } = feedContent({ parts, head, ranges: kept.ranges }, rated, GEO);
    const { nextExpiry: __, ...fresh } = feedContent({ parts: anew, head }, rated, GEO);
    assert.deepEqual(
      content.classes.map(({ index, v4 }) => ({ index, v4 })),
      fresh.classes.map(({ index, v4 }) => ({ index, v4 })),
      `step ${step}`,
    );
    if (action === 'allow') continue;
    const set = FORMATS.set_elements.render(plain, HEADING, kept.set);
    const { parts: setParts } = FORMATS.set_elements.render(plain, HEADING);
    assert.deepEqual(set.parts, setParts);
    kept.gzip = await gzipBody(set.bytes, set.parts, kept.gzip);
    assert.ok(gunzipSync(kept.gzip.bytes).equals(set.bytes));
    if (step % 4 === 0) assert.equal(Buffer.compare(kept.gzip.bytes, (await gzipBody(set.bytes, setParts)).bytes), 0);
  }
});
