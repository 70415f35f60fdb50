import { Readable } from 'node:stream';
import { parse } from 'csv-parse';
import { WeirError } from '../../errors.ts';
import { type Column, columnOf, columnsWith, numberedColumns } from './columns.ts';
import { delimiterOf, type Given, type Header, requireTargets } from './form.ts';
import { tooManyLines } from './lines.ts';
import { completeRow, looksLikeAddress, type PlacedRow, quoted, readTargets, rowOfCells } from './row.ts';
import { COMMENT } from './text.ts';

/** Bytes: limits an unclosed quote. */
const MOST_ROW = 1 << 20;

const LF = 0x0a;

const CUT = 'this row is cut: the content ends within it, and cells are missing';

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/** A row's line is its last one, because quoted cells may contain line breaks. `given`: a header outside the rows. */
export async function* csvRows(
  chunks: AsyncIterable<Buffer>,
  given: Header | undefined,
  { mostLines, column }: Pick<Given, 'column'> & { readonly mostLines?: number | undefined },
): AsyncGenerator<PlacedRow> {
  const end = { isOpen: false, isShort: false };
  const { header, texts } = await readHeader(utf8(chunks, mostLines, end));
  const delimiter = given?.delimiter ?? delimiterOf(header);
  const parser = parse({
    delimiter,
    trim: true,
    comment: '#',
    comment_no_infix: true,
    info: true,
    max_record_size: MOST_ROW,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
  });
  const source = Readable.from(texts).on('error', (error) => parser.destroy(error));
  let columns = given && headerColumns(given.names, column);
  let last: PlacedRow | undefined;
  try {
    for await (const { record, info } of source.pipe(parser) as AsyncIterable<CsvRecord>) {
      if (delimiter !== ';' && COMMENT.test(record[0])) continue;
      const isHeader = columns === undefined && !(column !== undefined && isNumber(column) && isData(record, Number(column)));
      columns ??= isHeader ? headerColumns(record, column) : numberedColumns(record.length, Number(column));
      if (!isHeader) {
        if (last !== undefined) yield last;
        last = { row: rowOfCells(columns, record), place: `line ${info.lines}` };
        end.isShort = record.length < columns.length;
      }
    }
    if (last !== undefined) yield end.isOpen ? { ...last, row: end.isShort ? CUT : completeRow(last.row) } : last;
  } catch (error) {
    if (!/^CSV_/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new WeirError('USAGE', `the file is not CSV: ${(error as Error).message}`);
  } finally {
    source.destroy();
  }
}

const isNumber = (column: string): boolean => /^[1-9]\d{0,3}$/.test(column);

/** Whether the first row is data, given the target column's number. */
const isData = (record: readonly string[], chosen: number): boolean =>
  record.some(looksLikeAddress) || typeof readTargets(record[chosen - 1] ?? '') !== 'string';

function headerColumns(record: readonly string[], column: string | undefined): readonly Column[] {
  if (column !== undefined) return chosenColumns(record, column);
  requireTargets(record);
  return record.map(columnOf);
}

function chosenColumns(names: readonly string[], column: string): readonly Column[] {
  const found = columnsWith(names, column);
  if (found === undefined) throw new WeirError('USAGE', `there is no column ${quoted(column)} in the header ${quoted(names.join(', '))}`);
  return found;
}

async function readHeader(source: AsyncGenerator<string>): Promise<{ header: string; texts: AsyncGenerator<string> }> {
  let head = '';
  for (let next = await source.next(); ; next = await source.next()) {
    head += next.value ?? '';
    const lines = head.split('\n').slice(0, next.done ? undefined : -1);
    const header = lines.find((line) => line.trim() !== '' && !COMMENT.test(line));
    if (header !== undefined || next.done || head.length > MOST_ROW) return { header: header ?? '', texts: behind(head, source) };
  }
}

async function* behind(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** `end.isOpen`: the content ends within a line. Throws USAGE for invalid UTF-8, and above the line limit. */
async function* utf8(chunks: AsyncIterable<Buffer>, mostLines: number | undefined, end: { isOpen: boolean }): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines = 1;
  for await (const chunk of chunks) {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: true });
    } catch {
      throw new WeirError('USAGE', `the file is not UTF-8, behind line ${lines}`);
    }
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
    if (mostLines !== undefined && lines > mostLines + 1) throw tooManyLines(mostLines);
    if (chunk.length > 0) end.isOpen = chunk[chunk.length - 1] !== LF;
    yield text;
  }
}
