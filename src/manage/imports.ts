/** Importing a file of entries or signals, with what is wrong line by line (SPEC D11.1 to D11.4, D15.36, D15.41). */
import type { Caller } from '../account/caller.ts';
import type { ForecastFields } from '../document/watch/forecast-fields.ts';
import { hasCode, WeirError } from '../errors.ts';
import type { GeoDatabase } from '../ports/geo.ts';
import type { StoreReads } from '../ports/store.ts';
import type { StoredRule } from '../ports/stored-rule.ts';
import type { Accept, Batch, Refused } from '../signal/accept.ts';
import { entryErrors } from '../signal/faults.ts';
import { LIMITS } from '../signal/limits.ts';
import type { Refusal } from '../signal/refusal.ts';
import { entrySignals, type LeftOut, type PassedRow, type PlacedEntry, type Reading, readContent } from '../source/readers/content.ts';
import type { ListDefaults, ListEntry } from '../source/readers/entry.ts';
import { arrayOf, type FileSignal, type LineFault, takenSignals } from '../source/readers/items.ts';
import { type Wide, wideOf, wideText } from '../source/wide.ts';
import { findList } from './find.ts';
import { notSure, planReplacement, type Replacement } from './plain-lists/replace.ts';
import { type BatchResult, previewBatches } from './preview.ts';
import type { RuleManagement } from './rule-ports.ts';

/** Entries of one import at most. */
export const MOST_IMPORTED = 10_000;
/** Lines of a file at most, and bytes of it once it is unpacked. */
const MOST_LINES = 100_000;
const MOST_UNPACKED = 16 * 1024 * 1024;
/** Rules of a list that an import replaces at most. */
export const MOST_REPLACED = 50_000;
/** Rules that are read before other work gets its turn. */
const RULES_READ = 1000;
/** Faults that are told at most. */
const MOST_TOLD = 1000;
/** Bytes that are read before other work gets its turn. */
const PIECE = 4 * 1024;

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
  /** Whether those may be more than half of its rules, and whole countries and ASNs may be meant. */
  readonly isSure: boolean;
}

/** What an import works with. */
export interface ImportPorts extends Pick<RuleManagement, 'accept' | 'forecast'> {
  readonly store: Pick<StoreReads, 'rules' | 'findNamed' | 'defaultList'>;
  readonly now: () => number;
  readonly geo: () => GeoDatabase;
  untilLanded(): Promise<number>;
  pause(): Promise<void>;
}

/** What an import that replaces does to the rules that the file does not have. */
export interface Replaced {
  /** Rules of the list that are removed: none where an entry failed. */
  readonly removed: number;
  /** Rules with a `rule_ref`, which stay. */
  readonly kept: number;
  /** Whether more than half of the list would go, which has to be confirmed. */
  readonly needs_confirmation: boolean;
}

/** What is wrong with an entry, and where it stands, such as `line 7`. */
export interface ImportFault {
  readonly place: string;
  readonly message: string;
}

export interface Imported extends ForecastFields {
  readonly refused?: undefined;
  readonly accepted: number;
  readonly failed: number;
  /** Entries that have expired, which are left out. */
  readonly expired: number;
  /** Rows that were passed over, by the reason. */
  readonly passed: readonly { readonly reason: string; readonly rows: number }[];
  /** Countries and ASNs among the entries, which has to be confirmed; absent without any. */
  readonly wide?: Wide;
  readonly errors: readonly ImportFault[];
  readonly errors_left_out: number;
  /** What agents would silently ignore; previews only. */
  readonly warnings: readonly string[];
  readonly batches: readonly string[];
  readonly replaced?: Replaced;
}

/**
 * Reads a file and sends its entries in batches; those that are good are taken whatever is wrong with others. Where it replaces a list, what
 * removes the other rules follows, unless an entry failed. Rejects with REFUSED when too much would go.
 */
export async function importFile(ports: ImportPorts, request: ImportRequest): Promise<Imported | Refused> {
  const { accept, pause } = ports;
  const file = await readBatches(request, pause);
  const { batches, faults, left } = file;
  const wide = await wideOf(file.entries ?? [], ports.geo(), pause);
  if (wide !== undefined && !request.isSure && !request.preview)
    throw new WeirError('REFUSED', `the file is about ${wideText(wide)}: when that is meant, say so with confirmed`);
  const replacement = request.replace ? await replacementBy(ports, request, file) : undefined;
  const entries = await written(batches, request, pause);
  const removals = await written(replacement === undefined ? [] : inBatches(replacement.removals), request, pause);
  let done: Sent = request.preview ? await previewBatches(ports, entries) : { results: await submitAll(accept, entries) };
  const { results } = done;
  const [first] = results;
  // The list, the key or the limits are at fault: nothing was taken.
  if (first?.refused !== undefined && isOfAll(first.refused)) return first;
  const failed = results.reduce((sum, result, i) => sum + failedOf(result, batches[i]!.length), faults.length);
  if (removals.length > 0 && failed === 0) {
    done = request.preview
      ? await previewBatches(ports, [...entries, ...removals])
      : { results: [...results, ...(await submitAll(accept, removals))] };
  }
  const errors = [...faults, ...results.flatMap((result, i) => faultsOf(result, batches[i]!))];
  const read = batches.reduce((sum, { length }) => sum + length, faults.length);
  return {
    accepted: read - failed,
    failed,
    expired: left.expired,
    passed: [...left.passed].map(([reason, rows]) => ({ reason, rows })),
    ...(wide !== undefined && { wide }),
    errors: errors.slice(0, MOST_TOLD),
    errors_left_out: Math.max(0, errors.length - MOST_TOLD),
    warnings: results.flatMap((result) => (result.refused === undefined ? result.warnings : [])).slice(0, MOST_TOLD),
    batches: done.results.flatMap((result) => result.batchId ?? []),
    ...(replacement !== undefined && { replaced: replacedBy(replacement, failed, done.results.slice(results.length)) }),
    ...done.feeds,
  };
}

/** What became of batches that were sent or tried. */
interface Sent {
  readonly results: readonly BatchResult[];
  readonly feeds?: ForecastFields;
}

/** What the removals came to, of which the first so many batches are told. */
function replacedBy({ removals, staying, isLarge }: Replacement, failed: number, results: Sent['results']): Replaced {
  const batches = inBatches(removals);
  const lost = results.reduce((sum, result, i) => sum + failedOf(result, batches[i]!.length), 0);
  return { removed: failed > 0 ? 0 : removals.length - lost, kept: staying, needs_confirmation: isLarge };
}

/** Plans what a file replaces. Rejects with USAGE for a file of signals, with REFUSED where nobody is sure or the list is too large. */
async function replacementBy(
  { store, now, untilLanded, pause }: ImportPorts,
  { caller: { workspaceId }, list: ref, defaults: { action }, preview, isSure }: ImportRequest,
  { entries }: ReadFile,
): Promise<Replacement> {
  if (entries === undefined) throw new WeirError('USAGE', 'replace is for plain lists, and this file holds signals');
  const list = await findList(store, workspaceId, ref ?? (await store.defaultList(workspaceId))!);
  const left = await untilLanded();
  if (left > 0) throw new WeirError('REFUSED', `${left} messages that were accepted before have not landed: try again`);
  const reads: Pick<StoreReads, 'rules'> = { rules: (...asked) => few(store.rules(...asked), list.name, pause) };
  const plan = await planReplacement(reads, workspaceId, { listId: list.id, entries, action, now: now() });
  if (plan.isLarge && !isSure && !preview) throw new WeirError('REFUSED', notSure(list.name, plan, 'confirmed'));
  return plan;
}

/** The rules with pauses. Rejects with REFUSED when they are too many. */
async function* few(rules: AsyncIterable<StoredRule>, list: string, pause: () => Promise<void>): AsyncGenerator<StoredRule> {
  let count = 0;
  for await (const rule of rules) {
    count += 1;
    if (count > MOST_REPLACED) {
      const message = `the list "${list}" has more than ${MOST_REPLACED} rules, which an import does not replace: use weir send --replace`;
      throw new WeirError('REFUSED', message);
    }
    if (count % RULES_READ === 0) await pause();
    yield rule;
  }
}

type WrittenBatch = Omit<Batch, 'dryRun'>;

/** The batches as they are sent. */
async function written(
  batches: readonly (readonly FileSignal[])[],
  { caller, list }: ImportRequest,
  pause: () => Promise<void>,
): Promise<WrittenBatch[]> {
  const sent: WrittenBatch[] = [];
  for (const signals of batches) {
    sent.push({ version: signals[0]!.version, caller, list, entries: arrayOf(signals) });
    await pause();
  }
  return sent;
}

/** One batch after the other; those behind one that is not taken because of the service are not sent. */
async function submitAll(accept: Accept, batches: readonly WrittenBatch[]): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  for (const batch of batches) {
    const last = results.at(-1)?.refused;
    const isOver = last !== undefined && isOfAll(last);
    results.push(isOver ? { refused: { ...last, message: `not sent: ${last.message}` } } : await accept({ ...batch, dryRun: false }));
  }
  return results;
}

/** Whether a refusal is for what no other batch of the file could do better. */
const isOfAll = ({ code }: Refusal) => code !== 'USAGE';

const failedOf = (result: BatchResult, entries: number) => result.failed ?? entries;

/** What is wrong with the entries of a batch, by their places. */
function faultsOf({ refused, faults = [] }: BatchResult, signals: readonly FileSignal[]): ImportFault[] {
  if (refused === undefined) return entryErrors(faults).map(({ entry, message }) => ({ place: signals[entry]!.place!, message }));
  const [first, last] = [signals[0]!.place!, signals.at(-1)!.place!];
  return [{ place: first === last ? first : `${first} to ${last}`, message: refused.message }];
}

interface ReadFile {
  readonly batches: readonly (readonly FileSignal[])[];
  readonly faults: readonly ImportFault[];
  readonly left: LeftOut;
  /** undefined for a file of signals. */
  readonly entries: readonly ListEntry[] | undefined;
}

/** The signals of a file in batches of one version. What makes the rest unreadable is a fault of its own. */
async function readBatches({ bytes, reading, defaults }: ImportRequest, pause: () => Promise<void>): Promise<ReadFile> {
  const batches: FileSignal[][] = [];
  const faults: ImportFault[] = [];
  let left: LeftOut = { expired: 0, passed: new Map() };
  let count = 0;
  let entries: ListEntry[] | undefined;
  try {
    const content = await readContent(pieces(bytes, pause), { ...reading, mostLines: MOST_LINES, mostBytes: MOST_UNPACKED }, defaults);
    entries = 'signals' in content ? undefined : [];
    const found =
      'signals' in content ? takenSignals(content.signals) : entrySignals(noting(content.entries, entries!), (found) => (left = found));
    for await (const each of found) {
      count += 1;
      if (count > MOST_IMPORTED) {
        faults.push({ place: each.place!, message: `an import has ${MOST_IMPORTED} entries at most; the rest was not read` });
        break;
      }
      if ('fault' in each) faults.push({ place: each.place, message: each.fault });
      else add(batches, each);
    }
  } catch (error) {
    if (!hasCode(error, 'USAGE')) throw error;
    faults.push({ place: 'file', message: error.message });
  }
  return { batches, faults, left, entries };
}

/** The same, each entry noted. */
async function* noting(
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  noted: ListEntry[],
): AsyncGenerator<PlacedEntry | LineFault | PassedRow> {
  for await (const each of entries) {
    if ('entry' in each) noted.push(each.entry);
    yield each;
  }
}

function add(batches: FileSignal[][], signal: FileSignal): void {
  const last = batches.at(-1);
  if (last === undefined || last.length === LIMITS.batchEntries || last[0]!.version !== signal.version) batches.push([signal]);
  else last.push(signal);
}

function inBatches(signals: readonly FileSignal[]): FileSignal[][] {
  const batches: FileSignal[][] = [];
  for (const signal of signals) add(batches, signal);
  return batches;
}

async function* pieces(bytes: Uint8Array, pause: () => Promise<void>): AsyncGenerator<Buffer> {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < whole.length; at += PIECE) {
    if (at > 0) await pause();
    yield whole.subarray(at, at + PIECE);
  }
}
