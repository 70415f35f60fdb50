import { lastAddressV6 } from '@weir/network/bounds.ts';
import decoder from 'mmdb-lib/lib/decoder.js';
import { type Metadata, parseMetadata } from 'mmdb-lib/lib/metadata.js';
import walker from 'mmdb-lib/lib/reader/walker.js';
import { WeirError } from '../errors.ts';
import { type GeoKind, INVALID, KINDS, readKeyText, SKIP } from './kind.ts';
import { noteName } from './names.ts';
import { addRow, type RowSink } from './rows.ts';

const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** The metadata is in the last 128 KiB, in bytes (MaxMind DB format 2.0, "Database Metadata"). */
const METADATA_REACH = 128 * 1024;
/** Zero bytes between the search tree and the data. */
const SEPARATOR = 16;

export const isMmdb = (bytes: Buffer): boolean => bytes.subarray(-METADATA_REACH).includes(METADATA_MARKER);

/** IPv6 networks in which writers repeat the IPv4 subtree: IPv4-mapped, Teredo, 6to4. */
const IPV4_ALIASES: readonly { readonly words: readonly number[]; readonly prefix: number }[] = [
  { words: [0, 0, 0xffff, 0], prefix: 96 },
  { words: [0x20010000, 0, 0, 0], prefix: 32 },
  { words: [0x20020000, 0, 0, 0], prefix: 16 },
];

/** Returns the name of the format and the date of the build. Throws GEO_FILE. */
export function readMmdb(bytes: Buffer, kind: GeoKind, sink: RowSink): { format: string; date: Date } {
  const metadata = readMetadata(bytes);
  const keyOf = recordKeys(bytes, metadata, kind, sink.names);
  walkTree(bytes, metadata, (first, last, family, record) => {
    const key = keyOf(record);
    if (key === SKIP) sink.skipped++;
    else addRow(family === 4 ? sink.v4 : sink.v6, first, last, key, sink.file, 0);
  });
  return { format: `MMDB (${metadata.databaseType})`, date: metadata.buildEpoch };
}

function readMetadata(bytes: Buffer): Metadata {
  try {
    const metadata = parseMetadata(bytes);
    if (!(metadata.searchTreeSize + SEPARATOR <= bytes.length)) throw new Error('its search tree is longer than the file');
    return metadata;
  } catch (error) {
    throw new WeirError('GEO_FILE', `the MMDB metadata cannot be read: ${(error as Error).message}`);
  }
}

/** Decodes each data record once and adds its name to `names`. */
function recordKeys(bytes: Buffer, metadata: Metadata, kind: GeoKind, names: Map<number, string>): (record: number) => number {
  const { default: Decoder } = decoder;
  const data = new Decoder(bytes, metadata.searchTreeSize + SEPARATOR);
  const known = new Map<number, number>();
  const decode = (record: number): number => {
    const found = decodeRecord(data, record - metadata.nodeCount + metadata.searchTreeSize);
    const text = KINDS[kind].recordKey(found);
    const key = text === undefined ? SKIP : readKeyText(kind, text);
    if (key === INVALID) throw new WeirError('GEO_FILE', `expected ${KINDS[kind].expected}, found ${JSON.stringify(text)} in a record`);
    if (key !== SKIP && !names.has(key)) noteName(names, key, KINDS[kind].recordName(found) ?? '');
    return key;
  };
  return (record) => {
    let key = known.get(record);
    if (key === undefined) {
      key = decode(record);
      known.set(record, key);
    }
    return key;
  };
}

function decodeRecord(data: InstanceType<typeof decoder.default>, offset: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = data.decode(offset).value;
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null)
    throw new WeirError('GEO_FILE', `the MMDB is damaged: no record can be read at byte ${offset}`);
  return value as Record<string, unknown>;
}

/** IPv4 addresses are at ::/96 in the tree of an IPv6 database. An IPv4 database has only that subtree. */
const IPV4_DEPTH = 96;
const MAX_DEPTH = 128;

/** First and last address in the format of `addRow`, and the tree record of the data. */
type Emit = (first: Uint32Array, last: Uint32Array, family: 4 | 6, record: number) => void;

/** For every network with data; once for the IPv4 subtree, although the tree may contain it several times. */
function walkTree(bytes: Buffer, metadata: Metadata, emit: Emit): void {
  const { nodeCount, nodeByteSize, recordSize, ipVersion } = metadata;
  const node = walker.default(bytes, recordSize);
  const ipv4Root = ipVersion === 4 ? undefined : findIpv4Root(metadata, node.left);
  const path = new Uint32Array(4);
  const last = new Uint32Array(4);
  let visited = 0;

  const visit = (record: number, depth: number): void => {
    if (record === nodeCount || (record === ipv4Root && isAlias(path, depth, record < nodeCount))) return;
    if (record > nodeCount) {
      lastAddressV6(path, 0, depth, last);
      emit(path, last, depth >= IPV4_DEPTH && isZero(path, 3) ? 4 : 6, record);
      return;
    }
    if (depth === MAX_DEPTH || ++visited > nodeCount) throw new WeirError('GEO_FILE', 'the MMDB is damaged: its search tree has a loop');
    visit(node.left(record * nodeByteSize), depth + 1);
    const bit = 2 ** (31 - (depth % 32));
    path[depth >>> 5] += bit;
    visit(node.right(record * nodeByteSize), depth + 1);
    path[depth >>> 5] -= bit;
  };
  visit(0, ipVersion === 4 ? IPV4_DEPTH : 0);
}

/** undefined: the tree ends before that depth. */
function findIpv4Root({ nodeCount, nodeByteSize }: Metadata, left: (offset: number) => number): number | undefined {
  let record = 0;
  let depth = 0;
  while (depth < IPV4_DEPTH && record < nodeCount) {
    record = left(record * nodeByteSize);
    depth++;
  }
  return depth === IPV4_DEPTH ? record : undefined;
}

/** A repeated IPv4 subtree. An equal leaf elsewhere may be data of its own, except in the known networks. */
function isAlias(path: Uint32Array, depth: number, isNode: boolean): boolean {
  if (isNode) return !isZero(path, 4);
  return IPV4_ALIASES.some((alias) => alias.prefix === depth && alias.words.every((word, i) => word === path[i]));
}

function isZero(words: Uint32Array, count: number): boolean {
  for (let word = 0; word < count; word++) if (words[word] !== 0) return false;
  return true;
}
