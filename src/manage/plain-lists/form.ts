/** In which form is the file of `weir send`? */
import { WeirError } from '../../errors.ts';
import { columnName, namesTarget, readValue } from './entry.ts';

/** The forms that the content of a file can have; `suricata` is told by the command line only. */
export const FORMS = ['text', 'csv', 'json', 'ndjson', 'suricata'] as const;
export type Form = (typeof FORMS)[number];

/** What the end of a file's name says; JSON is told by its first character. */
const BY_NAME: Readonly<Record<string, Form>> = { csv: 'csv', tsv: 'csv', txt: 'text', list: 'text', ipset: 'text', netset: 'text' };

/** Bytes of comments and blanks at the beginning, at most. */
const MOST_HEAD = 1 << 20;

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/** What is no text in UTF-8, by its first bytes; each line of it would be a fault. */
const FOREIGN: readonly (readonly [is: (head: Buffer) => boolean, fault: string])[] = [
  [(head) => head[0] === 0x1f && head[1] === 0x8b, 'the file is compressed: unpack it first (gzip -dc FILE | weir send -)'],
  [(head) => head.includes(0), 'the file is UTF-16 or no text: save it as UTF-8'],
];

/** The content from its first byte on, without a byte order mark, and its form. */
export interface FormedInput {
  readonly format: Form;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Finds the form by `given`, the end of the file's name, or the first line that is no comment, of which no more is read than needed. Throws USAGE at what is no text. */
export async function findForm(chunks: AsyncIterable<Buffer>, file: string, given: Form | undefined): Promise<FormedInput> {
  const source = chunks[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let format: Form | undefined;
  let isWhole = false;
  while (format === undefined && !isWhole) {
    const next = await source.next();
    isWhole = next.done === true;
    if (!next.done) head = Buffer.concat([head, next.value]);
    const foreign = FOREIGN.find(([is]) => is(head));
    if (foreign !== undefined) throw new WeirError('USAGE', foreign[1]);
    if (head.length >= BYTE_ORDER_MARK.length || isWhole) format = given ?? formOf(head, file, isWhole);
    if (head.length > MOST_HEAD) format ??= 'text';
  }
  if (head.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) head = head.subarray(BYTE_ORDER_MARK.length);
  return { format: format ?? 'ndjson', chunks: joined(head, source) };
}

async function* joined(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield head;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** undefined when more of the file has to be read. */
function formOf(head: Buffer, file: string, isWhole: boolean): Form | undefined {
  // What is not UTF-8 is refused by what reads the lines.
  const content = head.toString('utf8').replace(/^\uFEFF/, '');
  const first = content.trimStart()[0];
  if (first === undefined) return undefined;
  if (first === '[') return 'json';
  if (first === '{') return 'ndjson';
  const lines = content.split('\n');
  const line = (isWhole ? lines : lines.slice(0, -1)).map((each) => each.trim()).find((each) => each !== '' && !COMMENT.test(each));
  const named = BY_NAME[/\.([a-z]+)$/i.exec(file)?.[1].toLowerCase() ?? ''];
  if (line === undefined) return named === 'text' ? named : undefined;
  // A header may begin with a word of two letters: a country counts where it stands alone.
  const value = readValue(firstColumn(line));
  const isEntry = typeof value !== 'string' && (value.kind !== 'country' || firstColumn(line) === line) && !isHeader(line);
  // CSV without a header is a list of first columns.
  if (named !== undefined) return named === 'csv' && isEntry ? 'text' : named;
  return isEntry ? 'text' : isHeader(line) ? 'csv' : 'ndjson';
}

/** A line that begins with one of these says nothing. */
export const COMMENT = /^[#;]/;

/** The first column of a line of text; blanks and the usual separators end it, a comment does too. */
export const firstColumn = (line: string): string => /^\s*"?([^\s"#;,|]*)/.exec(line)![1];

/** The mark that separates the columns of a header. */
export const delimiterOf = (header: string): string =>
  [',', ';', '\t'].reduce((best, mark) => (header.split(mark).length > header.split(best).length ? mark : best));

const columnsOf = (header: string): Set<string> => new Set(header.split(delimiterOf(header)).map(columnName));

const isHeader = (line: string): boolean => namesTarget(columnsOf(line));

/** Refuses a header that names no column with addresses. */
export function requireTargets(header: readonly string[]): void {
  if (namesTarget(new Set(header.map(columnName)))) return;
  throw new WeirError(
    'USAGE',
    'the first line is a header, and none of its columns is called ip, network, address, cidr, value, asn or country',
  );
}
