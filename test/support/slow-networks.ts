/**
 * Networks once more, slow and plain: texts by regular expressions, addresses as BigInt. What the engine's results are compared
 * with; it shares no code with it.
 */
import ipaddr from 'ipaddr.js';

export interface SlowRange {
  readonly start: bigint;
  /** Inclusive. */
  readonly end: bigint;
}

/** Bits of an address. */
export const BITS = { 4: 32n, 6: 128n } as const;
export type Family = keyof typeof BITS;

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/i;
const PREFIX = /^(?:0|[1-9][0-9]{0,2})$/;

function slowV4(text: string): bigint | null {
  const octets = text.split('.');
  if (octets.length !== 4 || !octets.every((octet) => OCTET.test(octet) && Number(octet) < 256)) return null;
  return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function slowV6(text: string): bigint | null {
  const dotted = /[^:]*\.[^:]*$/.exec(text);
  if (dotted !== null) {
    const value = slowV4(dotted[0]);
    if (value === null) return null;
    return slowV6(`${text.slice(0, dotted.index)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`);
  }
  const halves = text.split('::').map((half) => (half === '' ? [] : half.split(':')));
  const [left, right = []] = halves;
  const missing = 8 - left.length - right.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return groups.every((group) => GROUP.test(group)) ? groups.reduce((sum, group) => sum * 65536n + BigInt(`0x${group}`), 0n) : null;
}

/** The canonical text of the network that a text names by the rules of decisions D3, or null. */
export function slowParse(text: string): string | null {
  const [address, prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !PREFIX.test(prefix))) return null;
  const v6 = address.includes(':');
  const value = v6 ? slowV6(address) : slowV4(address);
  const bits = prefix === undefined ? (v6 ? 128n : 32n) : BigInt(prefix);
  if (value === null || bits > (v6 ? 128n : 32n)) return null;
  if (v6 && value >> 32n === 0xffffn && bits >= 96n && bits < 104n) return null;
  if (v6 && value >> 32n === 0xffffn && bits >= 104n) return slowText(4, value & 0xffff_ffffn, bits - 96n, false);
  return slowText(v6 ? 6 : 4, value, bits, false);
}

/** The text of the network of `prefix` bits that holds an address; hosts with their prefix when asked for. */
export function slowText(family: Family, address: bigint, prefix: bigint, hostPrefix: boolean): string {
  const hostBits = BITS[family] - prefix;
  const first = (address >> hostBits) << hostBits;
  const text = family === 4 ? textV4(first) : textV6(first);
  return hostBits === 0n && !hostPrefix ? text : `${text}/${prefix}`;
}

const textV4 = (value: bigint) => [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');

function textV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16)).join(':');
  const runs = [...groups.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)].sort((a, b) => b[0].length - a[0].length || a.index - b.index);
  if (runs.length === 0) return groups;
  const [{ 0: zeros, index }] = runs;
  return `${groups.slice(0, index).replace(/:$/, '')}::${groups.slice(index + zeros.length).replace(/^:/, '')}`;
}

/** The smallest sorted list of networks that covers exactly these ranges, hosts with their prefix. */
export function slowCoalesce(family: Family, ranges: readonly SlowRange[]): string[] {
  const sorted = ranges.toSorted((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
  const merged: { start: bigint; end: bigint }[] = [];
  for (const { start, end } of sorted) {
    const last = merged.at(-1);
    if (last === undefined || start > last.end + 1n) merged.push({ start, end });
    else if (end > last.end) last.end = end;
  }
  return merged.flatMap(({ start, end }) => {
    const networks: string[] = [];
    for (let address = start; address <= end; ) {
      let hostBits = 0n;
      // Twice as wide, as long as it begins here and ends in the range.
      while (hostBits < BITS[family] && address % 2n ** (hostBits + 1n) === 0n && address + 2n ** (hostBits + 1n) - 1n <= end) hostBits++;
      networks.push(slowText(family, address, BITS[family] - hostBits, true));
      address += 2n ** hostBits;
    }
    return networks;
  });
}

/** The family and range of a network's or an address's text, read by another library than weir's own code. */
export function rangeOf(text: string): SlowRange & { readonly family: Family } {
  const [address, prefix] = text.includes('/') ? ipaddr.parseCIDR(text) : [ipaddr.parse(text), undefined];
  const family = address.kind() === 'ipv4' ? 4 : 6;
  const start = BigInt(`0x${Buffer.from(address.toByteArray()).toString('hex')}`);
  const hostBits = prefix === undefined ? 0n : BITS[family] - BigInt(prefix);
  return { family, start, end: start + 2n ** hostBits - 1n };
}
