/** Only for lists; signals are strict (SPEC D41.3). */
import { parseNetwork } from '@weir/network/parse.ts';

const V4 = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;

export interface NotationFault {
  readonly fault: string;
}

interface Notation {
  readonly pattern: RegExp;
  read(one: string, other: string): string | NotationFault;
}

const NOTATIONS: readonly Notation[] = [
  { pattern: new RegExp(`^(${V4})/(${V4})$`), read: withMask },
  // As IPv6 it would be `::/24`.
  { pattern: new RegExp(`^(::ffff:${V4})/([12]?\\d|3[012])$`, 'i'), read: () => ({ fault: 'is unclear; write the IPv4 network itself' }) },
  { pattern: new RegExp(`^(${V4}):(\\d+)$`), read: (address, port) => mayBeLength(address, port) ?? withPort(address, port) },
  { pattern: /^\[([\da-f:.]*:[\da-f:.]*)\](?::(\d+))?$/i, read: (address, port) => withPort(address, port ?? '1') },
  { pattern: new RegExp(`^(${V4}|[\\da-f]*:[\\da-f:.]*)\\|(\\d+)$`, 'i'), read: withPort },
  { pattern: /^((?:\d{1,3}\.){1,3})(\*(?:\.\*){0,2})$/, read: withStars },
  { pattern: new RegExp(`^(${V4})-(\\d{1,3})$`), read: (first, last) => `${first}-${first.replace(/\d+$/, last)}` },
];

/** The strict form, or the unchanged text. */
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
/** Every notation has such a mark. */
const isMarked = (text: string): boolean => /[*|[({-]/.test(text) || (text.includes('.') && /[:/]/.test(text));
const MOST_TEXT = 500;

/** Removes defanging: `192[.]0[.]2[.]1`, `192(dot)0(dot)2(dot)1`. */
export const undefanged = (text: string): string =>
  /[[({]/.test(text) ? text.replace(DEFANGED, (mark) => (mark.includes(':') ? ':' : '.')) : text;
const DEFANGED = /[[({](?:\.|:|dot)[\])}]/gi;

/** `255.255.255.0`, `0.0.0.255`. undefined for other texts, and for the ambiguous `0.0.0.0`. */
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

/** A number after a colon, valid as prefix length: possibly a mistyped slash. */
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

/** `198.51.100.*`, `198.51.*.*`: a star for each missing octet. */
function withStars(octets: string, stars: string): string | NotationFault {
  const isComplete = `${octets}${stars}`.split('.').length === 4;
  return isComplete ? networkOfOctets(octets)! : { fault: 'write as many stars as octets are missing, such as 198.51.*.*' };
}

/** One to three: `198.51.`, `198.51`; undefined for other texts. */
export function networkOfOctets(text: string): string | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){0,2}\.?$/.test(text)) return undefined;
  const octets = text.replace(/\.$/, '').split('.');
  return `${[...octets, 0, 0, 0].slice(0, 4).join('.')}/${8 * octets.length}`;
}
