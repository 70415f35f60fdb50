/** A small space of addresses, so that random networks often meet, with geo data and sets over it. */
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import type { GeoDatabase } from '../../src/ports/geo.ts';
import type { Random } from './random.ts';

/** 198.51.96.0/20 and 2001:db8::/116: 4096 addresses each, one after the other. */
export const HALF = 4096;
export const SPACE = 2 * HALF;
const [V4, V6] = [0xc633_6000, 0x2001_0db8];

/** The network of 2^bits addresses from `at` on. */
export const networkAt = (at: number, bits: number): Network =>
  at < HALF ? { family: 4, address: V4 + at, prefix: 32 - bits } : { family: 6, address: [V6, 0, 0, at - HALF], prefix: 128 - bits };

/** The first and the last of the space that the networks of a target hold. */
export type Span = readonly [from: number, to: number];

/** A network and its addresses. */
export interface Place {
  readonly text: string;
  readonly spans: readonly Span[];
}

/** A network anywhere in the space. */
export function randomNetwork(random: Random): Place {
  const bits = random.pick([0, 0, 0, 1, 2, 4, 6, 9, 12]);
  const at = (random.below(SPACE) >> bits) << bits;
  return { text: formatNetwork(networkAt(at, bits)), spans: [[at, at + 2 ** bits - 1]] };
}

/** Ranges that need not be networks. */
export const randomSpans = (random: Random): Span[] =>
  Array.from({ length: random.below(5) }, () => {
    const from = random.below(SPACE);
    return [from, Math.min(from + random.below(300), from < HALF ? HALF - 1 : SPACE - 1)];
  });

/** Countries and ASNs with addresses of the space. */
export const GEO_NAMES = ['NL', 'US', 'AS64500', 'AS1'] as const;

/** Geo data of these spans by name. */
export function geoOf(spans: ReadonlyMap<string, readonly Span[]>): GeoDatabase {
  const sorted = (name: string) => [...(spans.get(name) ?? [])].sort(([a], [b]) => a - b);
  return {
    version: 'random',
    hasAsn: () => true,
    ranges(target) {
      const found = sorted(target.kind === 'asn' ? `AS${target.asn}` : target.country);
      return {
        v4: Uint32Array.from(found.filter(([from]) => from < HALF).flatMap(([from, to]) => [V4 + from, V4 + to])),
        v6: Uint32Array.from(found.filter(([from]) => from >= HALF).flatMap(([from, to]) => [V6, 0, 0, from - HALF, V6, 0, 0, to - HALF])),
      };
    },
  };
}

/** A flag for each address of the space. */
export const flags = (spans: Iterable<Span>): Uint8Array => {
  const set = new Uint8Array(SPACE);
  for (const [from, to] of spans) set.fill(1, from, to + 1);
  return set;
};

/** The addresses of a network of the space. */
export function spanOf(network: Network): Span {
  const [at, bits] = network.family === 4 ? [network.address - V4, 32 - network.prefix] : [HALF + network.address[3], 128 - network.prefix];
  return [at, at + 2 ** bits - 1];
}
