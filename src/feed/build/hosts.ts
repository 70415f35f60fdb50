/** Feeds for devices accepting only single addresses (SPEC D25.3): networks are expanded. */
import type { CidrsV4, CidrsV6 } from '@weir/network/coalesce.ts';
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { NetworkClass } from '../formats/format.ts';
import { DEFAULT_ENTRY_LIMIT } from '../variant.ts';

/** Per family; exact up to 2^53. */
export const hostCounts = (classes: readonly NetworkClass[]): { readonly v4: number; readonly v6: number } => ({
  v4: classes.reduce((sum, { v4 }) => sum + addresses(v4.prefixes, v4.length, 32), 0),
  v6: Math.min(
    Number.MAX_SAFE_INTEGER,
    classes.reduce((sum, { v6 }) => sum + addresses(v6.prefixes, v6.length, 128), 0),
  ),
});

export const asHosts = (classes: readonly NetworkClass[]): NetworkClass[] =>
  classes.map((each) => ({ ...each, v4: hostsV4(each.v4), v6: hostsV6(each.v6) }));

export function bareHint(classes: readonly NetworkClass[]): string {
  const widest = classes.flatMap(widestOf).sort((a, b) => b.bits - a.bits)[0];
  const named =
    widest === undefined ? '' : ` The widest network is ${formatNetwork(widest.network)}, ${2n ** BigInt(widest.bits)} addresses.`;
  return `This feed has single addresses (host_style bare): every network is written address by address.${named} To publish it: remove wide networks, raise its max_entries up to ${DEFAULT_ENTRY_LIMIT}, or set host_style to cidr where the device takes networks.`;
}

const addresses = (prefixes: Uint8Array, length: number, bits: number): number => {
  let sum = 0;
  for (let i = 0; i < length; i++) sum += 2 ** (bits - prefixes[i]!);
  return sum;
};

function hostsV4({ length, addresses: from, prefixes }: CidrsV4): CidrsV4 {
  const all = new Uint32Array(addresses(prefixes, length, 32));
  let at = 0;
  for (let i = 0; i < length; i++) {
    const size = 2 ** (32 - prefixes[i]!);
    for (let k = 0; k < size; k++) all[at++] = from[i]! + k;
  }
  return { length: at, addresses: all, prefixes: new Uint8Array(at).fill(32) };
}

function hostsV6({ length, words, prefixes }: CidrsV6): CidrsV6 {
  const count = addresses(prefixes, length, 128);
  const all = new Uint32Array(4 * count);
  let at = 0;
  for (let i = 0; i < length; i++) {
    // Within the cap, all addresses differ only in the last word.
    const size = 2 ** (128 - prefixes[i]!);
    for (let k = 0; k < size; k++, at += 4) {
      all.set(words.subarray(4 * i, 4 * i + 3), at);
      all[at + 3] = words[4 * i + 3]! + k;
    }
  }
  return { length: count, words: all, prefixes: new Uint8Array(count).fill(128) };
}

function widestOf({ v4, v6 }: NetworkClass): { readonly bits: number; readonly network: Network }[] {
  const first = (prefixes: Uint8Array, length: number) => {
    let best = -1;
    for (let i = 0; i < length; i++) if (best < 0 || prefixes[i]! < prefixes[best]!) best = i;
    return best;
  };
  const [i, j] = [first(v4.prefixes, v4.length), first(v6.prefixes, v6.length)];
  return [
    ...(i < 0 ? [] : [{ bits: 32 - v4.prefixes[i]!, network: { family: 4, address: v4.addresses[i]!, prefix: v4.prefixes[i]! } as const }]),
    ...(j < 0
      ? []
      : [
          {
            bits: 128 - v6.prefixes[j]!,
            network: { family: 6, address: [...v6.words.subarray(4 * j, 4 * j + 4)], prefix: v6.prefixes[j]! } as unknown as Network,
          },
        ]),
  ];
}
