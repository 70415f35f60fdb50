import { WeirError } from '../../errors.ts';
import { columnOf, columnsWith, KNOWN_COLUMNS, namesTarget } from './columns.ts';
import { documentForm } from './intelligence.ts';
import { isGzip, isZip, kindOf, packedBytes } from './kinds.ts';
import { foreignOf, lineFormOf } from './line-forms/table.ts';
import { isAddress, quoted } from './row.ts';
import { targetsOf } from './targets.ts';
import { COMMENT, columnsOf, isBroad, rowOfLine } from './text.ts';
import { atMost, gunzip } from './unpack.ts';
import { unzip } from './zip.ts';

/** `suricata` only by option. */
export const FORMS = ['text', 'csv', 'json', 'ndjson', 'stix', 'misp', 'suricata'] as const;
export type Form = (typeof FORMS)[number];

export const MOST_SKIPPED = 10_000;
export const COLUMN_HELP = 'The column or field that has the targets, by its name, or by its number from 1 where there is no header.';
export const SKIP_HELP = 'Lines at the beginning that are not read.';

/** By file extension; JSON is recognized by its first character. */
const BY_NAME: Readonly<Record<string, Form>> = { csv: 'csv', tsv: 'csv', txt: 'text', list: 'text', ipset: 'text', netset: 'text' };

const MOST_HEAD = 1 << 20;

const LF = 0x0a;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export interface FormedInput {
  readonly format: Form;
  readonly header?: Header | undefined;
  readonly chunks: AsyncIterable<Buffer>;
}

export interface Header {
  readonly names: readonly string[];
  readonly delimiter: string;
}

export interface Given {
  readonly file: string;
  /** undefined: detect. */
  readonly format?: Form | undefined;
  /** Name, or number from 1; undefined: detect (SPEC D41.17). */
  readonly column?: string | undefined;
  /** Leading lines to ignore. */
  readonly skip?: number | undefined;
  /** Maximum unpacked bytes; undefined: no limit. */
  readonly mostBytes?: number | undefined;
}

/**
 * By option, extension, or the first non-comment line, reading no more than needed; unpacks gzip, and zips of one file. Throws USAGE for
 * anything else.
 */
export async function findForm(chunks: AsyncIterable<Buffer>, given: Given): Promise<FormedInput> {
  const { head, rest } = await withHead(chunks, (bytes) => bytes.length >= packedBytes(bytes[0]));
  const complete = joined(head, rest);
  const bounded = (unpacked: AsyncGenerator<Buffer>) => (given.mostBytes === undefined ? unpacked : atMost(unpacked, given.mostBytes));
  if (isZip(head)) {
    const { name, chunks: unpacked } = await unzip(complete);
    return formed(bounded(unpacked), given, name);
  }
  return isGzip(head) ? formed(bounded(gunzip(complete)), given, given.file.replace(/\.gz$/i, '')) : formed(complete, given, given.file);
}

async function formed(all: AsyncIterable<Buffer>, { format: given, column, skip = 0 }: Given, file: string): Promise<FormedInput> {
  const chunks = skip === 0 ? all : withoutLines(all, skip);
  let found: Omit<FormedInput, 'chunks'> | undefined;
  const { head, rest } = await withHead(chunks, (bytes, isComplete) => {
    const kind = kindOf(bytes, isComplete);
    if (kind !== undefined) throw new WeirError('USAGE', `the file is ${kind}: save it as text in UTF-8`);
    if (bytes.includes(0)) return false;
    if (bytes.length < BYTE_ORDER_MARK.length && !isComplete) return false;
    found = given === undefined ? formOf(bytes, file, isComplete, column) : { format: given };
    return found !== undefined || bytes.length > MOST_HEAD;
  });
  const isMarked = head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const content = isMarked ? head.subarray(BYTE_ORDER_MARK.length) : head;
  return { ...(found ?? { format: 'text' }), chunks: joined(content, rest) };
}

/** Empties lines; line numbers stay. */
async function* withoutLines(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count;
  for await (const chunk of chunks) {
    let [from, emptied] = [0, 0];
    for (let at = chunk.indexOf(LF); at >= 0 && emptied < left; at = chunk.indexOf(LF, from)) {
      from = at + 1;
      emptied += 1;
    }
    left -= emptied;
    yield Buffer.concat([Buffer.alloc(emptied, LF), left > 0 ? Buffer.alloc(0) : chunk.subarray(from)]);
  }
}

async function withHead(
  chunks: AsyncIterable<Buffer>,
  isEnough: (head: Buffer, isComplete: boolean) => boolean,
): Promise<{ readonly head: Buffer; readonly rest: AsyncIterator<Buffer> }> {
  const rest = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  for (let isComplete = false; !isComplete; ) {
    const next = await rest.next();
    isComplete = next.done === true;
    if (!next.done) head = Buffer.concat([head, next.value]);
    if (isEnough(head, isComplete)) break;
  }
  return { head, rest };
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** undefined: more input needed. Throws USAGE for unknown forms. */
function formOf(head: Buffer, file: string, isComplete: boolean, column: string | undefined): Omit<FormedInput, 'chunks'> | undefined {
  // The line reader rejects invalid UTF-8.
  const content = head.toString('utf8').replace(/^\uFEFF/, '');
  const first = content.trimStart()[0];
  if (first === undefined) {
    if (isComplete) throw new WeirError('USAGE', 'the file is empty');
    return undefined;
  }
  if (first === '[') return bracketForm(content.trimStart(), isComplete);
  if (first === '{' || (first === '"' && column === undefined)) return quotedForm(content, isComplete);
  if (first === '<' && !isComplete && !content.trimStart().includes('\n')) return undefined;
  if (first === '<' && lineFormOf(content.trim().split('\n', 1)[0]!) === undefined)
    throw new WeirError('USAGE', `the file is a web page or XML, and no list: it begins with ${quoted(content.trim())}`);
  const lines = content.split('\n');
  const complete = (isComplete ? lines : lines.slice(0, -1)).map(bareLine);
  const at = complete.findIndex((each) => each !== '' && !COMMENT.test(each));
  const named = BY_NAME[/\.([a-z]+)$/i.exec(file)?.[1].toLowerCase() ?? ''];
  if (at < 0) return named === 'text' || isComplete ? { format: 'text' } : undefined;
  return column === undefined
    ? formOfLine(complete[at], complete.slice(0, at), named)
    : formOfColumn(complete[at], complete.slice(0, at), column);
}

/** CSV with this column in a header (possibly in a comment), or without a header. */
function formOfColumn(line: string, comments: readonly string[], column: string): Omit<FormedInput, 'chunks'> {
  const headers = comments
    .map((each) => headerOf(each.replace(ZEEK, '').replace(COMMENT, '')))
    .filter(({ length }) => length === headerOf(line).length);
  const names = headers.findLast((each) => columnsWith(each, column) !== undefined && each.length > 1);
  return { format: 'csv', header: names && { names, delimiter: delimiterOf(line) } };
}

/** Tabs may be empty cells. */
function bareLine(line: string): string {
  let [from, to] = [0, line.length];
  while (from < to && BLANKS.includes(line[from]!)) from += 1;
  while (to > from && BLANKS.includes(line[to - 1]!)) to -= 1;
  return line.slice(from, to);
}
const BLANKS = ' \r';

/** A bracketed IPv6 address with a port, or a JSON array. */
function bracketForm(content: string, isComplete: boolean): Omit<FormedInput, 'chunks'> | undefined {
  const [, address, end] = /^\[([\da-f:.]*)([\s\S]?)/i.exec(content)!;
  if (end === '' && !isComplete && address.length <= 45) return undefined;
  return { format: end === ']' && address.includes(':') ? 'text' : 'json' };
}

/** JSON strings or objects, or CSV with a quoted first cell. */
function quotedForm(content: string, isComplete: boolean): Omit<FormedInput, 'chunks'> | undefined {
  const [line, ...more] = content.trimStart().split('\n');
  if (line.startsWith('{')) {
    const format = documentForm(content.trimStart(), isComplete);
    return format && { format };
  }
  if (more.length === 0 && !isComplete) return undefined;
  return /^"(\\.|[^"\\])*"\s*$/.test(line) && !isHeader(headerOf(line)) ? { format: 'ndjson' } : formOfLine(line, [], undefined);
}

function formOfLine(line: string, comments: readonly string[], named: Form | undefined): Omit<FormedInput, 'chunks'> {
  const zeek = comments.findLast((each) => ZEEK.test(each));
  if (zeek !== undefined) return { format: 'csv', header: { names: zeek.split('\t').slice(1), delimiter: '\t' } };
  const foreign = named === undefined ? foreignOf(line) : undefined;
  if (foreign !== undefined) throw new WeirError('USAGE', `the file ${foreign}: ${quoted(line)}`);
  if (lineFormOf(line) !== undefined) return { format: 'text' };
  const columns = headerOf(line);
  const delimiter = delimiterOf(line);
  const names = comments.map((each) => headerOf(each.replace(COMMENT, ''))).findLast((each) => each.length > 1 && isHeader(each));
  if (names?.length === columns.length) return { format: 'csv', header: { names, delimiter } };
  if (TYPED.test(columns[1] ?? '') && !isHeader(columns)) return { format: 'csv', header: { names: INDICATOR, delimiter } };
  if (isEntry(line)) return { format: 'text' };
  if (isHeader(columns) || named === 'csv') return { format: 'csv' };
  if (named !== undefined) return { format: named };
  const message = `the first line is neither an address, nor a header with a column that is called ${KNOWN_COLUMNS}, nor JSON: ${quoted(line)}`;
  throw new WeirError('USAGE', message);
}

/** Zeek's table header. */
const ZEEK = /^#fields\t/;

/** Of `csv_indicator` and Check Point's indicator files, both without header. */
const INDICATOR = ['value', 'type', 'confidence', 'severity'];
const TYPED = /^(ip|ip range|ipv[46]|url|domain|hostname|md5|sha\d+|mail-[a-z-]+)$/i;

/** Headers may begin with two letters: countries count only alone. */
function isEntry(line: string): boolean {
  const row = rowOfLine(line);
  const [first, ...others] = columnsOf(line);
  // A line beginning with an address is an entry, even a faulty one.
  if (typeof row === 'string') return !isHeader(headerOf(line));
  return typeof targetsOf(row) !== 'string' && (others.length === 0 || !isBroad(first) || first.length > 2) && !isHeader(headerOf(line));
}

export const delimiterOf = (header: string): string =>
  [',', ';', '\t', '|'].reduce((best, mark) => (header.split(mark).length > header.split(best).length ? mark : best));

/** Approximate for other lines than headers. */
const headerOf = (line: string): string[] => (line.match(CELLS[delimiterOf(line)]) ?? []).map((cell) => cell.trim().replace(/^"|"$/g, ''));
const CELLS: Readonly<Record<string, RegExp>> = {
  ',': /(?<=^|,)("[^"]*"|[^,])*/g,
  ';': /(?<=^|;)("[^"]*"|[^;])*/g,
  '\t': /(?<=^|\t)("[^"]*"|[^\t])*/g,
  '|': /(?<=^|\|)("[^"]*"|[^|])*/g,
};

const isHeader = (columns: readonly string[]): boolean => namesTarget(columns.map(columnOf)) && !columns.some(isAddress);

export function requireTargets(header: readonly string[]): void {
  if (isHeader(header)) return;
  const address = header.find(isAddress);
  if (address !== undefined) throw new WeirError('USAGE', `the first line has an address, ${quoted(address)}, and so is no header`);
  throw new WeirError(
    'USAGE',
    `the first line is a header, and none of its columns is called ${KNOWN_COLUMNS}: ${quoted(header.join(', '))}`,
  );
}
