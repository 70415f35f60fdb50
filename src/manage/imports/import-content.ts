/** Reads in chunks, within the limits of an import. */
import type { Caller } from '../../account/caller.ts';
import { hasCode, WeirError } from '../../errors.ts';
import {
  countingWarnings,
  NO_ENTRIES,
  type PassedRow,
  type PlacedEntry,
  type Reading,
  readContent,
  warningTexts,
} from '../../source/readers/content.ts';
import type { ListDefaults, ListEntry } from '../../source/readers/entry.ts';
import { acceptableSignals, type FileSignal, type LineFault } from '../../source/readers/items.ts';
import { fieldFault } from '../operation.ts';

export const MOST_IMPORTED = 10_000;
/** Lines, and unpacked bytes. */
const MOST_LINES = 100_000;
const MOST_UNPACKED = 16 * 1024 * 1024;
/** Bytes between yields. */
const PIECE = 4 * 1024;

export interface ImportRequest {
  readonly caller: Caller;
  readonly bytes: Uint8Array;
  readonly reading: Reading;
  /** UUID or name; undefined: the default list. */
  readonly list: string | undefined;
  readonly defaults: ListDefaults;
  readonly preview: boolean;
  /** Removes other rules of the list. */
  readonly replace: boolean;
  /** Refused entries prevent all removals (`keep`) or count as absent (`skip`). */
  readonly refused: 'keep' | 'skip';
  /** Confirms large removals, countries and ASNs. */
  readonly isSure: boolean;
}

/** Either `entries` or `signals` is undefined. */
export interface ImportContent {
  readonly found: readonly (PlacedEntry | LineFault | PassedRow)[];
  readonly entries: readonly ListEntry[] | undefined;
  readonly signals: readonly (FileSignal | LineFault)[] | undefined;
  /** About descriptive data. */
  readonly warnings: readonly string[];
}

const WAY = 'weir send accepts a file of any size, and weir send --replace (POST /v1/manage/replacements) makes a list match a file';

/** Rejects with TOO_LARGE, and with USAGE if it is empty (unless it replaces a list) or unreadable. */
export async function readImport(
  { bytes, reading, defaults, replace: isReplacing }: Pick<ImportRequest, 'bytes' | 'reading' | 'defaults' | 'replace'>,
  pause: () => Promise<void>,
): Promise<ImportContent> {
  const found: (PlacedEntry | LineFault | PassedRow)[] = [];
  const signals: (FileSignal | LineFault)[] = [];
  const warnings = new Map<string, number>();
  let count = 0;
  try {
    const content = await readContent(pieces(bytes, pause), { ...reading, mostLines: MOST_LINES, mostBytes: MOST_UNPACKED }, defaults);
    for await (const each of 'entries' in content ? countingWarnings(content.entries, warnings) : acceptableSignals(content.signals)) {
      if (!('passed' in each)) count += 1;
      if (count > MOST_IMPORTED) throw new WeirError('TOO_LARGE', `the file has more than ${MOST_IMPORTED} entries`);
      if ('json' in each) signals.push(each);
      else if ('entries' in content) found.push(each);
      else signals.push(each as LineFault);
    }
    if (count === 0 && found.length === 0 && !isReplacing) throw fieldFault('file', `has no entries: ${NO_ENTRIES}`);
    if ('signals' in content) return { found: [], entries: undefined, signals, warnings: [] };
  } catch (error) {
    if (hasCode(error, 'TOO_LARGE')) throw new WeirError('TOO_LARGE', `${error.message}, which exceeds the limit of an import: ${WAY}`);
    throw hasCode(error, 'USAGE') && error.cause === undefined ? fieldFault('file', `cannot be read: ${error.message}`) : error;
  }
  const entries = found.flatMap((each) => ('entry' in each ? [each.entry] : []));
  return { found, entries, signals: undefined, warnings: warningTexts(warnings) };
}

async function* pieces(bytes: Uint8Array, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < buffer.length; at += PIECE) {
    if (at > 0) await pause();
    yield buffer.subarray(at, at + PIECE);
  }
}
