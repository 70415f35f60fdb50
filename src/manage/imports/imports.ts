import { WeirError } from '../../errors.ts';
import type { ForecastFields } from '../../feed/monitor/forecast-fields.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Accept, Batch, Refused } from '../../signal/accept.ts';
import { entryErrors } from '../../signal/faults.ts';
import { LIMITS } from '../../signal/limits.ts';
import type { Refusal } from '../../signal/refusal.ts';
import { type AddressChange, isBroad } from '../../source/addresses.ts';
import { type BroadTargets, broadOf, broadText } from '../../source/broad-targets.ts';
import { entrySignals, type Trimmed } from '../../source/readers/content.ts';
import { arrayOf, type FileSignal } from '../../source/readers/items.ts';
import type { SyncPlan } from '../../source/sync.ts';
import { MOST_TOLD } from '../../source/sync.ts';
import { distinctUnblocks, type Unblock, unblockOfEntry, unblockOfSignal } from '../../source/unblock.ts';
import { findList } from '../find.ts';
import { type BatchResult, previewBatches } from '../preview.ts';
import { type StillBlockedOfFields, stillBlockedOf } from '../remaining-blocks.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';
import { addedAddresses } from './added-addresses.ts';
import { type ImportContent, type ImportRequest, readImport } from './import-content.ts';
import { type ImportReplacePorts, replaceByImport } from './import-replace.ts';

/** What an import works with. */
export interface ImportPorts extends ImportReplacePorts, Pick<RuleManagement, 'explainer'> {
  readonly store: ImportReplacePorts['store'] & Pick<StoreReads, 'workspace' | 'directory'>;
  readonly isGone: () => boolean;
  readonly geo: () => GeoDatabase;
}

/** What an import that replaces does to the rules that the file does not have. */
export interface Replaced extends Pick<SyncPlan, 'removed' | 'added' | 'changed' | 'unchanged' | 'kept' | 'refused'> {
  /** Undoes all of it in place of its batches; null in a preview. */
  readonly id: string | null;
  /** Whether more than half of the list would be removed, or added, which has to be confirmed. */
  readonly needs_confirmation: boolean;
}

/** What is wrong with an entry, and where it stands, such as `line 7`. */
export interface ImportFault {
  readonly place: string;
  readonly message: string;
}

export interface Imported extends ForecastFields, StillBlockedOfFields {
  readonly refused?: undefined;
  readonly accepted: number;
  readonly failed: number;
  /** Entries that have expired, which are left out. */
  readonly expired: number;
  /** Rows that were passed over, by the reason. */
  readonly passed: readonly { readonly reason: string; readonly rows: number }[];
  /** Countries and ASNs among the entries, which has to be confirmed; absent without any. */
  readonly wide?: BroadTargets;
  /** What becomes of the addresses of the list, where that has to be confirmed. */
  readonly addresses?: readonly AddressChange[];
  readonly errors: readonly ImportFault[];
  readonly errors_left_out: number;
  /** What was cut or left out of what entries say of their targets, and in previews what agents would silently ignore. */
  readonly warnings: readonly string[];
  readonly batches: readonly string[];
  readonly replaced?: Replaced;
}

/**
 * Reads a file and sends its entries in batches; those that are good are taken whatever is wrong with others. Where it replaces a list, only
 * what differs is sent. Rejects with REFUSED when nobody is sure of what much depends on.
 */
export async function importFile(ports: ImportPorts, request: ImportRequest): Promise<Imported | Refused> {
  const { pause } = ports;
  await pause();
  const content = await readImport(request, pause);
  const wide = await broadOf(content.entries ?? [], ports.geo(), pause);
  const mustAsk = !request.isSure && !request.preview;
  if (wide !== undefined && mustAsk)
    throw new WeirError('REFUSED', `the file is about ${broadText(wide)}: when that is meant, say so with confirmed`);
  const added = await largelyAdded(ports, request, content);
  if (added !== undefined && mustAsk)
    throw new WeirError('REFUSED', `${added.faults.join('; ')}: when that is meant, say so with confirmed`);
  const done = await (request.replace ? replaced(ports, request, content) : sent(ports, request, content));
  if (done.refused !== undefined) return done;
  const kept = await stillBlockedOf({ ...ports, workspaceId: request.caller.workspaceId }, liftsOf(content, request), request.list);
  return { ...done, ...(wide !== undefined && { wide }), ...(added !== undefined && { addresses: added.addresses }), ...kept };
}

/** What an import that only adds would do to the addresses of the list where somebody has to be sure of that. */
async function largelyAdded(ports: ImportPorts, { caller, list: ref, replace }: ImportRequest, { entries = [] }: ImportContent) {
  if (replace || !entries.some(isBroad)) return undefined;
  const list = await findList(ports.store, caller.workspaceId, ref ?? (await ports.store.defaultList(caller.workspaceId))!);
  const added = await addedAddresses(ports, { caller, listId: list.id }, entries);
  return added?.faults.length ? added : undefined;
}

/** The targets that the file puts on the never-block list or, in a preview, unblocks. */
function liftsOf({ entries = [], signals = [] }: ImportContent, { preview }: ImportRequest): Unblock[] {
  const lifts = [...entries.map(unblockOfEntry), ...signals.map((each) => ('fault' in each ? undefined : unblockOfSignal(each)))];
  return distinctUnblocks(lifts.filter((lift) => lift !== undefined && (preview || lift.how === 'allow')) as Unblock[]);
}

/** Makes the list equal to the file. */
async function replaced(ports: ImportPorts, request: ImportRequest, content: ImportContent): Promise<Imported> {
  const { plan, batches, id, feeds } = await replaceByImport(ports, request, content);
  const { added, changed, unchanged, removed, kept, refused, failed, expired, passed, faults, isLarge, addresses } = plan;
  const all = failed + (request.refused === 'keep' ? refused : 0);
  return {
    accepted: added + changed + unchanged,
    failed: all,
    expired,
    passed: Object.entries(passed).map(([reason, rows]) => ({ reason, rows })),
    errors: faults,
    errors_left_out: failed + refused - faults.length,
    warnings: content.warnings,
    batches,
    replaced: { id: id ?? null, removed, added, changed, unchanged, kept, refused, needs_confirmation: isLarge },
    ...(isLarge && { addresses }),
    ...feeds,
  };
}

/** Sends what the file holds. */
async function sent(ports: ImportPorts, request: ImportRequest, content: ImportContent): Promise<Imported | Refused> {
  const { accept, pause, isGone } = ports;
  const { batches, faults, left } = await inBatches(content, pause);
  const entries = await written(batches, request, pause);
  const done: Sent = request.preview ? await previewBatches(ports, entries) : { results: await submitAll(accept, entries, isGone) };
  const { results } = done;
  const [first] = results;
  // The list, the key or the limits are at fault: nothing was taken.
  if (first?.refused !== undefined && isOfAll(first.refused)) return first;
  const failed = results.reduce((sum, result, i) => sum + failedOf(result, batches[i]!.length), faults.length);
  const errors = [...faults, ...results.flatMap((result, i) => faultsOf(result, batches[i]!))];
  const read = batches.reduce((sum, { length }) => sum + length, faults.length);
  return {
    accepted: read - failed,
    failed,
    expired: left.expired,
    passed: [...left.passed].map(([reason, rows]) => ({ reason, rows })),
    errors: errors.slice(0, MOST_TOLD),
    errors_left_out: Math.max(0, errors.length - MOST_TOLD),
    warnings: [...content.warnings, ...results.flatMap((result) => (result.refused === undefined ? result.warnings : []))].slice(
      0,
      MOST_TOLD,
    ),
    batches: results.flatMap((result) => result.batchId ?? []),
    ...done.feeds,
  };
}

/** What became of batches that were sent or tried. */
interface Sent {
  readonly results: readonly BatchResult[];
  readonly feeds?: ForecastFields;
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

/** One batch after the other; none behind one that is not taken because of the service, or once the client has gone. */
async function submitAll(accept: Accept, batches: readonly WrittenBatch[], isGone: () => boolean): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  let over: Refusal | undefined;
  for (const batch of batches) {
    if (isGone()) over ??= { code: 'REFUSED', message: 'the client has gone' };
    if (over !== undefined) results.push({ refused: { ...over, message: `not sent: ${over.message}` } });
    else {
      const result = await accept({ ...batch, dryRun: false });
      if (result.refused !== undefined && isOfAll(result.refused)) over = result.refused;
      results.push(result);
    }
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

/** What of a file can be sent, in batches of one version, and what cannot. */
async function inBatches(
  { found, signals }: ImportContent,
  pause: () => Promise<void>,
): Promise<{ readonly batches: readonly (readonly FileSignal[])[]; readonly faults: readonly ImportFault[]; readonly left: Trimmed }> {
  const batches: FileSignal[][] = [];
  const faults: ImportFault[] = [];
  let left: Trimmed = { expired: 0, passed: new Map() };
  let count = 0;
  for await (const each of signals === undefined ? entrySignals(streamed(found), (told) => (left = told)) : streamed(signals)) {
    count += 1;
    if (count % LIMITS.batchEntries === 0) await pause();
    if ('fault' in each) faults.push({ place: each.place, message: each.fault });
    else add(batches, each);
  }
  return { batches, faults, left };
}

async function* streamed<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

function add(batches: FileSignal[][], signal: FileSignal): void {
  const last = batches.at(-1);
  if (last === undefined || last.length === LIMITS.batchEntries || last[0]!.version !== signal.version) batches.push([signal]);
  else last.push(signal);
}
