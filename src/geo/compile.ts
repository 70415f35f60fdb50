import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { hasCode, WeirError } from '../errors.ts';
import { readCsv } from './csv.ts';
import type { GeoKindData } from './data.ts';
import { KINDS } from './kind.ts';
import { isMmdb, readMmdb } from './mmdb.ts';
import { packNames } from './names.ts';
import { emptyRows, type RowSink } from './rows.ts';
import { type GeoSources, sourcesLabel } from './sources.ts';
import { buildTable, familyTables, type Overlaps } from './table.ts';

/**
 * Of rows. Published tables have one or two mistakes in half a million. More overlaps indicate another format, such as exceptions to
 * shorter prefixes; reading it here would block more than it says.
 */
const OVERLAP_TOLERANCE = 1 / 1000;

/** Throws GEO_FILE when a file cannot be used. */
export function compileSources(sources: GeoSources): GeoKindData {
  const sink: RowSink = { v4: emptyRows(4), v6: emptyRows(6), skipped: 0, names: new Map(), file: 0 };
  const read = sources.files.map((file, index) => {
    sink.file = index;
    return explain(sources, file, () => readSource(sources, file, sink));
  });
  const rows = sink.v4.count + sink.v6.count;
  const [file] = sources.files;
  return explain(sources, file, () => {
    if (rows === 0)
      throw new WeirError('GEO_FILE', `it holds no row with ${KINDS[sources.kind].expected} (${sink.skipped} rows without one)`);
    const { table, overlaps } = buildTable([sink.v4, sink.v6]);
    const overlappingRows = overlaps.reduce((sum, { count }) => sum + count, 0);
    if (overlappingRows > rows * OVERLAP_TOLERANCE) throw new WeirError('GEO_FILE', overlapText(sources, overlaps, overlappingRows));
    const { v4, v6 } = familyTables(table);
    const names = packNames(sink.names);
    return {
      kind: sources.kind,
      origin: sources.origin,
      files: sources.files,
      signature: sources.signature,
      format: read[0].format,
      date: sources.date ?? read.map(({ date }) => date.toISOString().slice(0, 10)).sort()[0],
      rows,
      skippedRows: sink.skipped,
      overlappingRows,
      keys: new Set(v4.keys).union(new Set(v6.keys)).size,
      rangesV4: v4.ranges.length / 2,
      rangesV6: v6.ranges.length / 8,
      table,
      ...(names && { names }),
    };
  });
}

function explain<T>(sources: GeoSources, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw hasCode(error, 'GEO_FILE') ? new WeirError('GEO_FILE', `${sourcesLabel(sources)}: ${file}: ${error.message}`) : error;
  }
}

function readSource(sources: GeoSources, file: string, sink: RowSink): { format: string; date: Date } {
  const bytes = readBytes(file);
  if (isMmdb(bytes)) return readMmdb(bytes, sources.kind, sink);
  const locations = () => {
    if (sources.locations === undefined)
      throw new WeirError('GEO_FILE', 'its geoname_id column needs the …-Locations-en.csv of the same download in the same folder');
    return readBytes(sources.locations);
  };
  return { format: readCsv(bytes, sources.kind, sink, locations), date: statSync(file).mtime };
}

function readBytes(file: string): Buffer {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = gunzipSync(bytes);
  } catch (error) {
    throw new WeirError('GEO_FILE', `it cannot be read: ${(error as Error).message}`);
  }
  if (bytes.length === 0) throw new WeirError('GEO_FILE', 'the file is empty');
  if (bytes.subarray(0, 2).equals(Buffer.from('PK')))
    throw new WeirError('GEO_FILE', 'it is a zip archive: unpack it and name the CSV or MMDB file');
  return bytes;
}

function overlapText({ files }: GeoSources, overlaps: readonly Overlaps[], count: number): string {
  const found = overlaps.find(({ first }) => first !== undefined);
  const place = (row: number) =>
    `line ${found?.rows.lines[row]}${files.length > 1 ? ` of ${basename(files[found?.rows.files[row] ?? 0])}` : ''}`;
  const [earlier, later] = (found?.first ?? [0, 0]).map(place);
  return `${later}: the range overlaps that of ${earlier}; an address may be in one row only (rows that overlap: ${count})`;
}
