import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import { type CidrsV4, type CidrsV6, compareCidrsV4, compareCidrsV6 } from '@weir/network/coalesce.ts';
import { MAX_V4_TEXT, MAX_V6_TEXT, writeV4, writeV6 } from '@weir/network/render.ts';
import { LEVEL_CLASSES } from '../levels.ts';
import type { FeedNetworks } from './format.ts';
import type { DocumentText } from './stamp.ts';

const encoder = new TextEncoder();
const DASH = 0x2d;

const ENDINGS = LEVEL_CLASSES.map(({ confidence, severity }) => ({
  host: encoder.encode(`,IP,${confidence},${severity}\n`),
  range: encoder.encode(`,IP Range,${confidence},${severity}\n`),
}));
const LONGEST_ENDING = Math.max(...ENDINGS.map(({ range }) => range.length));

const rowCapacity = (address: number) => 2 * address + LONGEST_ENDING;

/**
 * The rows of a csv_indicator feed (spec 4.5): every network as host or range, with its class. IPv4 before IPv6; sorted by first address,
 * wider before narrower, then by class.
 */
export function renderCsv({ classes }: FeedNetworks): DocumentText {
  const v4 = classes.map((each) => each.v4);
  const v6 = classes.map((each) => each.v6);
  const bytes = new Uint8Array(total(v4) * rowCapacity(MAX_V4_TEXT) + total(v6) * rowCapacity(MAX_V6_TEXT));
  const out = { bytes, view: new DataView(bytes.buffer) };
  let at = 0;
  const byAddressV4 = (a: number, i: number, b: number, j: number) => compareCidrsV4(v4[a], i, v4[b], j);
  mergeSorted(v4, byAddressV4, (list, i) => {
    at = writeRowV4(out, at, v4[list], i, classes[list].index);
  });
  const byAddressV6 = (a: number, i: number, b: number, j: number) => compareCidrsV6(v6[a], i, v6[b], j);
  mergeSorted(v6, byAddressV6, (list, i) => {
    at = writeRowV6(out, at, v6[list], i, classes[list].index);
  });
  return { bytes: bytes.slice(0, at), stampsAt: [] };
}

interface Out {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

const total = (lists: readonly { readonly length: number }[]) => lists.reduce((sum, { length }) => sum + length, 0);

/** On a tie the earlier list comes first. */
function mergeSorted(
  lists: readonly { readonly length: number }[],
  compare: (listA: number, itemA: number, listB: number, itemB: number) => number,
  visit: (list: number, item: number) => void,
): void {
  const next = lists.map(() => 0);
  for (let left = total(lists); left > 0; left--) {
    let first = -1;
    for (let list = 0; list < lists.length; list++) {
      if (next[list] === lists[list].length) continue;
      if (first < 0 || compare(list, next[list], first, next[first]) < 0) first = list;
    }
    visit(first, next[first]++);
  }
}

function writeRowV4(out: Out, from: number, { addresses, prefixes }: CidrsV4, i: number, index: number): number {
  const at = writeV4(out.view, from, addresses[i]);
  if (prefixes[i] === 32) return write(out.bytes, at, ENDINGS[index].host);
  out.bytes[at] = DASH;
  return write(out.bytes, writeV4(out.view, at + 1, lastAddressV4(addresses[i], prefixes[i])), ENDINGS[index].range);
}

const last = new Uint32Array(4);

function writeRowV6(out: Out, from: number, { words, prefixes }: CidrsV6, i: number, index: number): number {
  const at = writeV6(out.view, from, words, 4 * i);
  if (prefixes[i] === 128) return write(out.bytes, at, ENDINGS[index].host);
  out.bytes[at] = DASH;
  lastAddressV6(words, 4 * i, prefixes[i], last);
  return write(out.bytes, writeV6(out.view, at + 1, last, 0), ENDINGS[index].range);
}

function write(bytes: Uint8Array, at: number, text: Uint8Array): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text[i];
  return at + text.length;
}
