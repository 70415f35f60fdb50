/** Tables with random columns and cells, read by the readers of lists and by a plain reference reader (SPEC D40.1). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import type { Network } from '@weir/network/network.ts';
import { type PassedRow, type PlacedEntry, readContent } from '../../../src/source/readers/content.ts';
import type { LineFault } from '../../../src/source/readers/items.ts';
import { type Random, seededRandom } from '../../support/random.ts';
import { type Block, referenceRow } from '../../support/reference-reader.ts';

const NONE = { action: 'block', expiresIn: undefined, reason: undefined, labels: {} } as const;

const word =
  (...texts: string[]) =>
  (random: Random) =>
    random.pick(texts);
/** Addresses are of a small space, so that cells of a row often have to do with each other. */
const address = (random: Random) => `198.51.100.${random.pick([0, 0, 4, 7, 8, 64, 128, 200, 255])}`;
const address6 = (random: Random) => `2001:db8::${random.pick(['', '4', '8', 'ff'])}`;
const network = (random: Random) => `${address(random)}/${random.pick([8, 22, 24, 24, 25, 26, 30, 32])}`;
const network6 = (random: Random) => `${address6(random)}/${random.pick([32, 64, 120, 126, 128])}`;
const length = (random: Random) => random.pick(['24', '/24', '25', '26', '29', '30', '32', '64', '126', '0', '129', 'x']);
const mask = word('255.255.255.0', '255.255.255.128', '255.255.255.252', '255.255.255.255', '255.0.255.0', '0.0.0.0', '0.0.0.255', 'x');
const any = (random: Random): string => random.pick([address, address, address6, network, network6, word('-', '', 'n/a', 'x')])(random);
const part = (random: Random): string =>
  random.pick([network, network, network6, length, mask, word('', 'EXAMPLE-NET', 'NET 203.0.113.0/24', '198.51.100', '198.51.100.0/33')])(
    random,
  );

/** The columns, what stands in them, and how often they are there, in percent. */
const COLUMNS: Readonly<Record<string, readonly [cell: (random: Random) => string, share: number]>> = {
  ip: [any, 40],
  'IP Address': [any, 8],
  address: [any, 12],
  ip_1: [any, 5],
  ipv4: [(random) => random.pick([address, address, address, network, word('')])(random), 12],
  ipv6: [(random) => random.pick([address6, address6, network6, word('')])(random), 12],
  ipv6_prefix: [(random) => random.pick([network6, network6, length, word('')])(random), 4],
  network: [part, 15],
  cidr: [part, 15],
  subnet: [part, 10],
  value: [(random) => random.pick([any, word('5', 'x')])(random), 15],
  indicator: [any, 10],
  src_ip: [any, 8],
  dst_ip: [any, 4],
  prefix: [part, 8],
  netmask: [(random) => random.pick([mask, length])(random), 10],
  subnet_mask: [mask, 6],
  wildcard: [word('0.0.0.255', '0.0.0.3', '0.0.0.0', '255.255.255.0', '0.255.0.255'), 4],
  prefix_length: [length, 8],
  length: [length, 4],
  size: [word('1', '24', '64', '256', '1000', '99999999999', 'x'), 5],
  start_ip: [any, 8],
  first: [(random) => random.pick([address, word('2026-01-01')])(random), 5],
  end_ip: [any, 8],
  end: [(random) => random.pick([address, address, word('2026-01-01', 'x')])(random), 5],
  to: [(random) => random.pick([address, word('2026-01-01', 'x')])(random), 5],
  type: [word('ip', 'IPv4', 'malware', 'url', 'domain', 'scanner', 'ip-src', 'CIDR', 'pass'), 10],
  indicator_type: [word('ip', 'Intel::ADDR', 'IPv4', 'ipv6-addr', 'Intel::URL', 'FileHash-SHA256', 'nonsense', ''), 8],
  action: [word('block', 'deny', 'DROP', 'allow', 'accept', 'captcha', 'frobnicate', ''), 8],
  verdict: [word('block', 'blocked', 'pass', 'nonsense'), 4],
  status: [word('blocked', 'active', 'allow', '7'), 4],
  simulated: [word('true', 'false', ''), 4],
  gateway: [(random) => random.pick([any, word('router')])(random), 8],
  asn: [word('64500', 'AS64500'), 8],
  country: [word('US', 'NL'), 8],
  reason: [word('as 203.0.113.9 did', '203.0.113.9', 'x'), 8],
  confidence: [word('85', 'very-high', '7.5'), 6],
  severity: [word('very-high', 'low'), 4],
};

/** How a file may write the name of a column. */
const STYLES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replaceAll('_', ' '),
  (name) => name.replaceAll('_', '-'),
  (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
];

const blockOf = (found: Network): Block => {
  if (found.family === 4) return [4, BigInt(found.address), BigInt(lastAddressV4(found.address, found.prefix))];
  const last = new Uint32Array(4);
  lastAddressV6(found.address, 0, found.prefix, last);
  const number = (words: Iterable<number>) => Array.from(words).reduce((sum, each) => (sum << 32n) | BigInt(each), 0n);
  return [6, number(found.address), number(last)];
};

/** Blocks that follow each other are one. */
function joined(blocks: readonly Block[]): string[] {
  const sorted = blocks.toSorted((one, other) => one[0] - other[0] || (one[1] < other[1] ? -1 : 1));
  const all: [4 | 6, bigint, bigint][] = [];
  for (const [family, first, last] of sorted) {
    const before = all.at(-1);
    if (before !== undefined && before[0] === family && before[2] + 1n >= first) before[2] = before[2] > last ? before[2] : last;
    else all.push([family, first, last]);
  }
  return all.map(([family, first, last]) => `${family}: ${first}-${last}`);
}

async function* once(text: string) {
  yield Buffer.from(text);
}

/** What the readers make of each row of a table, by its line. */
async function readTable(text: string, file: string): Promise<Map<string, (PlacedEntry | LineFault | PassedRow)[]>> {
  const read = await readContent(once(text), { file }, NONE);
  assert.ok('entries' in read);
  return Map.groupBy(await Array.fromAsync(read.entries), ({ place }) => place);
}

const SHAPES = [
  (names: readonly string[], rows: readonly (readonly string[])[]) =>
    [[names, ...rows].map((row) => row.join(',')).join('\n'), 'x.csv', 2] as const,
  (names: readonly string[], rows: readonly (readonly string[])[]) =>
    [[names, ...rows].map((row) => row.join('\t')).join('\n'), 'x.tsv', 2] as const,
  (names: readonly string[], rows: readonly (readonly string[])[]) =>
    [`#fields\t${names.join('\t')}\n${rows.map((row) => row.join('\t')).join('\n')}`, 'x.log', 2] as const,
  (names: readonly string[], rows: readonly (readonly string[])[]) =>
    [rows.map((row) => JSON.stringify(Object.fromEntries(names.map((name, i) => [name, row[i]])))).join('\n'), 'x.ndjson', 1] as const,
];

test('D40.1 random tables: the readers block what a plain reference reader says, or refuse, in every form', async () => {
  const random = seededRandom(40);
  const counts = { rows: 0, accepted: 0, skipped: 0, refused: 0 };
  for (let table = 0; table < 1500; table += 1) {
    const names = Object.keys(COLUMNS).filter((name) => random.below(100) < COLUMNS[name]![1]);
    if (!names.some((name) => /^(ip|IP Address|address|network|cidr|value|indicator)$/.test(name))) names.push('ip');
    for (let i = names.length - 1; i > 0; i -= 1) {
      const other = random.below(i + 1);
      [names[i], names[other]] = [names[other]!, names[i]!];
    }
    const rows = Array.from({ length: 4 }, () => names.map((name) => COLUMNS[name]![0](random)));
    // A blank row of a table is no row, and one of its own cells must not look like a header in a comment.
    const full = rows.filter((row) => row[0] !== '' && row.some((cell) => cell.length > 1));
    if (full.length === 0) continue;
    const [text, file, first] = random.pick(SHAPES)(names.map(random.pick(STYLES)), full);
    const read = await readTable(`${text}\n`, file);
    for (const [i, row] of full.entries()) {
      const found = read.get(`line ${i + first}`) ?? [];
      const said = referenceRow(names, row);
      const what = `${names.join(',')}\n${row.join(',')}\n${JSON.stringify(found[0], (_, value) => (typeof value === 'bigint' ? String(value) : value))}\nreference: ${String(said)}`;
      counts.rows += 1;
      // What weir exports itself may say that it is allowed.
      const entries = found.flatMap((each) => ('entry' in each && each.entry.action === 'block' ? [each.entry.target] : []));
      const blocks = entries.flatMap((target) => (target.kind === 'ip' ? [blockOf(target.network)] : []));
      assert.equal(blocks.length, entries.length, what);
      if (typeof said === 'string') {
        counts[said] += 1;
        assert.equal(blocks.length, 0, what);
      } else {
        counts.accepted += 1;
        assert.deepEqual(joined(blocks), joined(said), what);
      }
    }
  }
  assert.ok(counts.accepted > counts.rows / 10 && counts.skipped > 200, JSON.stringify(counts));
});
