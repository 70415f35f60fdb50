/** Reads and writes IP addresses as text. An address is its 4 or 16 bytes. */
import type { ByteString } from './bytes.ts';

/** Strict: no prefix length or zone id; null if invalid. */
export function parseAddress(text: string): ByteString | null {
  return text.includes(':') ? parseV6(text) : parseV4(text, OCTET);
}

/** As `parseAddress`, but IPv4 as the engine reads it inside braces: missing octets are zero, leading zeros are allowed. */
export function parseLooseAddress(text: string): ByteString | null {
  return parseAddress(text) ?? parseShortV4(text);
}

const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const LOOSE_OCTET = /^0*[0-9]{1,3}$/;

function parseV4(text: string, form: RegExp): ByteString | null {
  const parts = text.length > 15 && form === OCTET ? [] : text.split('.', 5);
  if (parts.length !== 4) return null;
  let bytes = '';
  for (const part of parts) {
    const octet = form.test(part) ? Number(part) : 256;
    if (octet > 255) return null;
    bytes += String.fromCharCode(octet);
  }
  return bytes;
}

function parseShortV4(text: string): ByteString | null {
  const missing = 4 - text.split('.', 5).length;
  return missing < 0 ? null : parseV4(text + '.0'.repeat(missing), LOOSE_OCTET);
}

function parseV6(text: string): ByteString | null {
  // The longest address is six groups of four digits and an IPv4 address.
  if (text.length > 45) return null;
  const halves = text.split('::', 3);
  if (halves.length > 2) return null;
  const head = parseGroups(halves[0], halves.length === 1);
  if (halves.length === 1) return head?.length === 16 ? head : null;
  const tail = parseGroups(halves[1], true);
  if (head === null || tail === null || head.length + tail.length > 14) return null;
  return head + '\0'.repeat(16 - head.length - tail.length) + tail;
}

/** Parses groups joined by single colons. At the end of the address (`last`), an IPv4 address may replace the last two. */
function parseGroups(text: string, last: boolean): ByteString | null {
  if (text === '') return '';
  const parts = text.split(':', 9);
  let bytes = '';
  for (const [index, part] of parts.entries()) {
    if (last && index === parts.length - 1 && part.includes('.')) {
      const v4 = parseV4(part, OCTET);
      return v4 === null ? null : bytes + v4;
    }
    if (!/^[0-9a-fA-F]{1,4}$/.test(part)) return null;
    const group = Number.parseInt(part, 16);
    bytes += String.fromCharCode(group >> 8, group & 0xff);
  }
  return bytes;
}

/** Null if a host bit of `address` is set. */
export function lastOfNetwork(address: ByteString, prefix: number): ByteString | null {
  let last = '';
  for (let i = 0; i < address.length; i++) {
    const host = 0xff >> Math.min(8, Math.max(0, prefix - i * 8));
    const byte = address.charCodeAt(i);
    if ((byte & host) !== 0) return null;
    last += String.fromCharCode(byte | host);
  }
  return last;
}

/** Four octets or eight groups, not shortened. */
export function formatAddress(address: ByteString): string {
  const bytes = Array.from(address, (byte) => byte.charCodeAt(0));
  if (bytes.length === 4) return bytes.join('.');
  const groups = [];
  for (let i = 0; i < bytes.length; i += 2) groups.push(((bytes[i] << 8) | bytes[i + 1]).toString(16));
  return groups.join(':');
}

/** IPv6 in the form of RFC 5952, mapped IPv4 as `::ffff:1.2.3.4`. */
export function addressText(address: ByteString): ByteString {
  if (address.length === 4) return formatAddress(address);
  if (address.startsWith('\0\0\0\0\0\0\0\0\0\0\xff\xff')) return `::ffff:${formatAddress(address.slice(12))}`;
  const groups = formatAddress(address).split(':');
  const [at, length] = longestZeros(groups);
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, at).join(':')}::${groups.slice(at + length).join(':')}`;
}

/** The first longest run of zero groups. */
function longestZeros(groups: readonly string[]): [at: number, length: number] {
  let best: [number, number] = [0, 0];
  for (let at = 0; at < groups.length; at++) {
    let end = at;
    while (groups[end] === '0') end++;
    if (end - at > best[1]) best = [at, end - at];
    at = Math.max(at, end);
  }
  return best;
}
