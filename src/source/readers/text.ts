/** A first column, a range, or a network as first address, last address and prefix length. */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { rangeNetworks } from '@weir/network/range.ts';
import { WeirError } from '../../errors.ts';
import { columnOf } from './columns.ts';
import { mayBeLength, plainly, prefixOfMask, undefanged } from './notation.ts';
import { looksLikeAddress, quoted, type Row, readValue, rowOf, rowOfText } from './row.ts';
import { clearVerdictOf, isEnd, verdictAmongWords, verdictOf } from './verdict.ts';

export const COMMENT = /^(#|;|\/\/)/;

/** Only LF ends a line: text after a CR would be lost. */
const LONE_CR = 'this line contains a CR: end lines with LF or CR LF';

const ONE_EACH = 'write a range as FIRST-LAST, and one network a line';

const ADDRESSES = /^[\da-f.:/]*-[\da-f.:/]*$/i;
const PREFIX = /^\d{1,3}$/;
/** An explicit mask, length or end: `mask=255.255.255.0`, `prefix 24`, `to 9`. */
const MEASURE =
  /^\W*(prefix([_-]?len(gth)?)?|len(gth)?|cidr|(sub|host)?(net)?[_-]?mask|wildcard|bits|suffix|to|thru|through)[\s=:/(]+\d[\d.]*\)?\s*$/i;

const ALONE = /^[\d.]+(\/\d+)?$|^[\da-f]*:[\da-f:]*(\/\d+)?$/i;

/** `NO DATA AVAILABLE`: a country code followed by a word. */
const WORDS = /^[A-Z]{2} +[^\s,;|#/-]/;

/** A heading line: `[whitelist]`, `Allowed:`. */
const HEADING = /^(\[[^\]\d]{2,60}\]|[^\d:,;|]{2,60}:)$/;

/** Of non-comment lines. Rows have the verdict of the heading above; a text names the fault. */
export function lineReader(): (line: string) => Row | string {
  let verdict: string | undefined;
  return (line) => {
    const row = rowOfLine(line);
    if (HEADING.test(line)) verdict = verdictAmongWords(line);
    return verdict === undefined || typeof row === 'string' ? row : [...row, [VERDICT, verdict]];
  };
}

export function rowOfLine(line: string): Row | string {
  const content = line.trim();
  // Fast path for most lists.
  if (ALONE.test(content)) return value(content);
  if (content.includes('\r')) return LONE_CR;
  const columns = columnsOf(content);
  const row = rowOfColumns(content, columns);
  const verdict = typeof row === 'string' ? undefined : verdictAmong(content, columns);
  return verdict === undefined ? row : [...(row as Row), [VERDICT, verdict]];
}

function rowOfColumns(content: string, columns: readonly string[]): Row | string {
  const [first, second, third] = columns;
  const dashed = dashedRange(columns);
  if (dashed !== undefined) {
    const isSecond = second !== undefined && !first.endsWith('-') && looksLikeAddress(first) && looksLikeAddress(second);
    return isSecond ? `${quoted(second)} follows ${quoted(first)}: ${ONE_EACH}` : dashed;
  }
  if (isBroad(first)) {
    const address = columns.find(looksLikeAddress);
    if (address !== undefined) return `${quoted(address)} follows ${first}: it is unclear which one is intended`;
    if (WORDS.test(content))
      return `${quoted(first)} is a country, or a word of ${quoted(content)}: write a country alone, or a comma behind it`;
    const isList = second !== undefined && isBroad(second) && /^as\d/i.test(first) === /^as\d/i.test(second);
    return isList ? `${quoted(second)} follows ${quoted(first)}: ${ONE_EACH}` : value(first);
  }
  if (second === undefined) return value(first);
  refuseHosts(first, second);
  if (isAddress(first) && looksLikeAddress(second)) {
    if (isAddress(second) && third !== undefined && PREFIX.test(third)) {
      return rowOf({ start: first, end: second, netmask: third });
    }
    const isRange = isAddress(second) && areBounds(first, second) && !columns.slice(2).some(looksLikeAddress);
    return isRange ? value(`${first}-${second}`) : `a second address follows ${quoted(first)}: ${ONE_EACH}`;
  }
  if (isAddress(first) && second.startsWith('/')) return `there is a blank between ${quoted(first)} and its prefix length`;
  const length = second.replace(/^\((.*)\)$/, '$1');
  const unclear = PREFIX.test(length) ? mayBeLength(first, length) : undefined;
  if (unclear !== undefined) return `${quoted(content)}: ${unclear.fault}`;
  const other = looksLikeAddress(first) ? otherTarget(first, second, third) : undefined;
  if (other !== undefined) return `${quoted(other)} follows ${quoted(first)}: ${ONE_EACH}`;
  const measure = `${second} ${third ?? ''}`.trim();
  const isMeasured = isAddress(first) && MEASURE.test(measure);
  return isMeasured ? `${quoted(measure)} follows ${quoted(first)}: write ADDRESS/LENGTH or FIRST-LAST` : value(first);
}

const LETS_THROUGH = /^(ok|dunno|relay)$/i;

const VERDICT = columnOf('verdict');

/** The first column other than an address, dash or number, or a complete cell between commas, bars or tabs. */
function verdictAmong(content: string, [, ...others]: readonly string[]): string | undefined {
  const behind = others.find((column) => /^\p{L}/u.test(column) && !looksLikeAddress(column));
  if (behind === undefined) return undefined;
  const cells = [behind, ...content.split(/[,;|\t]/).slice(1)];
  const found = cells.find((cell) => clearVerdictOf(cell) !== undefined || LETS_THROUGH.test(cell.trim()));
  // Without further words this is not a description.
  return (found ?? (others.length === 1 && (verdictOf(behind) === 'allow' || isEnd(behind)) ? behind : undefined))?.trim();
}

/** A range rather than two entries: ends of a network of at least 16 addresses, or of complete /24s or /64s. Masks are excluded. */
function areBounds(first: string, last: string): boolean {
  const networks = prefixOfMask(last) === undefined ? rangeNetworks(first, last) : '';
  if (typeof networks === 'string') return false;
  const [one, ...others] = networks;
  const most = others.length === 0 ? { 4: 28, 6: 124 } : { 4: 24, 6: 64 };
  return [one!, ...others].every(({ family, prefix }) => prefix <= most[family]);
}

/** It names hosts without blocking the addresses. */
function refuseHosts(first: string, second: string): void {
  const isName =
    /\p{L}/u.test(second) && /^[\p{L}\p{N}.*_-]+$/u.test(second) && !/^[A-Z]{2}$/.test(second) && verdictOf(second) === undefined;
  if (!isName || !(first === 'fe80::1%lo0' || isLocal(parseNetwork(first)))) return;
  const message = `the file is a hosts file: ${quoted(`${first} ${second}`)} gives a name an address, and blocks none`;
  throw new WeirError('USAGE', message);
}

const isLocal = (network: Network | string): boolean =>
  typeof network !== 'string' &&
  (network.family === 4
    ? network.prefix === 32 && [0, 0xffff_ffff, (0x7f00_0000 | (network.address & 0xff_ffff)) >>> 0].includes(network.address)
    : network.prefix === 128 && network.address.slice(0, 3).every((word) => word === 0) && network.address[3] <= 1);

/**
 * An unrelated address after a network, range, or word such as `to` or `mask`; ports, prefixes, and first and last addresses are
 * descriptions.
 */
function otherTarget(first: string, second: string, third: string | undefined): string | undefined {
  const other = looksLikeAddress(second)
    ? second
    : third !== undefined && /^\D{1,9}$/.test(second) && looksLikeAddress(third)
      ? third
      : undefined;
  const [network, part] = [first, other ?? ''].map(parseNetwork);
  const isWithin = typeof network !== 'string' && typeof part !== 'string' && overlaps(addressSet([network]), part);
  return isWithin ? undefined : other;
}

/** At blanks, commas, semicolons, bars and quotes, without its comment; accepts typographic dashes. */
export const columnsOf = (line: string): string[] => {
  const content = undefanged(line)
    .replace(/#.*$|(?<=^|\s)(;|\/\/).*$/, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .trim();
  if (ALONE.test(content)) return [content];
  const columns = content.split(/[\s",;|]+/).filter((column) => column !== '');
  return columns.length === 0 ? [''] : columns.map(inPlain);
};

/** The strict form; faulty columns are unchanged, to be reported. */
const inPlain = (column: string): string => {
  const plain = plainly(column);
  return typeof plain === 'string' ? plain : column;
};

const value: (text: string) => Row = rowOfText;
const isAddress = (text: string) => !text.includes('/') && typeof parseNetwork(text) !== 'string';

export function isBroad(text: string): boolean {
  if (!/^[a-z]/i.test(text)) return false;
  const found = readValue(text);
  return typeof found !== 'string' && found.kind !== 'ip';
}

/** Columns such as `a-b`, `a - b`, `a- b` and `a -b`; undefined without a dash after the first address. */
function dashedRange([first, second = '', third = '']: readonly string[]): Row | undefined {
  if (first.includes('-')) return ADDRESSES.test(first) ? value(first.endsWith('-') ? `${first}${second}` : first) : undefined;
  if (!second.startsWith('-') || !looksLikeAddress(first)) return undefined;
  return value(second === '-' ? `${first}-${third}` : `${first}${second}`);
}
