/** What is in a feed, byte for byte. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../support/random.ts';
import { BITS, type Family, rangeOf, type SlowRange, slowCoalesce, slowText } from '../../support/slow-networks.ts';
import { eventually } from '../../support/weir.ts';
import type { Once } from '../engine.ts';
import { type FeedWorld, upsert } from './world.ts';

/** Hosts, networks, host bits, overlaps, neighbours, both ends of both address spaces, countries with and without ranges, an ASN. */
const MIXED = [
  ...['192.0.2.1', '192.0.2.0', '::ffff:192.0.2.2', '::ffff:192.0.2.200/121', '255.255.255.255', '0.0.0.0'],
  ...['10.1.2.3/8', '10.9.9.9', '172.16.0.0/13', '172.24.0.0/13', '192.0.2.1/32'],
  ...['2001:DB8::1', '2001:db8:0:0::', '2001:db8:1::/48', '2001:db8:1:2::/64', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128'],
  ...['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::', 'nl', 'as064500', 'AQ'],
];
const V4 = [
  ...['0.0.0.0/32', '10.0.0.0/8', '172.16.0.0/12', '192.0.2.0/31', '192.0.2.2/32', '192.0.2.128/25', '198.51.100.0/23'],
  ...['203.0.113.1/32', '203.0.113.2/31', '203.0.113.4/31', '203.0.113.6/32', '255.255.255.255/32'],
];
const V6 = [
  ...['::/128', '2001:db8::/127', '2001:db8:1::/48', '2001:db8:a::/47', '2001:db8:c::/48'],
  ...['2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128'],
];
const CSV = `0.0.0.0,IP,high,high
10.0.0.0-10.255.255.255,IP Range,high,high
172.16.0.0-172.31.255.255,IP Range,high,high
192.0.2.0-192.0.2.1,IP Range,high,high
192.0.2.2,IP,high,high
192.0.2.128-192.0.2.255,IP Range,high,high
198.51.100.0-198.51.101.255,IP Range,high,high
203.0.113.1,IP,high,high
203.0.113.2-203.0.113.3,IP Range,high,high
203.0.113.4-203.0.113.5,IP Range,high,high
203.0.113.6,IP,high,high
255.255.255.255,IP,high,high
::,IP,high,high
2001:db8::-2001:db8::1,IP Range,high,high
2001:db8:1::-2001:db8:1:ffff:ffff:ffff:ffff:ffff,IP Range,high,high
2001:db8:a::-2001:db8:b:ffff:ffff:ffff:ffff:ffff,IP Range,high,high
2001:db8:c::-2001:db8:c:ffff:ffff:ffff:ffff:ffff,IP Range,high,high
2001:db8:ffff:ffff:ffff:ffff:ffff:ffff,IP,high,high
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff,IP,high,high
`;
const lines = (networks: readonly string[]) => networks.map((network) => `${network}\n`).join('');

export function contentTests(feeds: () => FeedWorld, once: Once): void {
  test('4.3.1, 4.3.2, 4.3.3, 4.3.4, 4.5 a mixed set in every format and family, byte for byte', async () => {
    const { block, get, reads } = await feeds().space();
    await block(MIXED);
    const { headers } = await reads('', lines([...V4, ...V6]));
    assert.deepEqual([headers['x-feed-entry-count'], headers['x-feed-entry-limit']], ['19', '131072']);
    const csv = CSV.split(/(?<=\n)/);
    const bodies: [string, string][] = [
      ['?format=plain&family=both&action=block', lines([...V4, ...V6])],
      ['?family=v4', lines(V4)],
      ['?family=v6', lines(V6)],
      ['?format=csv_indicator', CSV],
      ['?format=csv_indicator&family=v4', csv.slice(0, 12).join('')],
      ['?format=csv_indicator&family=v6', csv.slice(12).join('')],
      ['?format=set_elements', `elements = { ${[...V4, ...V6].join(', ')} }\n`],
      ['?format=set_elements&family=v4', `elements = { ${V4.join(', ')} }\n`],
      ['?format=set_elements&family=v6', `elements = { ${V6.join(', ')} }\n`],
    ];
    for (const [target, body] of bodies) assert.equal((await get(target)).text, body, target);
    for (const [family, networks] of Object.entries({ v4: V4, v6: V6, both: [...V4, ...V6] })) {
      const { text } = await get(`?format=commented&family=${family}`);
      const [head, body] = [text.split('\n').slice(0, 6), text.split('\n').slice(6).join('\n')];
      assert.deepEqual([head[3], head[5]], [`# family: ${family}`, `# entries: ${networks.length}`]);
      assert.equal(body, lines(networks), family);
    }
  });

  once('4.3, D5.17 action: the deny list or the never-block list, neither subtracted from the other', async () => {
    const { send, get, reads } = await feeds().space();
    await send([
      upsert('192.0.2.0/24'),
      upsert('192.0.2.1', { action: 'allow' }),
      upsert('192.0.2.0', { action: 'allow' }),
      upsert('2001:db8::1', { action: 'allow' }),
    ]);
    await reads('', '192.0.2.0/24\n');
    assert.equal((await get('?action=block')).text, '192.0.2.0/24\n');
    assert.equal((await get('?action=allow')).text, '192.0.2.0/31\n2001:db8::1/128\n');
    assert.equal((await get('?action=allow&family=v6')).text, '2001:db8::1/128\n');
    assert.match((await get('?action=allow&format=commented')).text, /^# action: allow$/m);
  });

  test('3 what is deleted, unblocked or replaced leaves the feed', async () => {
    const { send, block, unblock, reads } = await feeds().space();
    await block(['192.0.2.1', 'NL']);
    await send([upsert('192.0.2.8', {}, { rule_ref: 'r' })]);
    await reads(
      '?family=v4',
      '192.0.2.1/32\n192.0.2.8/32\n198.51.100.0/24\n203.0.113.1/32\n203.0.113.2/31\n203.0.113.4/31\n203.0.113.6/32\n',
    );
    await unblock(['nl']);
    await send([upsert('192.0.2.9', {}, { rule_ref: 'r' })]);
    await reads('?family=v4', '192.0.2.1/32\n192.0.2.9/32\n');
    await unblock(['192.0.2.1/32']);
    await send([{ kind: 'access_rule', op: 'delete', rule_ref: 'r' }]);
    await reads('?family=v4', '');
  });

  test('4.3, 4.5, D5.6 random rules in every format equal a slow reference', async () => {
    const { send, get, reads } = await feeds().space();
    const random = seededRandom(41);
    const rules = Array.from({ length: 2000 }, () => randomRule(random));
    const envelopes = rules.map(({ family, start, prefix, confidence, severity, action }) => {
      const config = { ...(confidence && { confidence }), ...(severity && { severity }) };
      return upsert(
        slowText(family, start, BigInt(prefix), true),
        { action, config },
        { rule_ref: `r${start}-${prefix}-${confidence}-${severity}-${action}` },
      );
    });
    for (let at = 0; at < envelopes.length; at += 1000) await send(envelopes.slice(at, at + 1000));
    for (const action of ['block', 'allow']) {
      const chosen = rules.filter((rule) => rule.action === action);
      const networks = ([4, 6] as const).map((family) =>
        slowCoalesce(
          family,
          chosen.filter((rule) => rule.family === family),
        ),
      );
      await reads(`?action=${action}`, lines(networks.flat()));
      assert.equal((await get(`?action=${action}&format=set_elements&family=v4`)).text, `elements = { ${networks[0]!.join(', ')} }\n`);
      await reads(`?action=${action}&format=csv_indicator`, slowCsv(chosen));
    }
  });

  once('4.3.2, 4.3.4 a country rule for US on the packaged data', async () => {
    const { block, reads, getReplica } = await feeds().space();
    await block(['us', '192.0.2.1']);
    // The small data of the first server have no ranges of it.
    await reads('', '192.0.2.1/32\n');
    const { status, headers, text } = await eventually(async () => {
      const reply = await getReplica();
      assert.ok(Number(reply.headers['x-feed-entry-count']) > 1);
      return reply;
    }, 60_000);
    const networks = text.trimEnd().split('\n');
    assert.deepEqual([status, headers['x-feed-entry-count']], [200, String(networks.length)]);
    assert.ok(networks.length > 30_000, `${networks.length} networks`);
    assert.ok(networks.includes('192.0.2.1/32') && networks.includes('12.0.0.0/8'));
    // Sorted, no overlap, nothing left to merge, as a second pass by the slow reference would have it.
    const ranges = networks.map(rangeOf);
    for (const family of [4, 6] as const) {
      const texts = networks.filter((_, i) => ranges[i]!.family === family);
      assert.ok(texts.length > 1000, `IPv${family}: ${texts.length}`);
      assert.deepEqual(
        slowCoalesce(
          family,
          ranges.filter((range) => range.family === family),
        ),
        texts,
      );
    }
  });
}

const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
type Level = (typeof LEVELS)[number];

interface RandomRule extends SlowRange {
  readonly family: Family;
  readonly prefix: number;
  readonly confidence: Level | undefined;
  readonly severity: Level | undefined;
  readonly action: 'block' | 'allow';
}

/** Networks of few places, so that many overlap and touch, in few classes. */
function randomRule(random: Random): RandomRule {
  const family = random.pick([4, 6] as const);
  const base = family === 4 ? 0x0a000000n : 0x20010db8n << 96n;
  const hostBits = BigInt(random.pick([0, 0, 0, 1, 2, 3, 8]));
  const shift = family === 4 ? 0n : BigInt(random.pick([0, 64]));
  const start = ((base + (BigInt(random.below(1500)) << shift)) >> hostBits) << hostBits;
  return {
    family,
    start,
    end: start + 2n ** hostBits - 1n,
    prefix: Number(BITS[family] - hostBits),
    confidence: random.pick([undefined, undefined, 'low', 'critical'] as const),
    severity: random.pick([undefined, 'medium'] as const),
    action: random.pick(['block', 'block', 'allow'] as const),
  };
}

/** csv_indicator of rules, from what the specification says: each class on its own, then one order. */
function slowCsv(rules: readonly RandomRule[]): string {
  const rows = ([4, 6] as const).flatMap((family) => {
    const own = rules.filter((rule) => rule.family === family);
    const classes = Map.groupBy(own, ({ confidence = 'high', severity = 'high' }) => `${confidence},${severity}`);
    return [...classes]
      .flatMap(([name, members]) => slowCoalesce(family, members).map((network) => ({ name, ...rangeOf(network) })))
      .sort((a, b) => compare(a.start, b.start) || compare(b.end, a.end) || rank(a.name) - rank(b.name));
  });
  const address = (family: Family, value: bigint) => slowText(family, value, BITS[family], false);
  return rows
    .map(({ name, family, start, end }) =>
      start === end ? `${address(family, start)},IP,${name}\n` : `${address(family, start)}-${address(family, end)},IP Range,${name}\n`,
    )
    .join('');
}

const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
const rank = (name: string) => name.split(',').reduce((sum, level) => 4 * sum + LEVELS.indexOf(level as Level), 0);
