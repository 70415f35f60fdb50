/** Importing a file of entries or signals, with what is wrong line by line (SPEC D11.1 to D11.3, D15.36). */
import type { Caller } from '../account/caller.ts';
import { hasCode } from '../errors.ts';
import { LIMITS } from '../signal/limits.ts';
import { entrySignals, type LineFault, readContent } from './plain-lists/content.ts';
import type { ListDefaults } from './plain-lists/entry.ts';
import { type Form, findForm } from './plain-lists/form.ts';
import { arrayOf, type FileSignal } from './plain-lists/items.ts';
import type { FeedFields, RefusedBatch, SignalBatch, Submission, TakenBatch } from './submission.ts';

/** Entries of one import at most. */
export const MOST_IMPORTED = 10_000;
/** Faults that are told at most. */
const MOST_TOLD = 1000;
/** Bytes that are read before other work gets its turn. */
const PIECE = 4 * 1024;

export interface ImportRequest {
  readonly caller: Caller;
  readonly bytes: Uint8Array;
  /** The name of the file, whose end may tell its form. */
  readonly file: string;
  /** undefined: found out. */
  readonly format: Form | undefined;
  /** UUID or name; undefined: the default list. */
  readonly list: string | undefined;
  /** What is said of all entries. */
  readonly defaults: ListDefaults;
  /** Whether nothing is published. */
  readonly preview: boolean;
}

/** What is wrong with an entry, and where it stands, such as `line 7`. */
export interface ImportFault {
  readonly place: string;
  readonly message: string;
}

export interface Imported extends FeedFields {
  readonly accepted: number;
  readonly failed: number;
  /** Entries that have expired, which are left out. */
  readonly expired: number;
  readonly errors: readonly ImportFault[];
  readonly errors_left_out: number;
  /** What agents would silently ignore; previews only. */
  readonly warnings: readonly string[];
  readonly batches: readonly string[];
}

/** Reads a file and sends its entries in batches; those that are good are taken whatever is wrong with others. */
export async function importFile(
  { submission, pause }: { readonly submission: Submission; pause(): Promise<void> },
  request: ImportRequest,
): Promise<Imported | RefusedBatch> {
  const { batches, faults, expired } = await readBatches(request, pause);
  const sent: SignalBatch[] = [];
  const { caller, list } = request;
  for (const signals of batches) {
    sent.push({ version: signals[0]!.version, caller, list, body: arrayOf(signals) });
    await pause();
  }
  const { results, feeds } = request.preview
    ? await submission.preview(sent)
    : { results: await submitAll(submission, sent), feeds: undefined };
  const [first] = results;
  // The list, the key or the limits are at fault: nothing was taken.
  if (first !== undefined && 'status' in first && first.status !== 400) return first;
  const errors = [...faults, ...results.flatMap((result, i) => faultsOf(result, batches[i]!))];
  const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, faults.length);
  const failed = sum(results.map((result, i) => failedOf(result, batches[i]!.length)));
  const entries = sum(batches.map(({ length }) => length));
  return {
    accepted: entries - failed,
    failed,
    expired,
    errors: errors.slice(0, MOST_TOLD),
    errors_left_out: Math.max(0, errors.length - MOST_TOLD),
    warnings: results.flatMap((result) => ('status' in result ? [] : result.warnings)).slice(0, MOST_TOLD),
    batches: results.flatMap((result) => ('status' in result || result.batchId === null ? [] : [result.batchId])),
    ...feeds,
  };
}

/** One batch after the other; those behind one that is not taken because of the service are not sent. */
async function submitAll(submission: Submission, batches: readonly SignalBatch[]): Promise<(TakenBatch | RefusedBatch)[]> {
  const results: (TakenBatch | RefusedBatch)[] = [];
  for (const batch of batches) {
    const last = results.at(-1);
    const isOver = last !== undefined && 'status' in last && last.status !== 400;
    results.push(isOver ? { ...last, message: `not sent: ${last.message}` } : await submission.submit(batch));
  }
  return results;
}

const failedOf = (result: TakenBatch | RefusedBatch, entries: number) => ('status' in result ? entries : result.errors.length);

/** What is wrong with the entries of a batch, by their places. */
function faultsOf(result: TakenBatch | RefusedBatch, signals: readonly FileSignal[]): ImportFault[] {
  const texts = 'status' in result ? [result.message] : result.errors;
  return texts.map((text) => {
    const [, index, message] = /^Entry (\d+): (.*)$/s.exec(text) ?? [];
    const [first, last] = [signals[0]!, signals.at(-1)!].map(({ place }) => place!);
    if (index === undefined) return { place: first === last ? first! : `${first} to ${last}`, message: text };
    return { place: signals[Number(index)]!.place!, message: message! };
  });
}

interface ReadFile {
  readonly batches: readonly (readonly FileSignal[])[];
  readonly faults: readonly ImportFault[];
  readonly expired: number;
}

/** The signals of a file in batches of one version. What makes the rest unreadable is a fault of its own. */
async function readBatches({ bytes, file, format, defaults }: ImportRequest, pause: () => Promise<void>): Promise<ReadFile> {
  const batches: FileSignal[][] = [];
  const faults: ImportFault[] = [];
  let expired = 0;
  let entries = 0;
  try {
    const content = await readContent(await findForm(pieces(bytes, pause), file, format), defaults);
    const found = 'signals' in content ? content.signals : entrySignals(content.entries, (count) => (expired = count));
    for await (const each of found) {
      entries += 1;
      if (entries > MOST_IMPORTED) {
        faults.push({ place: placeOf(each, entries), message: `an import has ${MOST_IMPORTED} entries at most; the rest was not read` });
        break;
      }
      if ('fault' in each) faults.push({ place: each.place, message: each.fault });
      else add(batches, { ...each, place: placeOf(each, entries) });
    }
  } catch (error) {
    if (!hasCode(error, 'USAGE')) throw error;
    faults.push({ place: 'file', message: error.message });
  }
  return { batches, faults, expired };
}

const placeOf = (each: FileSignal | LineFault, number: number): string => each.place ?? `entry ${number - 1}`;

function add(batches: FileSignal[][], signal: FileSignal): void {
  const last = batches.at(-1);
  if (last === undefined || last.length === LIMITS.batchEntries || last[0]!.version !== signal.version) batches.push([signal]);
  else last.push(signal);
}

async function* pieces(bytes: Uint8Array, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole.length; at += PIECE) {
    if (at > 0) await pause();
    yield whole.subarray(at, at + PIECE);
  }
}
