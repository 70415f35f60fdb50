/** An address; in a list also a network or a range. */

import { lastOfNetwork, parseAddress, parseLooseAddress } from '../address.ts';
import type { Range } from '../ast.ts';
import type { ByteString } from '../bytes.ts';
import { type Cursor, fail, failExpected, isHex, quote } from '../cursor.ts';

/** All characters of an address, a network or a range; parsing follows. */
function lexRun(c: Cursor): string | null {
  const { text } = c;
  const start = c.pos;
  let end = start;
  for (let code = text.charCodeAt(end); isHex(code) || (code >= 0x2e && code <= 0x3a); code = text.charCodeAt(end)) end++;
  c.steps += end - start + 1;
  if (end === start) {
    return failExpected(c, text.charCodeAt(start) === 0x22 ? 'an IP address without quotes' : 'an IP address');
  }
  c.pos = end;
  return text.slice(start, end);
}

export function lexAddress(c: Cursor): ByteString | null {
  const start = c.pos;
  const run = lexRun(c);
  if (run === null) return null;
  const { text, pos: end } = c;
  return (
    parseAddress(run) ??
    fail(c, start, c.pos, () => notAnAddress(run, 'a network or a range needs braces: in {…}', text.startsWith('nd', end)))
  );
}

/** An address, a network or `first..last`. */
export function lexAddressRange(c: Cursor): Range<ByteString> | null {
  const start = c.pos;
  const run = lexRun(c);
  if (run === null) return null;
  const dots = run.indexOf('..');
  return dots === -1 ? lexNetwork(c, run, start) : lexRange(c, run, start, dots);
}

function lexRange(c: Cursor, run: string, start: number, dots: number): Range<ByteString> | null {
  const [from, to] = [run.slice(0, dots), run.slice(dots + 2)];
  const first = parseAddress(from);
  if (first === null) return fail(c, start, start + dots, () => notAnAddress(from, 'a range is two addresses'));
  const last = parseAddress(to);
  if (last === null) return fail(c, start + dots + 2, c.pos, () => notAnAddress(to, 'a range is two addresses'));
  if (first.length !== last.length) return fail(c, start, c.pos, 'a range cannot mix IPv4 and IPv6');
  if (last < first) return fail(c, start, c.pos, 'the range ends before it begins');
  return { first, last };
}

function lexNetwork(c: Cursor, run: string, start: number): Range<ByteString> | null {
  const slash = run.lastIndexOf('/');
  const addressEnd = slash === -1 ? run.length : slash;
  const written = run.slice(0, addressEnd);
  const address = parseLooseAddress(written);
  if (address === null) return fail(c, start, start + addressEnd, () => notAnAddress(written, ''));
  if (slash === -1) return { first: address, last: address };
  const prefix = parsePrefix(run.slice(slash + 1));
  if (prefix === null) return fail(c, start + slash + 1, c.pos, 'expected a prefix length, such as /24');
  const bits = address.length * 8;
  if (prefix > bits) return fail(c, start, c.pos, `the prefix is longer than the ${bits} bits of the address`);
  const last = lastOfNetwork(address, prefix);
  if (last === null) return fail(c, start, start + addressEnd, `bits of the address behind /${prefix} are set`);
  return { first: address, last };
}

/** A number from 0 to 255, with or without leading zeros. */
function parsePrefix(text: string): number | null {
  const prefix = /^0*[0-9]{1,3}$/.test(text) ? Number(text) : 256;
  return prefix < 256 ? prefix : null;
}

/** `hint` is for networks and ranges; `glued`: "nd" follows, so a final "a" is an "and". */
function notAnAddress(text: string, hint: string, glued = false): string {
  if (glued && text.endsWith('a')) return `${quote(text)} is no IP address; a space is missing before "and"`;
  return `${quote(text)} is no IP address${hint !== '' && /\/|\.\./.test(text) ? `; ${hint}` : ''}`;
}
