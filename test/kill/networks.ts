/** Sets of addresses, and the fewest networks that hold them (SPEC 4.3.4): written for the model alone, and simple rather than fast. */

interface Span {
  readonly family: 4 | 6;
  readonly from: bigint;
  readonly to: bigint;
}

export interface Network {
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly prefix: number;
}

const BITS = { 4: 32, 6: 128 } as const;

/** The addresses of a network or an address. */
function spanOf(text: string): Span {
  const [address, prefix] = text.split('/') as [string, string?];
  const family = address.includes(':') ? 6 : 4;
  const from = family === 4 ? joined(address.split('.').map(Number), 8n) : joined(groups(address), 16n);
  return { family, from, to: from + (1n << BigInt(BITS[family] - Number(prefix ?? BITS[family]))) - 1n };
}

const joined = (parts: readonly number[], bits: bigint) => parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);

function groups(address: string): number[] {
  const [head, tail] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = tail === undefined ? [] : Array<string>(8 - head!.length - tail.length).fill('0');
  return [...head!, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16));
}

/** The fewest networks with the addresses of `texts` and none of `minus`, IPv4 before IPv6, by address. */
export function fewest(texts: Iterable<string>, minus: Iterable<string> = []): Network[] {
  const [wanted, cut] = [[...texts].map(spanOf), [...minus].map(spanOf)];
  return ([4, 6] as const).flatMap((family) => {
    const of = (spans: readonly Span[]) => spans.filter((span) => span.family === family);
    return of(cut)
      .reduce(without, merged(of(wanted)))
      .flatMap(networksOf);
  });
}

function merged(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = result.at(-1);
    if (last === undefined || span.from > last.to + 1n) result.push(span);
    else if (span.to > last.to) result[result.length - 1] = { ...last, to: span.to };
  }
  return result;
}

const without = (spans: readonly Span[], cut: Span): Span[] =>
  spans.flatMap((span) =>
    cut.to < span.from || cut.from > span.to
      ? [span]
      : [
          { ...span, to: cut.from - 1n },
          { ...span, from: cut.to + 1n },
        ].filter(({ from, to }) => from <= to),
  );

function networksOf({ family, from, to }: Span): Network[] {
  const networks: Network[] = [];
  for (let at = from; at <= to; ) {
    let host = 0n;
    while (host < BITS[family] && (at & ((1n << (host + 1n)) - 1n)) === 0n && at + (1n << (host + 1n)) - 1n <= to) host += 1n;
    networks.push({ family, address: at, prefix: BITS[family] - Number(host) });
    at += 1n << host;
  }
  return networks;
}

/** An address as RFC 5952 writes it. */
export function addressText(family: 4 | 6, address: bigint): string {
  const part = (n: number, bits: number) => Number((address >> BigInt(n * bits)) & ((1n << BigInt(bits)) - 1n));
  if (family === 4) return [3, 2, 1, 0].map((n) => part(n, 8)).join('.');
  const hex = [7, 6, 5, 4, 3, 2, 1, 0].map((n) => part(n, 16).toString(16));
  const runs = hex.map((_, at) => hex.slice(at).findIndex((group) => group !== '0')).map((run, at) => (run < 0 ? 8 - at : run));
  const [longest, at] = [Math.max(...runs), runs.indexOf(Math.max(...runs))];
  return longest < 2 ? hex.join(':') : `${hex.slice(0, at).join(':')}::${hex.slice(at + longest).join(':')}`;
}

export const networkText = ({ family, address, prefix }: Network): string => `${addressText(family, address)}/${prefix}`;

/** The first and the last address. */
export const edges = ({ family, address, prefix }: Network): [string, string] => [
  addressText(family, address),
  addressText(family, address + (1n << BigInt(BITS[family] - prefix)) - 1n),
];

/** Whether it is one address. */
export const isHost = ({ family, prefix }: Network): boolean => prefix === BITS[family];
