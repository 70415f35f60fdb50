/** A line of a text list: its first column, a range, or the first address, the last and the prefix length of a network. */
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { looksLikeAddress, type Row, readValue, shown } from './row.ts';

/** A line that begins with one of these says nothing. */
export const COMMENT = /^(#|;|\/\/)/;

/** Only LF ends a line: what stands behind a CR would be lost. */
const LONE_CR = 'a CR stands within this line: end lines with LF or CR LF';

const ONE_EACH = 'write a range as FIRST-LAST, and one network a line';

const ADDRESSES = /^[\da-f.:/]*-[\da-f.:/]*$/i;
const PREFIX = /^\d{1,3}$/;

/** `NO DATA AVAILABLE`: a country's code with another word behind it. */
const WORDS = /^[A-Z]{2} +[^\s,;|#/-]/;

/** The row of a line that is no comment, or what is wrong with it. */
export function rowOfLine(line: string): Row | string {
  const content = line.trim();
  if (content.includes('\r')) return LONE_CR;
  const columns = columnsOf(content);
  const [first, second, third] = columns;
  const dashed = dashedRange(columns);
  if (dashed !== undefined) {
    const isSecond = second !== undefined && !first.endsWith('-') && looksLikeAddress(first) && looksLikeAddress(second);
    return isSecond ? `${shown(second)} stands behind ${shown(first)}: ${ONE_EACH}` : dashed;
  }
  if (isBroad(first)) {
    const address = columns.find(looksLikeAddress);
    if (address !== undefined) return `${shown(address)} stands behind ${first}: which of them is meant cannot be told`;
    if (WORDS.test(content))
      return `${shown(first)} is a country, or a word of ${shown(content)}: write a country alone, or a comma behind it`;
    const isList = second !== undefined && isBroad(second) && /^as\d/i.test(first) === /^as\d/i.test(second);
    return isList ? `${shown(second)} stands behind ${shown(first)}: ${ONE_EACH}` : value(first);
  }
  if (second === undefined) return value(first);
  if (isAddress(first) && looksLikeAddress(second)) {
    if (isAddress(second) && third !== undefined && PREFIX.test(third)) {
      return new Map([
        ['start', first],
        ['end', second],
        ['netmask', third],
      ]);
    }
    return `a second address stands behind ${shown(first)}: ${ONE_EACH}`;
  }
  if (isAddress(first) && second.startsWith('/')) return `a blank stands between ${shown(first)} and its prefix length`;
  const other = looksLikeAddress(first) ? otherTarget(first, second, third) : undefined;
  return other === undefined ? value(first) : `${shown(other)} stands behind ${shown(first)}: ${ONE_EACH}`;
}

/**
 * The address that stands behind a network or range, or behind a word such as `to` or `mask`, and is none of its own; what follows may
 * describe it: a port, a prefix, its first and last address.
 */
function otherTarget(first: string, second: string, third: string | undefined): string | undefined {
  const other = looksLikeAddress(second)
    ? second
    : third !== undefined && /^\D{1,9}$/.test(second) && looksLikeAddress(third)
      ? third
      : undefined;
  const [whole, part] = [first, other ?? ''].map(parseNetwork);
  const isWithin = typeof whole !== 'string' && typeof part !== 'string' && overlaps(addressSet([whole]), part);
  return isWithin ? undefined : other;
}

/** The columns of a line without its comment. Blanks, commas, semicolons, bars and quotes separate them; a dash may be any of print. */
export const columnsOf = (line: string): string[] => {
  const content = line
    .replace(/#.*$|(?<=^|\s)(;|\/\/).*$/, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .trim();
  const columns = content.split(/[\s",;|]+/).filter((column) => column !== '');
  return columns.length === 0 ? [''] : columns;
};

const value = (text: string): Row => new Map([['value', text]]);
const isAddress = (text: string) => !text.includes('/') && typeof parseNetwork(text) !== 'string';

/** Whether a text is an AS number or a country. */
export function isBroad(text: string): boolean {
  if (!/^[a-z]/i.test(text)) return false;
  const found = readValue(text);
  return typeof found !== 'string' && found.kind !== 'ip';
}

/** The range of columns such as `a-b`, `a - b`, `a- b` and `a -b`; undefined where no dash stands behind the first address. */
function dashedRange([first, second = '', third = '']: readonly string[]): Row | undefined {
  if (first.includes('-')) return ADDRESSES.test(first) ? value(first.endsWith('-') ? `${first}${second}` : first) : undefined;
  if (!second.startsWith('-') || !looksLikeAddress(first)) return undefined;
  return value(second === '-' ? `${first}-${third}` : `${first}${second}`);
}
