import { parse } from 'csv-parse/sync';
import { WeirError } from '../errors.ts';
import { type GeoKind, KINDS } from './kind.ts';

/** Columns, counted from 0. */
export interface CsvLayout {
  /** Printed by `weir geo status`. */
  readonly format: string;
  /** First address or network. */
  readonly start: number;
  /** Last address; undefined when `start` is a network. */
  readonly end: number | undefined;
  readonly key: number;
  /** Country or operator. */
  readonly name: number | undefined;
  /** Mapped to countries by a Locations file. */
  readonly isGeonameId: boolean;
  readonly hasHeader: boolean;
}

const NETWORK_COLUMNS = ['network', 'cidr', 'prefix'];
const START_COLUMNS = ['start_ip', 'ip_range_start', 'range_start', 'start'];
const END_COLUMNS = ['end_ip', 'ip_range_end', 'range_end', 'end'];

/** A header names the columns; without one their order is fixed. Throws GEO_FILE. */
export function csvLayout(firstRecord: string, kind: GeoKind): CsvLayout {
  const fields = recordFields(firstRecord);
  return /^[a-z][a-z_ ]*$/i.test(fields[0]) ? headerLayout(fields, kind) : plainLayout(fields, kind);
}

function recordFields(record: string): string[] {
  try {
    return parse(record, { trim: true, relax_column_count: true })[0] ?? [''];
  } catch {
    throw new WeirError('GEO_FILE', 'this is not a line of CSV');
  }
}

function headerLayout(fields: readonly string[], kind: GeoKind): CsvLayout {
  const names = fields.map((field) => field.toLowerCase());
  const column = (candidates: readonly string[]) => candidates.map((name) => names.indexOf(name)).find((index) => index >= 0);
  const key = column(KINDS[kind].columns);
  const network = column(NETWORK_COLUMNS);
  const start = network ?? column(START_COLUMNS);
  const end = network === undefined ? column(END_COLUMNS) : undefined;
  if (start === undefined || (network === undefined && end === undefined)) {
    throw new WeirError('GEO_FILE', 'the header names neither a column network nor the columns start and end');
  }
  if (key === undefined) throw new WeirError('GEO_FILE', `the header names none of the columns ${KINDS[kind].columns.join(', ')}`);
  const columns = [start, end, key].flatMap((index) => (index === undefined ? [] : [names[index]]));
  const name = column(KINDS[kind].nameColumns);
  return { format: `CSV with header (${columns})`, start, end, key, name, isGeonameId: names[key] === 'geoname_id', hasHeader: true };
}

function plainLayout(fields: readonly string[], kind: GeoKind): CsvLayout {
  const plain = { start: 0, isGeonameId: false, hasHeader: false };
  // In kinds with names, the name follows the key.
  const named = (key: number) => ({ key, name: KINDS[kind].nameColumns.length > 0 ? key + 1 : undefined });
  if (fields[0].includes('/') && fields.length >= 2) return { ...plain, format: `CSV (network,${kind})`, end: undefined, ...named(1) };
  if (fields.length >= 3) return { ...plain, format: `CSV (start,end,${kind})`, end: 1, ...named(2) };
  throw new WeirError(
    'GEO_FILE',
    `expected start,end,${kind} or network,${kind} or a header, found ${JSON.stringify(fields.join(',').slice(0, 40))}`,
  );
}
