/** How people write addresses and networks besides the strict form of signals (SPEC D41.3). Lists only. */
import { parseNetwork } from '@weir/network/parse.ts';

const V4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;

/** What is wrong with a text that has one of these notations. */
export interface NotationFault {
  readonly fault: string;
}

interface Notation {
  readonly pattern: RegExp;
  /** The text in the strict form, given the two groups of the pattern. */
  read(one: string, other: string): string | NotationFault;
}

const NOTATIONS: readonly Notation[] = [
  { pattern: new RegExp(`^(${V4})/(${V4})$`), read: withMask },
  { pattern: new RegExp(`^(${V4}):(\\d+)$`), read: (address, port) => mayBeLength(address, port) ?? withPort(address, port) },
  { pattern: /^\[([\da-f:.]*:[\da-f:.]*)\](?::(\d+))?$/i, read: (address, port) => withPort(address, port ?? '1') },
  { pattern: new RegExp(`^(${V4}|[\\da-f]*:[\\da-f:.]*)\\|(\\d+)$`, 'i'), read: withPort },
  { pattern: /^((?:\d{1,3}\.){1,3})(\*(?:\.\*){0,2})$/, read: withStars },
  { pattern: new RegExp(`^(${V4})-(\\d{1,3})$`), read: (first, last) => `${first}-${first.replace(/\d+$/, last)}` },
];

/** A text in the strict form, or as it is where it has none of these notations. */
export function plainly(text: string): string | NotationFault {
  if (PLAIN.test(text) || text.length > MOST_TEXT || !isMarked(text)) return text;
  const bare = undefanged(text);
  for (const { pattern, read } of NOTATIONS) {
    const [, one, other] = pattern.exec(bare) ?? [];
    if (one !== undefined) return read(one, other!);
  }
  return bare;
}
const PLAIN = /^[\d.]*(\/\d+)?$/;
/** Whether a text has what each notation has. */
const isMarked = (text: string): boolean => /[*|[({-]/.test(text) || (text.includes('.') && /[:/]/.test(text));
/** The longest text of an address, a network or a range, each of its marks in brackets. */
const MOST_TEXT = 500;

/** A text without the marks that reports put into addresses so that nothing is a link: `192[.]0[.]2[.]1`, `192(dot)0(dot)2(dot)1`. */
export const undefanged = (text: string): string =>
  /[[({]/.test(text) ? text.replace(DEFANGED, (mark) => (mark.includes(':') ? ':' : '.')) : text;
const DEFANGED = /[[({](?:\.|:|dot)[\])}]/gi;

/**
 * The prefix length that a dotted mask means: `255.255.255.0` as well as the wildcard mask `0.0.0.255`. undefined for any other text, and
 * for `0.0.0.0`, which is a mask of every address and a wildcard mask of one.
 */
export function prefixOfMask(text: string): number | undefined {
  const mask = parseNetwork(text);
  if (typeof mask === 'string' || mask.family !== 4 || mask.prefix !== 32 || mask.address === 0) return undefined;
  const hosts = [~mask.address >>> 0, mask.address].find((each) => (each & (each + 1)) === 0);
  return hosts === undefined ? undefined : Math.clz32(hosts);
}

function withMask(address: string, mask: string): string | NotationFault {
  const prefix = prefixOfMask(mask);
  return prefix === undefined ? { fault: `${mask} is no mask` } : `${address}/${prefix}`;
}

function withPort(address: string, port: string): string | NotationFault {
  const number = Number(port);
  return number >= 1 && number <= 65_535 ? address : { fault: `${port} is no port` };
}

/** A number behind a colon that makes a network of the address: nobody can tell whether a slash was meant. */
export function mayBeLength(address: string, port: string): NotationFault | undefined {
  const [host, network] = [parseNetwork(address), parseNetwork(`${address}/${port}`)];
  if (
    typeof host === 'string' ||
    typeof network === 'string' ||
    network.prefix === host.prefix ||
    String(host.address) !== String(network.address)
  )
    return undefined;
  return { fault: `${port} may be a port or a prefix length: write ${address} or ${address}/${port}` };
}

/** `198.51.100.*`, `198.51.*.*`: as many stars as octets are missing. */
function withStars(octets: string, stars: string): string | NotationFault {
  const isComplete = `${octets}${stars}`.split('.').length === 4;
  return isComplete ? networkOfOctets(octets)! : { fault: 'write as many stars as octets are missing, such as 198.51.*.*' };
}

/** The network of the first one to three octets of an address, such as `198.51.` or `198.51`; undefined for any other text. */
export function networkOfOctets(text: string): string | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){0,2}\.?$/.test(text)) return undefined;
  const octets = text.replace(/\.$/, '').split('.');
  return `${[...octets, 0, 0, 0].slice(0, 4).join('.')}/${8 * octets.length}`;
}
