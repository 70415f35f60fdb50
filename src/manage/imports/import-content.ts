/** Reads the file of an import, in pieces that give other work its turn, and no further than an import goes. */
import type { Caller } from '../../account/caller.ts';
import { hasCode } from '../../errors.ts';
import { type PassedRow, type PlacedEntry, type Reading, readContent } from '../../source/readers/content.ts';
import type { ListDefaults, ListEntry } from '../../source/readers/entry.ts';
import { type FileSignal, type LineFault, takenSignals } from '../../source/readers/items.ts';

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
  /** With `replace`: whether entries that guard rails refuse keep everything that would go, or count as absent. */
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
}

/** Reads a file. What makes the rest unreadable is a fault of its own. */
export async function readImport(
  bytes: Uint8Array,
  reading: Reading,
  defaults: ListDefaults,
  pause: () => Promise<void>,
): Promise<ImportContent> {
  const found: (PlacedEntry | LineFault | PassedRow)[] = [];
  const signals: (FileSignal | LineFault)[] = [];
  let isList = true;
  let count = 0;
  try {
    const content = await readContent(pieces(bytes, pause), { ...reading, mostLines: MOST_LINES, mostBytes: MOST_UNPACKED }, defaults);
    isList = 'entries' in content;
    for await (const each of 'entries' in content ? content.entries : takenSignals(content.signals)) {
      const isPassed = 'passed' in each;
      if (!isPassed) count += 1;
      if (count > MOST_IMPORTED) {
        found.push({ place: each.place!, fault: `an import has ${MOST_IMPORTED} entries at most; the rest was not read` });
        break;
      }
      if ('json' in each) signals.push(each);
      else if (isList || isPassed) found.push(each);
      else signals.push(each as LineFault);
    }
  } catch (error) {
    if (!hasCode(error, 'USAGE')) throw error;
    found.push({ place: 'file', fault: error.message });
  }
  if (isList) return { found, entries: found.flatMap((each) => ('entry' in each ? [each.entry] : [])), signals: undefined };
  return { found: [], entries: undefined, signals: [...signals, ...(found as LineFault[])] };
}

async function* pieces(bytes: Uint8Array, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole.length; at += PIECE) {
    if (at > 0) await pause();
    yield whole.subarray(at, at + PIECE);
  }
}
