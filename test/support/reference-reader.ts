/**
 * What a row of a table of addresses asks for, by the rules D40.1 to D40.8 alone: plain and slow, and it imports nothing of `src/`.
 * It knows the columns that the tests use.
 */

/** The addresses of a rule: family, first and last. */
export type Block = readonly [family: 4 | 6, first: bigint, last: bigint];
/** `refused`: a cell is not understood. `skipped`: the row says that it asks for nothing. */
export type Outcome = 'refused' | 'skipped' | readonly Block[];

const bits = { 4: 32n, 6: 128n } as const;

function v4(text: string): bigint | undefined {
  const octets = text.split('.');
  if (octets.length !== 4 || octets.some((each) => !/^(0|[1-9]\d{0,2})$/.test(each) || Number(each) > 255)) return undefined;
  return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function v6(text: string): bigint | undefined {
  if (!/^[\da-f:]+$/i.test(text) || text.split('::').length > 2) return undefined;
  const [head, tail] = text.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = tail === undefined ? head! : [...head!, ...Array(8 - head!.length - tail.length).fill('0'), ...tail];
  if (groups.length !== 8) return undefined;
  return groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n);
}

function host(text: string): [4 | 6, bigint] | undefined {
  const [four, six] = [v4(text), v6(text)];
  return four !== undefined ? [4, four] : six !== undefined ? [6, six] : undefined;
}

/** An address, a network or a range; `bare` for an address alone. */
function read(text: string): { block: Block; bare: boolean } | undefined {
  if (text.includes('-')) {
    const [one, other] = text.split('-').map(host);
    return one && other && one[0] === other[0] && one[1] <= other[1] ? { block: [one[0], one[1], other[1]], bare: false } : undefined;
  }
  const [address, length] = text.split('/');
  const found = host(address!);
  if (found === undefined) return undefined;
  if (length === undefined) return { block: [found[0], found[1], found[1]], bare: true };
  if (!/^\d+$/.test(length) || BigInt(length) > bits[found[0]]) return undefined;
  const size = 2n ** (bits[found[0]] - BigInt(length));
  const first = (found[1] / size) * size;
  return { block: [found[0], first, first + size - 1n], bare: false };
}

const within = (inner: Block, outer: Block) => inner[0] === outer[0] && inner[1] >= outer[1] && inner[2] <= outer[2];
const same = (one: Block, other: Block) => within(one, other) && within(other, one);

/** Columns of targets, the strongest first; then columns that end, begin, measure, judge or describe. */
const TARGETS = [
  ['ip', 'IP Address', 'address', 'ipv4', 'ipv6', 'ip_1'],
  ['network', 'cidr', 'subnet', 'ipv6_prefix'],
  ['value'],
  ['indicator', 'src_ip', 'dst_ip'],
  ['prefix'],
];
const RANK = new Map(TARGETS.flatMap((names, rank) => names.map((name) => [name, rank] as const)));
const FAMILY: Readonly<Record<string, 4 | 6>> = { ipv4: 4, ipv6: 6, ipv6_prefix: 6 };
const DESCRIBES = new Set(['reason', 'name', 'notes']);
const OTHER_TYPES = /^(url|domain|md5|email|file|Intel::URL|FileHash-SHA256)$/i;
const ADDRESS_TYPES: Readonly<Record<string, 4 | 6 | 'ip'>> = {
  ip: 'ip',
  'ip-src': 'ip',
  'Intel::ADDR': 'ip',
  IPv4: 4,
  'ipv6-addr': 6,
  CIDR: 'ip',
};
const BLOCKS = /^(block|deny|drop|blocked)$/i;
const OTHERS = /^(allow|accept|permit|pass|captcha|throttle|unblock)$/i;

/** A prefix length or mask beside an address that begins the network; undefined: it is not understood. */
function measured(text: string, kind: 'mask' | 'wildcard' | 'length' | 'size', [family, first]: Block): Block | undefined {
  let size: bigint | undefined;
  if (kind === 'size') {
    if (!/^[1-9]\d*$/.test(text) || BigInt(text) <= bits[family]) return undefined;
    const last = first + BigInt(text) - 1n;
    return last < 2n ** bits[family] ? [family, first, last] : undefined;
  }
  if (kind !== 'wildcard' && /^\/?[1-9]\d*$/.test(text)) {
    const length = BigInt(text.replace('/', ''));
    size = length <= bits[family] ? 2n ** (bits[family] - length) : undefined;
  } else if (kind !== 'length' && family === 4) {
    const mask = v4(text);
    if (mask !== undefined) size = kind === 'mask' ? 2n ** 32n - mask : mask + 1n;
    // A mask of all addresses is none, and ones have to stand together.
    if (size === 2n ** 32n || (size !== undefined && !Array.from({ length: 32 }, (_, i) => 2n ** BigInt(i)).includes(size)))
      size = undefined;
  }
  return size !== undefined && first % size === 0n ? [family, first, first + size - 1n] : undefined;
}

/** What a row asks for in an import that blocks. */
export function referenceRow(names: readonly string[], texts: readonly string[]): Outcome {
  const cells = names.map((name, i) => ({ name, text: texts[i]!.trim() })).filter(({ text }) => !/^(-*|n\/a|null|none)$/i.test(text));
  const of = (...wanted: string[]) => cells.filter(({ name }) => wanted.includes(name));
  const judged = judge(of);
  if (judged === 'refused' || judged === 'skipped') return judged;

  const isMeasure = (text: string) => /^\/?\d+$/.test(text) || /^255\.\d+\.\d+\.\d+$/.test(text) || text === '0.0.0.0';
  const isTarget = ({ name, text }: { name: string; text: string }) =>
    RANK.has(name) &&
    (RANK.get(name) === 0 ||
      (!(['network', 'cidr', 'subnet', 'prefix', 'ipv6_prefix'].includes(name) && isMeasure(text)) &&
        /^\d+\.\d+\.\d+\.\d+|:/.test(text) &&
        read(text) !== undefined));
  const best = Math.min(...cells.filter(isTarget).map(({ name }) => RANK.get(name)!));
  const starts = of('start_ip', 'first').filter(({ text }) => read(text) !== undefined);
  if (of('start_ip').length > 0 && starts.every(({ name }) => name !== 'start_ip')) return 'refused';
  let chosen = Number.isFinite(best) ? cells.filter((cell) => isTarget(cell) && RANK.get(cell.name) === best) : starts.slice(0, 1);
  if (chosen.length === 0) return 'refused';
  if (best === 3 && new Set(names.filter((name) => RANK.get(name) === 3)).size > 1) return 'refused';
  // A column that is named after the other family adds its network.
  const families = new Set(chosen.map(({ text }) => read(text)?.block[0]));
  chosen = [
    ...chosen,
    ...cells.filter(
      (cell) =>
        isTarget(cell) &&
        RANK.get(cell.name)! <= 1 &&
        !chosen.includes(cell) &&
        FAMILY[cell.name] !== undefined &&
        !families.has(FAMILY[cell.name]),
    ),
  ];

  const targets: { block: Block; bare: boolean; name: string }[] = [];
  for (const { name, text } of chosen) {
    const found = read(text);
    if (found === undefined || (FAMILY[name] !== undefined && FAMILY[name] !== found.block[0])) return 'refused';
    const twin = targets.find(({ block }) => same(block, found.block));
    if (twin !== undefined) twin.bare &&= found.bare;
    else targets.push({ ...found, name });
  }
  if (
    targets.length > 2 ||
    (targets.length === 2 && (targets[0]!.block[0] === targets[1]!.block[0] || !chosen.some(({ name }) => FAMILY[name] !== undefined)))
  )
    return 'refused';

  for (const target of targets) {
    const measures: (Block | undefined)[] = [];
    let ofBoth = 0;
    for (const cell of cells) {
      if (chosen.includes(cell)) continue;
      const before = measures.length;
      const { name, text } = cell;
      const [family, first] = target.block;
      if (['netmask', 'subnet_mask'].includes(name)) measures.push(measured(text, 'mask', target.block));
      else if (name === 'wildcard') measures.push(measured(text, 'wildcard', target.block));
      else if (['prefix_length', 'length'].includes(name)) measures.push(measured(text, 'length', target.block));
      else if (name === 'size' && target.bare) measures.push(measured(text, 'size', target.block));
      else if (['network', 'cidr', 'subnet', 'prefix'].includes(name) && isMeasure(text))
        measures.push(measured(text, 'mask', target.block));
      else if (name === 'ipv6_prefix' && isMeasure(text) && family === 6) measures.push(measured(text, 'mask', target.block));
      else if (name === 'end_ip' || (name === 'end' && /\d/.test(text)) || (name === 'to' && /^\d+\.\d+\.\d+\.\d+$|:/.test(text))) {
        const end = read(text);
        measures.push(end?.bare && end.block[0] === family && end.block[1] >= first ? [family, first, end.block[1]] : undefined);
      }
      if (FAMILY[name] === undefined) ofBoth += measures.length - before;
    }
    if (ofBoth > 0 && targets.length > 1) return 'refused';
    const [one] = measures;
    if (measures.some((each) => each === undefined || !same(each, one!) || (!target.bare && !same(each, target.block)))) return 'refused';
    if (one !== undefined) {
      target.block = one;
      target.bare = false;
    } else if (target.bare && ['start_ip', 'first'].includes(target.name)) return 'refused';
  }
  for (const { text } of starts) if (!targets.some(({ block }) => block[1] === read(text)!.block[1])) return 'refused';
  for (const cell of cells) {
    const { name, text } = cell;
    const isMeasuring = /^(netmask|subnet_mask|wildcard|prefix_length|length|size|end_ip|end|to|start_ip|first)$/.test(name);
    if (isMeasuring || DESCRIBES.has(name) || (['network', 'cidr', 'subnet', 'prefix', 'ipv6_prefix'].includes(name) && isMeasure(text)))
      continue;
    const found = read(text);
    if (found === undefined) {
      // Half an address in a column of networks is not understood.
      if ((RANK.get(name) === 1 || name === 'prefix') && /^[\da-f.:/-]*[.:/][\da-f.:/-]*$|\d+\.\d+\.\d+\.\d+/i.test(text)) return 'refused';
      if (RANK.has(name) && RANK.get(name) !== 1 && /^\d+\.\d+\.\d+\.\d+(?![\d.])/.test(text)) return 'refused';
      continue;
    }
    if (FAMILY[name] !== undefined && FAMILY[name] !== found.block[0]) return 'refused';
    const around = targets.find(({ block }) => within(block, found.block) || within(found.block, block));
    if (around === undefined) return 'refused';
    // An address and a network that begins with it: one may be the other, written out.
    if (name !== 'prefix' && around.bare && !same(around.block, found.block) && found.block[1] === around.block[1]) return 'refused';
  }
  if (targets.some(({ block: [family] }) => judged !== 'ip' && judged !== family)) return 'refused';
  return targets.map(({ block }) => block);
}

/** The family that the row's types name, or what becomes of the row. A row that asks for nothing may be at fault as well. */
function judge(of: (...names: string[]) => { name: string; text: string }[]): 4 | 6 | 'ip' | 'refused' | 'skipped' {
  let family: 4 | 6 | 'ip' = 'ip';
  let outcome: 'refused' | 'skipped' | undefined;
  for (const { name, text } of of('type', 'indicator_type')) {
    const known = ADDRESS_TYPES[text];
    if (OTHER_TYPES.test(text)) outcome ??= 'skipped';
    else if (known === undefined && name === 'indicator_type') outcome ??= 'refused';
    else if (name === 'type' && OTHERS.test(text)) outcome ??= 'skipped';
    else if (known !== undefined && family === 'ip') family = known;
    else if (known !== undefined && known !== 'ip' && known !== family) outcome ??= 'refused';
  }
  for (const { name, text } of of('action', 'verdict', 'status')) {
    if (OTHERS.test(text)) outcome ??= 'skipped';
    else if (name !== 'status' && !BLOCKS.test(text)) outcome ??= 'refused';
  }
  for (const { text } of of('simulated')) {
    if (text === 'true') outcome ??= 'skipped';
    else if (text !== 'false') outcome ??= 'refused';
  }
  return outcome ?? family;
}
