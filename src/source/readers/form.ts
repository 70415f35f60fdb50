/** In which form is a list? */
import { WeirError } from '../../errors.ts';
import { columnName, KNOWN_COLUMNS, namesTarget, shown, targetsOf } from './row.ts';
import { COMMENT, columnsOf, isBroad, rowOfLine } from './text.ts';
import { atMost, gunzip, isGzip } from './unpack.ts';

/** The forms that the content of a file can have; `suricata` is told by the command line only. */
export const FORMS = ['text', 'csv', 'json', 'ndjson', 'suricata'] as const;
export type Form = (typeof FORMS)[number];

/** What the end of a file's name says; JSON is told by its first character. */
const BY_NAME: Readonly<Record<string, Form>> = { csv: 'csv', tsv: 'csv', txt: 'text', list: 'text', ipset: 'text', netset: 'text' };

/** Bytes of comments and blanks at the beginning, at most. */
const MOST_HEAD = 1 << 20;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** The content from its first byte on, unpacked and without a byte order mark, and its form. */
export interface FormedInput {
  readonly format: Form;
  /** The header of CSV where it stands in a comment. */
  readonly header?: readonly string[] | undefined;
  readonly chunks: AsyncIterable<Buffer>;
}

/** What is known of a list before it is read. */
export interface Given {
  /** The name of the file, whose end may tell its form. */
  readonly file: string;
  /** undefined: found out. */
  readonly format?: Form | undefined;
  /** Bytes at most once it is unpacked; undefined: any number. */
  readonly mostBytes?: number | undefined;
}

/**
 * Finds the form by what is given, the end of the file's name, or the first line that is no comment, of which no more is read than
 * needed; unpacks gzip. Throws USAGE at what is no list.
 */
export async function findForm(chunks: AsyncIterable<Buffer>, given: Given): Promise<FormedInput> {
  const { head, rest } = await withHead(chunks, (bytes) => bytes.length >= 2);
  const whole = joined(head, rest);
  if (!isGzip(head)) return formed(whole, given, given.file);
  const unpacked = gunzip(whole);
  return formed(given.mostBytes === undefined ? unpacked : atMost(unpacked, given.mostBytes), given, given.file.replace(/\.gz$/i, ''));
}

async function formed(chunks: AsyncIterable<Buffer>, { format: given }: Given, file: string): Promise<FormedInput> {
  let found: Omit<FormedInput, 'chunks'> | undefined;
  const { head, rest } = await withHead(chunks, (bytes, isComplete) => {
    if (bytes.includes(0)) throw new WeirError('USAGE', 'the file is UTF-16 or no text: save it as UTF-8');
    if (bytes.length < BYTE_ORDER_MARK.length && !isComplete) return false;
    found = given === undefined ? formOf(bytes, file, isComplete) : { format: given };
    return found !== undefined || bytes.length > MOST_HEAD;
  });
  const isMarked = head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const content = isMarked ? head.subarray(BYTE_ORDER_MARK.length) : head;
  return { ...(found ?? { format: 'text' }), chunks: joined(content, rest) };
}

/** Reads until `isEnough`, or to the end. */
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

/** undefined when more of the file has to be read. Throws USAGE at what is no list. */
function formOf(head: Buffer, file: string, isComplete: boolean): Omit<FormedInput, 'chunks'> | undefined {
  // What is not UTF-8 is refused by what reads the lines.
  const content = head.toString('utf8').replace(/^\uFEFF/, '');
  const first = content.trimStart()[0];
  if (first === undefined) {
    if (isComplete) throw new WeirError('USAGE', 'the file is empty');
    return undefined;
  }
  if (first === '[') return { format: 'json' };
  if (first === '{' || first === '"') return quotedForm(content, isComplete);
  if (first === '<') throw new WeirError('USAGE', `the file is a web page or XML, and no list: it begins with ${shown(content.trim())}`);
  const lines = content.split('\n');
  const whole = (isComplete ? lines : lines.slice(0, -1)).map((each) => each.trim());
  const at = whole.findIndex((each) => each !== '' && !COMMENT.test(each));
  const named = BY_NAME[/\.([a-z]+)$/i.exec(file)?.[1].toLowerCase() ?? ''];
  if (at < 0) return named === 'text' || isComplete ? { format: 'text' } : undefined;
  return formOfLine(whole[at], whole.slice(0, at), named);
}

/** JSON texts one a line, objects, or the quoted first cell of CSV. */
function quotedForm(content: string, isComplete: boolean): Omit<FormedInput, 'chunks'> | undefined {
  const [line, ...more] = content.trimStart().split('\n');
  if (line.startsWith('{')) return { format: 'ndjson' };
  if (more.length === 0 && !isComplete) return undefined;
  return /^"(\\.|[^"\\])*"\s*$/.test(line) && !isHeader(headerOf(line)) ? { format: 'ndjson' } : formOfLine(line, [], undefined);
}

/** The form by the first line that is no comment, and the comments before it. */
function formOfLine(line: string, comments: readonly string[], named: Form | undefined): Omit<FormedInput, 'chunks'> {
  const columns = headerOf(line);
  const header = comments.map((each) => headerOf(each.replace(COMMENT, ''))).findLast((each) => each.length > 1 && isHeader(each));
  if (header !== undefined && header.length === columns.length) return { format: 'csv', header };
  if (isEntry(line)) return { format: 'text' };
  if (isHeader(columns) || named === 'csv') return { format: 'csv' };
  if (named !== undefined) return { format: named };
  const message = `the first line is neither an address, nor a header with a column that is called ${KNOWN_COLUMNS}, nor JSON: ${shown(line)}`;
  throw new WeirError('USAGE', message);
}

/** Whether a line names a target. A header may begin with a word of two letters: a country counts where it stands alone. */
function isEntry(line: string): boolean {
  const row = rowOfLine(line);
  const [first, ...others] = columnsOf(line);
  // A line that begins with an address is one of a list, whatever is wrong with it.
  if (typeof row === 'string') return !isHeader(headerOf(line));
  return typeof targetsOf(row) !== 'string' && (others.length === 0 || !isBroad(first) || first.length > 2) && !isHeader(headerOf(line));
}

/** The mark that separates the columns of a header. */
export const delimiterOf = (header: string): string =>
  [',', ';', '\t'].reduce((best, mark) => (header.split(mark).length > header.split(best).length ? mark : best));

/** The names of a header; of other lines about as many as they have cells. */
const headerOf = (line: string): string[] => (line.match(CELLS[delimiterOf(line)]) ?? []).map((cell) => cell.trim().replace(/^"|"$/g, ''));
const CELLS: Readonly<Record<string, RegExp>> = {
  ',': /(?<=^|,)("[^"]*"|[^,])*/g,
  ';': /(?<=^|;)("[^"]*"|[^;])*/g,
  '\t': /(?<=^|\t)("[^"]*"|[^\t])*/g,
};

const isHeader = (columns: readonly string[]): boolean => namesTarget(new Set(columns.map(columnName)));

/** Refuses a header that names no column with addresses. */
export function requireTargets(header: readonly string[]): void {
  if (isHeader(header)) return;
  throw new WeirError(
    'USAGE',
    `the first line is a header, and none of its columns is called ${KNOWN_COLUMNS}: ${shown(header.join(', '))}`,
  );
}
