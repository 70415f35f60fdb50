import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A value of an MMDB record, as far as geo data need one. */
export type MmdbValue = string | number | bigint | readonly MmdbValue[] | { readonly [key: string]: MmdbValue };

export interface MmdbOptions {
  readonly recordSize?: 24 | 28 | 32;
  readonly ipVersion?: 4 | 6;
  readonly databaseType?: string;
  readonly buildEpoch?: number;
  /** Repeat the IPv4 subtree where MaxMind's writers do: ::ffff:0:0/96, 2001::/32, 2002::/16. */
  readonly hasAliases?: boolean;
}

interface Node {
  left: Node | Leaf | undefined;
  right: Node | Leaf | undefined;
}
interface Leaf {
  readonly data: MmdbValue;
}

const SEPARATOR = 16;
const ALIASES = ['::ffff:0:0/96', '2001::/32', '2002::/16'];

/** Writes a MaxMind DB (format 2.0) that maps networks, none inside another, to records. */
export function mmdb(networks: Readonly<Record<string, MmdbValue>>, options: MmdbOptions = {}): Buffer {
  const { recordSize = 28, ipVersion = 6, databaseType = 'Made', buildEpoch = 1_780_000_000, hasAliases = false } = options;
  const root: Node = { left: undefined, right: undefined };
  for (const [network, data] of Object.entries(networks)) place(root, bitsOf(network, ipVersion), { data });
  if (hasAliases) {
    const ipv4 = descend(root, '0'.repeat(96));
    for (const alias of ALIASES) place(root, bitsOf(alias, 6), ipv4);
  }
  const nodes = numbered(root);
  const offsets = new Map<string, number>();
  const chunks: Buffer[] = [];
  let dataLength = 0;
  const offsetOf = ({ data }: Leaf): number => {
    const bytes = encode(data);
    const text = bytes.toString('latin1');
    const known = offsets.get(text);
    if (known !== undefined) return known;
    offsets.set(text, dataLength);
    chunks.push(bytes);
    dataLength += bytes.length;
    return dataLength - bytes.length;
  };
  const recordOf = (child: Node | Leaf | undefined): number => {
    if (child === undefined) return nodes.size;
    return 'data' in child ? nodes.size + SEPARATOR + offsetOf(child) : (nodes.get(child) as number);
  };
  const tree = [...nodes.keys()].map((node) => writeNode(recordOf(node.left), recordOf(node.right), recordSize));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: BigInt(buildEpoch),
    database_type: databaseType,
    description: { en: 'made by a test' },
    ip_version: ipVersion,
    languages: ['en'],
    node_count: nodes.size,
    record_size: recordSize,
  });
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([...tree, Buffer.alloc(SEPARATOR), ...chunks, marker, metadata]);
}

/** A network's prefix as a string of bits; IPv4 stands at ::/96 of an IPv6 tree. */
function bitsOf(network: string, ipVersion: 4 | 6): string {
  const [address, prefix] = network.split('/');
  const bytes = isIPv4(address) ? ipaddr.IPv4.parse(address).toByteArray() : ipaddr.IPv6.parse(address).toByteArray();
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (isIPv4(address) && ipVersion === 6 ? '0'.repeat(96) : '') + bits.slice(0, Number(prefix));
}

const side = (bit: string) => (bit === '0' ? 'left' : 'right');

function place(root: Node, bits: string, value: Node | Leaf): void {
  descend(root, bits.slice(0, -1))[side(bits.at(-1) ?? '0')] = value;
}

function descend(root: Node, bits: string): Node {
  let node = root;
  for (const bit of bits) {
    const child = node[side(bit)] ?? { left: undefined, right: undefined };
    if ('data' in child) throw new Error('a network inside another');
    node[side(bit)] = child;
    node = child;
  }
  return node;
}

/** Every node once, in the order of their numbers. */
function numbered(root: Node): Map<Node, number> {
  const nodes = new Map([[root, 0]]);
  for (const node of nodes.keys()) {
    for (const child of [node.left, node.right]) {
      if (child !== undefined && !('data' in child) && !nodes.has(child)) nodes.set(child, nodes.size);
    }
  }
  return nodes;
}

function writeNode(left: number, right: number, recordSize: 24 | 28 | 32): Buffer {
  const node = Buffer.alloc(recordSize / 4);
  if (recordSize === 32) {
    node.writeUInt32BE(left, 0);
    node.writeUInt32BE(right, 4);
  } else {
    node.writeUIntBE(left % 2 ** 24, 0, 3);
    node.writeUIntBE(right % 2 ** 24, recordSize / 4 - 3, 3);
    if (recordSize === 28) node[3] = ((left >>> 24) << 4) | (right >>> 24);
  }
  return node;
}

const TYPES = { string: 2, uint32: 6, map: 7, uint64: 9, array: 11 };

function encode(value: MmdbValue): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(TYPES.string, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') return integer(TYPES.uint32, BigInt(value));
  if (typeof value === 'bigint') return integer(TYPES.uint64, value);
  if (Array.isArray(value)) return Buffer.concat([control(TYPES.array, value.length), ...value.map(encode)]);
  const entries = Object.entries(value).flatMap(([key, item]) => [encode(key), encode(item)]);
  return Buffer.concat([control(TYPES.map, entries.length / 2), ...entries]);
}

function integer(type: number, value: bigint): Buffer {
  const hex = value === 0n ? '' : value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([control(type, bytes.length), bytes]);
}

/** Type and size; sizes from 29 take another byte, types from 8 too. */
function control(type: number, size: number): Buffer {
  const low = Math.min(size, 29);
  const extension = size >= 29 ? [size - 29] : [];
  return Buffer.from(type < 8 ? [(type << 5) | low, ...extension] : [low, type - 7, ...extension]);
}
