/** Finds the list of each set element in the decisions of its feed (SPEC D31.7), and builds usage metrics. */
import { firstAddressV4, maskHostBits } from '@weir/network/bounds.ts';
import { formatAddress } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { LISTS_ORIGIN, ORIGIN } from '../../decisions/decisions.ts';
import type { Counter } from './nft-sets.ts';

interface HeldDecision {
  readonly value: string;
  readonly origin: string;
  readonly scenario: string;
}

/** The origin under which bouncers count an element; undefined: no decision contains it. */
export type OriginOf = (value: string) => string | undefined;

/** An element without a decision of its own belongs to the decision that contains its first address. */
export function originsIn(decisions: readonly HeldDecision[]): OriginOf {
  const origins = new Map(
    decisions.map(({ value, origin, scenario }) => [
      value,
      // A feed whose origins are not lists names the list in the scenario.
      origin === LISTS_ORIGIN || scenario !== ORIGIN ? `${LISTS_ORIGIN}:${scenario}` : origin,
    ]),
  );
  return (value) =>
    origins.get(value.replace(/\/(32|128)$/, (host) => (value.includes(':') === (host === '/128') ? '' : host))) ?? around(value);

  function around(value: string): string | undefined {
    const network = parseNetwork(value.replace(/\/\d+$/, ''));
    if (typeof network === 'string') return undefined;
    for (let prefix = network.prefix; prefix >= 0; prefix -= 1) {
      const found = origins.get(textAround(network, prefix));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The network of this prefix length around an address, written as in decisions. */
function textAround(address: Network, prefix: number): string {
  if (prefix === address.prefix) return formatAddress(address);
  if (address.family === 4) {
    return `${formatAddress({ ...address, address: firstAddressV4(address.address, prefix) })}/${prefix}`;
  }
  const [a, b, c, d] = maskedV6(address.address, prefix);
  return `${formatAddress({ family: 6, address: [a!, b!, c!, d!], prefix: 128 })}/${prefix}`;
}

function maskedV6(words: readonly number[], prefix: number): Uint32Array {
  const masked = Uint32Array.from(words);
  maskHostBits(masked, 0, prefix);
  return masked;
}

/** Origins in a report: the service limits its size. */
const REPORTED = 100;

/** `at`: seconds; `window`: seconds that the report covers. */
interface Reporter {
  readonly name: string;
  readonly version: string;
  readonly at: number;
  readonly window: number;
}

/** Reports of dropped traffic by origin, as bodies of usage metrics. */
export function usageReports(dropped: ReadonlyMap<string, Counter>, { name, version, at, window }: Reporter): string[] {
  const all = [...dropped].sort(([a], [b]) => (a < b ? -1 : 1));
  const reports: string[] = [];
  for (let from = 0; from < all.length; from += REPORTED) {
    const items = all.slice(from, from + REPORTED).flatMap(([origin, { packets, bytes }]) => [
      { name: 'dropped', unit: 'packet', value: packets, labels: { origin } },
      { name: 'dropped', unit: 'byte', value: bytes, labels: { origin } },
    ]);
    const meta = { window_size_seconds: window, utc_now_timestamp: at };
    reports.push(JSON.stringify({ remediation_components: [{ type: 'weir-hits', name, version, metrics: [{ meta, items }] }] }));
  }
  return reports;
}
