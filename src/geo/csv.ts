import { lastAddressV6 } from '@weir/network/bounds.ts';
import { WIDE_MAPPED } from '@weir/network/faults.ts';
import { isMapped, newReading, type Reading, readNetwork, textOf } from '@weir/network/read.ts';
import { parse } from 'csv-parse/sync';
import { hasCode, WeirError } from '../errors.ts';
import { readAddressOrNumber } from './address.ts';
import { type CsvLayout, csvLayout } from './csv-layout.ts';
import { type GeoKind, INVALID, type KeyReader, KINDS, readKeyText, SKIP } from './kind.ts';
import { noteName } from './names.ts';
import { addRow, type RowSink } from './rows.ts';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const HASH = 0x23;
const COMMA = 0x2c;
const DOT = 0x2e;

/** In bytes. */
const LONGEST_LINE = 64 * 1024;

/**
 * Returns the name of the format. Works on bytes: a million strings take several times as long. Fields may be quoted, but contain no line
 * breaks (no source has any). Skips lines that begin with `#` and repeated headers. `locations` maps GeoNames ids to countries. Throws
 * GEO_FILE with the line.
 */
export function readCsv(bytes: Buffer, kind: GeoKind, sink: RowSink, locations: () => Buffer): string {
  let line = 0;
  let reader: CsvReader | undefined;
  try {
    for (let at = hasByteOrderMark(bytes) ? 3 : 0, next = at; at < bytes.length; at = next) {
      line++;
      const lineFeed = bytes.indexOf(LF, at);
      next = lineFeed < 0 ? bytes.length : lineFeed + 1;
      let end = lineFeed < 0 ? bytes.length : lineFeed;
      if (end > at && bytes[end - 1] === CR) end--;
      if (end - at > LONGEST_LINE) throw new WeirError('GEO_FILE', `it is longer than ${LONGEST_LINE} bytes`);
      if (end === at || bytes[at] === HASH) continue;
      reader ??= csvReader(bytes, bytes.subarray(at, end), kind, locations);
      if (!isHeader(reader, bytes, at, end)) readRow(reader, bytes, at, end, line, sink);
    }
  } catch (error) {
    throw hasCode(error, 'GEO_FILE') ? new WeirError('GEO_FILE', `line ${line}: ${error.message}`) : error;
  }
  return reader?.layout.format ?? 'CSV';
}

interface CsvReader {
  readonly text: DataView;
  readonly layout: CsvLayout;
  readonly header: Buffer | undefined;
  readonly readKey: KeyReader;
  /** For messages. */
  readonly expectedKey: string;
  /** Fields per row; only these are read. */
  readonly wanted: number;
  readonly most: number;
  /** Start and end of each of these fields. */
  readonly bounds: Uint32Array;
  /** First and last address of the current row. */
  readonly first: Reading;
  readonly last: Reading;
}

function csvReader(bytes: Buffer, firstLine: Buffer, kind: GeoKind, locations: () => Buffer): CsvReader {
  const layout = csvLayout(firstLine.toString('utf8'), kind);
  const wanted = Math.max(layout.start, layout.end ?? 0, layout.key) + 1;
  const most = Math.max(wanted, (layout.name ?? 0) + 1);
  return {
    text: textOf(bytes),
    layout,
    header: layout.hasHeader ? firstLine : undefined,
    readKey: layout.isGeonameId ? geonameKeys(locations()) : KINDS[kind].readKey,
    expectedKey: layout.isGeonameId ? 'a geoname_id of the Locations file' : KINDS[kind].expected,
    wanted,
    most,
    bounds: new Uint32Array(2 * most),
    first: newReading(),
    last: newReading(),
  };
}

/** Concatenated files repeat the header. */
const isHeader = ({ header }: CsvReader, bytes: Buffer, at: number, end: number): boolean =>
  header !== undefined && bytes[at] === header[0] && header.equals(bytes.subarray(at, end));

function readRow(reader: CsvReader, bytes: Buffer, at: number, end: number, line: number, sink: RowSink): void {
  const { layout, wanted, most, bounds, first, last } = reader;
  const fields = splitFields(bytes, at, end, most, bounds);
  if (fields < wanted) throw new WeirError('GEO_FILE', `expected at least ${wanted} fields`);
  const family = readRange(reader, bytes);
  const from = bounds[2 * layout.key];
  const to = bounds[2 * layout.key + 1];
  const key = reader.readKey(bytes, from, to);
  if (key === INVALID) throw new WeirError('GEO_FILE', `expected ${reader.expectedKey}, found ${quoted(bytes, from, to)}`);
  if (key === SKIP) {
    sink.skipped++;
    return;
  }
  addRow(family === 4 ? sink.v4 : sink.v6, first.words, last.words, key, sink.file, line);
  const { name } = layout;
  if (name === undefined || name >= fields || sink.names.has(key)) return;
  noteName(sink.names, key, bytes.toString('utf8', bounds[2 * name], bounds[2 * name + 1]).replaceAll('""', '"'));
}

const MAX_QUOTED = 40;

const hasByteOrderMark = (bytes: Buffer) => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
const quoted = (bytes: Buffer, from: number, to: number) => JSON.stringify(bytes.toString('utf8', from, Math.min(to, from + MAX_QUOTED)));

/** The first `wanted` fields, without quotes and blanks, into `bounds`. Returns the number of fields. */
function splitFields(bytes: Buffer, at: number, end: number, wanted: number, bounds: Uint32Array): number {
  let i = at;
  for (let field = 0; field < wanted; field++) {
    while (i < end && bytes[i] === SPACE) i++;
    let from = i;
    let to: number;
    if (i < end && bytes[i] === QUOTE) {
      from = ++i;
      while (i < end && (bytes[i] !== QUOTE || bytes[i + 1] === QUOTE)) i += bytes[i] === QUOTE ? 2 : 1;
      to = Math.min(i, end);
      while (i < end && bytes[i] !== COMMA) i++;
    } else {
      while (i < end && bytes[i] !== COMMA) i++;
      to = i;
      while (to > from && bytes[to - 1] === SPACE) to--;
    }
    bounds[2 * field] = from;
    bounds[2 * field + 1] = to;
    if (i >= end) return field + 1;
    i++;
  }
  return wanted;
}

/** Into `first` and `last`; returns the family of both. */
function readRange(reader: CsvReader, bytes: Buffer): 4 | 6 {
  const { text, layout, bounds, first, last } = reader;
  const [from, to] = [bounds[2 * layout.start], bounds[2 * layout.start + 1]];
  if (layout.end !== undefined) return readPair(reader, bytes, from, to, bounds[2 * layout.end], bounds[2 * layout.end + 1]);
  const next = readNetwork(text, from, to, first);
  if (next === WIDE_MAPPED) throw new WeirError('GEO_FILE', `${quoted(bytes, from, to)} ${next}`);
  if (next !== to) throw new WeirError('GEO_FILE', `expected a network such as 192.0.2.0/24, found ${quoted(bytes, from, to)}`);
  // An IPv4 network is read as the last 32 bits of 128.
  lastAddressV6(first.words, 0, first.family === 4 ? 96 + first.prefix : first.prefix, last.words);
  return first.family;
}

/** A range of two IPv4-mapped addresses is IPv4. */
function readPair({ text, first, last }: CsvReader, bytes: Buffer, from: number, to: number, endFrom: number, endTo: number): 4 | 6 {
  if (!readAddressOrNumber(text, from, to, first))
    throw new WeirError('GEO_FILE', `expected an IP address, found ${quoted(bytes, from, to)}`);
  if (!readAddressOrNumber(text, endFrom, endTo, last))
    throw new WeirError('GEO_FILE', `expected an IP address, found ${quoted(bytes, endFrom, endTo)}`);
  const { family } = last;
  // A small number is IPv6 if the end of its range is.
  if (first.family !== family && (family === 4 || bytes.subarray(from, to).includes(DOT)))
    throw new WeirError('GEO_FILE', `${quoted(bytes, from, to)} and ${quoted(bytes, endFrom, endTo)} are not of one family`);
  if (isDescending(first.words, last.words, family))
    throw new WeirError('GEO_FILE', `the range ends at ${quoted(bytes, endFrom, endTo)}, before its start ${quoted(bytes, from, to)}`);
  if (!isMapped(first.words) || !isMapped(last.words)) return family;
  if (last.words[3] - first.words[3] === 0xffff_ffff)
    throw new WeirError('GEO_FILE', `the range from ${quoted(bytes, from, to)} on is all of IPv4`);
  return 4;
}

function isDescending(first: Uint32Array, last: Uint32Array, family: 4 | 6): boolean {
  for (let word = family === 4 ? 3 : 0; word < 4; word++) if (first[word] !== last[word]) return first[word] > last[word];
  return false;
}

/** Maps ids by a GeoLite2 Locations file. */
function geonameKeys(locations: Buffer): KeyReader {
  const keys = new Map(locationRows(locations).map((row) => [row.geoname_id, readKeyText('country', row.country_iso_code ?? '')]));
  return (bytes, from, to) => (from === to ? SKIP : (keys.get(String.fromCharCode(...bytes.subarray(from, to))) ?? INVALID));
}

function locationRows(locations: Buffer): Record<string, string | undefined>[] {
  try {
    return parse(locations, { columns: true, bom: true });
  } catch (error) {
    throw new WeirError('GEO_FILE', `the Locations file in the same folder cannot be read: ${(error as Error).message}`);
  }
}
