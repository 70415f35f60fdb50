/** Counters of nftables set elements in the output of `nft -j list` (SPEC D31.7). */
import { WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';

export interface Counter {
  readonly packets: number;
  readonly bytes: number;
}

export interface NftElement {
  /** The set and the element. */
  readonly name: string;
  /** An address, a network in CIDR notation, or the first address of a range. */
  readonly value: string;
  readonly counter: Counter;
}

type Value = string | { readonly prefix: { readonly addr: string; readonly len: number } } | { readonly range: readonly [string, string] };
interface Listed {
  readonly set?: { readonly family?: string; readonly table?: string; readonly name?: string; readonly elem?: readonly unknown[] };
}

/** Reads one listing, or several on separate lines. Rejects with USAGE. */
export function nftElements(text: string): { readonly elements: readonly NftElement[]; readonly withoutCounter: number } {
  const elements: NftElement[] = [];
  let withoutCounter = 0;
  for (const { set } of listingsIn(text)) {
    if (set === undefined) continue;
    const named = [set.family, set.table, set.name].join(' ');
    for (const element of set.elem ?? []) {
      const { val, counter } = (element as { elem?: { val?: Value; counter?: Counter } }).elem ?? {};
      if (val === undefined || counter === undefined) {
        withoutCounter += 1;
        continue;
      }
      const value = networkText(val);
      elements.push({ name: `${named} ${typeof val === 'object' && 'range' in val ? val.range.join('-') : value}`, value, counter });
    }
  }
  return { elements, withoutCounter };
}

const networkText = (value: Value): string =>
  typeof value === 'string' ? value : 'prefix' in value ? `${value.prefix.addr}/${value.prefix.len}` : value.range[0];

function listingsIn(text: string): Listed[] {
  const whole = parsedJson(text);
  const parts = whole === undefined ? text.split('\n').filter((line) => line.trim() !== '') : [text];
  return parts.flatMap((part) => {
    const { nftables } = Object(parsedJson(part)) as { nftables?: Listed[] };
    if (!Array.isArray(nftables)) throw new WeirError('USAGE', 'this is no listing of nftables: give it what `nft -j list set …` prints');
    return nftables;
  });
}

/** By name of the element. */
export type Counters = Readonly<Record<string, readonly [packets: number, bytes: number]>>;

export const countersOf = (elements: readonly NftElement[]): Counters =>
  Object.fromEntries(elements.map(({ name, counter: { packets, bytes } }) => [name, [packets, bytes] as const]));

/** A counter below its earlier value was reset. */
export function countedSince({ name, counter: { packets, bytes } }: NftElement, before: Counters): Counter {
  const [oldPackets, oldBytes] = before[name] ?? [0, 0];
  if (packets < oldPackets || bytes < oldBytes) return { packets, bytes };
  return { packets: packets - oldPackets, bytes: bytes - oldBytes };
}
