/** The faults of a network's text, worded to follow the name of a field. */

export const NO_ADDRESS = 'is not an IP address or network';
export const LEADING_ZEROS = 'leading zeros are not allowed';
export const ABOVE_255 = 'an octet must be 0 to 255';
export const LONG_GROUP = 'a group has at most four digits';
export const EIGHT_GROUPS = 'an IPv6 address has eight groups';
export const TWO_GAPS = '"::" may stand only once';
export const NO_PREFIX = 'a prefix length must follow the slash';
export const ABOVE_32 = 'the prefix length must be 0 to 32';
export const ABOVE_128 = 'the prefix length must be 0 to 128';
/** Lists of special IPv6 networks have `::ffff:0:0/96`, which as IPv4 is every address (SPEC D41.1). */
export const WIDE_MAPPED = 'covers more than an IPv4 /8; send the IPv4 network itself';

const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const PERCENT = 0x25;
const DOT = 0x2e;
const SLASH = 0x2f;
const COLON = 0x3a;

/**
 * Why `readNetwork`, which returned `result`, did not read all of bytes [at, end). Notations that weir does not support, such as
 * netmasks, are named; otherwise it is the fault in `result`.
 */
export function explainFault(bytes: Uint8Array, at: number, end: number, result: number | string): string {
  if (at === end) return 'must not be empty';
  const text = bytes.subarray(at, end);
  if (text.some((byte) => byte === SPACE || (byte >= TAB && byte <= CARRIAGE_RETURN))) return 'blanks are not allowed';
  if (text.includes(PERCENT)) return 'zone ids are not allowed';
  const slash = text.indexOf(SLASH);
  if (slash >= 0 && (text.includes(DOT, slash) || text.includes(COLON, slash))) return 'netmasks are not allowed, only prefix lengths';
  return typeof result === 'string' ? result : NO_ADDRESS;
}
