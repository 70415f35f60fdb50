/** In free text: a report, an e-mail, a log (SPEC D54.1). Never guesses: ambiguous notations are named. */
import { formatNetwork } from '@weir/network/format.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';
import { mayBeLength, prefixOfMask, undefanged } from './notation.ts';

export interface FoundTarget {
  readonly network: Network;
  /** Of the first occurrence. */
  readonly line: number;
  readonly context: string;
  readonly times: number;
}

export interface Unclear {
  readonly line: number;
  readonly text: string;
  readonly why: string;
}

export interface Extracted {
  /** In the order of the text. */
  readonly found: readonly FoundTarget[];
  readonly foundLeftOut: number;
  readonly unclear: readonly Unclear[];
  readonly unclearLeftOut: number;
}

export const MOST_FOUND = 1000;
export const MOST_UNCLEAR = 100;
/** Characters around an address. */
const AROUND = 70;
/** Longer lines are cut at blanks. */
const PIECE = 8192;
/** Work between turns, in characters; a line or an address costs as much as some. */
const TURN = 16_384;
const [LINE, MATCH] = [16, 64];

const V4 = String.raw`(?:\d{1,3}\.){3}\d{1,3}`;
/** After a label such as `src:`; no other colon, dot or word may precede. */
const BEGIN = String.raw`(?:(?<![\w.:])|(?<=\b\w{0,32}[g-z_]\w{0,32}:))`;
const ADDRESS = new RegExp(
  `${BEGIN}(?<v6>[\\da-f]{1,4}(?::[\\da-f]{0,4}){2,7}(?:${V4})?|::(?:ffff:)?${V4})(?<length>/\\d+)?(?![\\w]|:[\\da-f]|\\.\\w)` +
    `|${BEGIN}(?<v4>${V4})(?:(?<rest>[/:-])(?<end>${V4}|\\d+))?(?!\\w|\\.\\w|\\.\\*)` +
    `|${BEGIN}(?<star>(?:\\d{1,3}\\.){3}\\*)(?![\\w.*])`,
  'gi',
);
/** Product tokens of a User-Agent, names of packages and of hosts: `Chrome/120.0.0.0`, `openssl-1.2.3.4`. */
const PART_OF_NAME = /[\w)][/-]$/;
const HOST_OF_URL = /\/\/(?:[^\s/@]*@)?\[?$/;

type Read = readonly Network[] | string | undefined;

/** Reads text of any kind. `pause` yields to other work. */
export async function extractTargets(text: string, pause: () => Promise<void>): Promise<Extracted> {
  const found = new Map<string, FoundTarget & { times: number }>();
  const unclear = new Map<string, Unclear>();
  const [left, leftUnclear] = [new Set<string>(), { count: 0 }];
  let [line, since] = [0, 0];
  const note = (network: Network, context: string) => {
    const name = formatNetwork(network);
    const known = found.get(name);
    if (known !== undefined) known.times += 1;
    else if (found.size < MOST_FOUND) found.set(name, { network, line, context, times: 1 });
    else left.add(name);
  };
  const isTurn = (cost: number) => {
    since += cost;
    if (since <= TURN) return false;
    since = 0;
    return true;
  };
  for (const each of unwrapped(text).split(/\r\n|\r|\n/)) {
    line += 1;
    for (const piece of piecesOf(undefanged(each))) {
      if (isTurn(LINE + piece.length)) await pause();
      for (const match of piece.matchAll(ADDRESS)) {
        if (isTurn(MATCH)) await pause();
        const read = readMatch(match, piece);
        if (read === undefined) continue;
        const context = piece.slice(Math.max(0, match.index - AROUND), match.index + match[0].length + AROUND).trim();
        if (typeof read !== 'string') for (const network of read) note(network, context);
        else if (unclear.size >= MOST_UNCLEAR) leftUnclear.count += 1;
        else if (!unclear.has(match[0])) unclear.set(match[0], { line, text: match[0], why: read });
      }
    }
  }
  return { found: [...found.values()], foundLeftOut: left.size, unclear: [...unclear.values()], unclearLeftOut: leftUnclear.count };
}

/** Or why it is unclear; undefined: no address. */
function readMatch({ 0: all, index, groups = {} }: RegExpExecArray, piece: string): Read {
  const { v4, v6, star, length = '', rest, end = '' } = groups;
  const before = piece.slice(Math.max(0, index - 300), index);
  const isHost = HOST_OF_URL.test(before);
  if (star !== undefined) return `may be a version: write ${star.replace('*', '0')}/24`;
  if (v6 !== undefined) return readV6(v6, isHost ? '' : length);
  const address = parseNetwork(v4!);
  if (typeof address === 'string') return /(?<!\d)0\d/.test(v4!) ? address : undefined;
  if (!isHost && PART_OF_NAME.test(before)) return 'is part of a name, or a version';
  if (rest === undefined || (isHost && rest !== '-')) return [address];
  if (rest === ':') return end.includes('.') ? [address] : (mayBeLength(v4!, end)?.fault ?? [address]);
  if (rest === '-') {
    const range = end.includes('.') ? rangeNetworks(v4!, end) : `may be a range or a version: write FIRST-LAST`;
    return range;
  }
  const prefix = end.includes('.') ? prefixOfMask(end) : Number(end);
  if (prefix === undefined) return `${end} is no mask`;
  return withLength(v4!, String(prefix), /^\//.test(piece.slice(index + all.length)));
}

/** Allocated and private space only: times, hardware addresses and names of programs have the same form. */
function readV6(text: string, length: string): Read {
  const address = parseNetwork(text.replace(/(?<!:):$/, ''));
  if (typeof address === 'string') return undefined;
  if (address.family === 6 && !isUnmistakable(address.address[0] >>> 16)) return undefined;
  if (length === '') return [address];
  return address.family === 4 ? 'write the IPv4 network itself' : withLength(text, length.slice(1), false);
}

const isUnmistakable = (group: number) => group >>> 13 === 1 || group >>> 9 === 0x7e || (group & 0xffc0) === 0xfe80;

function withLength(address: string, length: string, isPath: boolean): Read {
  const network = parseNetwork(`${address}/${length}`);
  if (typeof network === 'string') return network;
  if (isPath) return 'may be a network or a path';
  const canonical = formatNetwork(network);
  const [host] = canonical.split('/');
  const alone = parseNetwork(address);
  const isNetwork = typeof alone !== 'string' && String(alone.address) === String(network.address);
  return isNetwork ? [network] : `has host bits: write ${address} or ${host}/${length}`;
}

/** Undoes the soft line breaks of an e-mail: they divide addresses. */
const unwrapped = (text: string): string =>
  /^content-transfer-encoding:\s*quoted-printable/im.test(text) ? text.replace(/=\r?\n/g, '').replaceAll('=3D', '=') : text;

/** Cuts at blanks only. */
function* piecesOf(line: string): Generator<string> {
  let from = 0;
  while (line.length - from > PIECE) {
    const blank = line.indexOf(' ', from + PIECE);
    if (blank < 0) break;
    yield line.slice(from, blank);
    from = blank + 1;
  }
  yield from === 0 ? line : line.slice(from);
}
