import { parse } from 'csv-parse/sync';
import { WeirError } from '../errors.ts';
import { type GeoKind, KINDS } from './kind.ts';

/** Which column of a CSV file is which, by number from 0. */
export interface CsvLayout {
  /** How `weir geo status` calls it. */
  readonly format: string;
  readonly start: number;
  /** undefined when `start` holds a network with its prefix length. */
  readonly end: number | undefined;
  readonly key: number;
  /** The key column holds GeoNames ids, which a Locations file maps to countries. */
  readonly isGeonameId: boolean;
  readonly hasHeader: boolean;
}

const NETWORK_COLUMNS = ['network', 'cidr', 'prefix'];
const START_COLUMNS = ['start_ip', 'ip_range_start', 'range_start', 'start'];
const END_COLUMNS = ['end_ip', 'ip_range_end', 'range_end', 'end'];

/** The layout behind a file's first record: a header line names its columns, without one their order is fixed. */
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
  return { format: `CSV with header (${columns})`, start, end, key, isGeonameId: names[key] === 'geoname_id', hasHeader: true };
}

function plainLayout(fields: readonly string[], kind: GeoKind): CsvLayout {
  const plain = { start: 0, isGeonameId: false, hasHeader: false };
  if (fields[0].includes('/') && fields.length >= 2) return { ...plain, format: `CSV (network,${kind})`, end: undefined, key: 1 };
  if (fields.length >= 3) return { ...plain, format: `CSV (start,end,${kind})`, end: 1, key: 2 };
  throw new WeirError(
    'GEO_FILE',
    `expected start,end,${kind} or network,${kind} or a header, found ${JSON.stringify(fields.join(',').slice(0, 40))}`,
  );
}
