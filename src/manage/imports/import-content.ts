/** Reads the file of an import, in pieces that give other work its turn, and no further than an import goes. */
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
import { type FileSignal, type LineFault, takenSignals } from '../../source/readers/items.ts';
import { fieldFault } from '../operation.ts';

/** Entries of one import at most. */
export const MOST_IMPORTED = 10_000;
/** Lines of a file at most, and bytes of it once it is unpacked. */
const MOST_LINES = 100_000;
const MOST_UNPACKED = 16 * 1024 * 1024;
/** Bytes that are read before other work gets its turn. */
const PIECE = 4 * 1024;

/** What is imported, and how. */
export interface ImportRequest {
  readonly caller: Caller;
  readonly bytes: Uint8Array;
  /** How the file is read. */
  readonly reading: Reading;
  /** UUID or name; undefined: the default list. */
  readonly list: string | undefined;
  /** What is said of all entries. */
  readonly defaults: ListDefaults;
  /** Whether nothing is published. */
  readonly preview: boolean;
  /** Whether the rules of the list go that the file does not have. */
  readonly replace: boolean;
  /** With `replace`: whether entries that guard rails hold back every removal, or count as absent. */
  readonly refused: 'keep' | 'skip';
  /** Whether those may be more than half of its rules, and whole countries and ASNs may be meant. */
  readonly isSure: boolean;
}

/** What a file holds, with what is wrong where; one of the two is undefined. */
export interface ImportContent {
  readonly found: readonly (PlacedEntry | LineFault | PassedRow)[];
  /** The entries of `found`. */
  readonly entries: readonly ListEntry[] | undefined;
  readonly signals: readonly (FileSignal | LineFault)[] | undefined;
  /** What was cut or left out of what entries say of their targets. */
  readonly warnings: readonly string[];
}

/** What takes a file that is too large for an import. */
const WAY = 'weir send takes a file of any size, and weir send --replace (POST /v1/manage/replacements) makes a list equal to one';

/** Reads a file. Rejects with TOO_LARGE, and with USAGE where it has no entries (but to replace), or cannot be read to its end: then nothing of it is taken. */
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
    for await (const each of 'entries' in content ? countingWarnings(content.entries, warnings) : takenSignals(content.signals)) {
      if (!('passed' in each)) count += 1;
      if (count > MOST_IMPORTED) throw new WeirError('TOO_LARGE', `the file has more than ${MOST_IMPORTED} entries`);
      if ('json' in each) signals.push(each);
      else if ('entries' in content) found.push(each);
      else signals.push(each as LineFault);
    }
    if (count === 0 && found.length === 0 && !isReplacing) throw fieldFault('file', `has no entries: ${NO_ENTRIES}`);
    if ('signals' in content) return { found: [], entries: undefined, signals, warnings: [] };
  } catch (error) {
    if (hasCode(error, 'TOO_LARGE')) throw new WeirError('TOO_LARGE', `${error.message}, more than an import takes: ${WAY}`);
    throw hasCode(error, 'USAGE') && error.cause === undefined ? fieldFault('file', `cannot be read: ${error.message}`) : error;
  }
  const entries = found.flatMap((each) => ('entry' in each ? [each.entry] : []));
  return { found, entries, signals: undefined, warnings: warningTexts(warnings) };
}

async function* pieces(bytes: Uint8Array, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole.length; at += PIECE) {
    if (at > 0) await pause();
    yield whole.subarray(at, at + PIECE);
  }
}
