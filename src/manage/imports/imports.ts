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
import { MOST_FAULTS, type SyncPlan } from '../../source/sync.ts';
import { distinctUnblocks, type Unblock, unblockOfEntry, unblockOfSignal } from '../../source/unblock.ts';
import { findList } from '../find.ts';
import { type BatchResult, checkApproval, previewBatches } from '../preview.ts';
import { type StillBlockedOfFields, stillBlockedOf } from '../remaining-blocks.ts';
import type { RuleManagement } from '../rules/rule-ports.ts';
import { addedAddresses } from './added-addresses.ts';
import { type ImportContent, type ImportRequest, readImport } from './import-content.ts';
import { type ImportReplacePorts, replaceByImport } from './import-replace.ts';

export interface ImportPorts extends ImportReplacePorts, Pick<RuleManagement, 'explainer'> {
  readonly store: ImportReplacePorts['store'] & Pick<StoreReads, 'workspace' | 'directory'>;
  readonly isDisconnected: () => boolean;
  readonly geo: () => GeoDatabase;
}

export interface Replaced extends Pick<SyncPlan, 'removed' | 'added' | 'changed' | 'unchanged' | 'kept' | 'refused'> {
  /** For undo; null in a preview. */
  readonly id: string | null;
  /** More than half of the list would change. */
  readonly needs_confirmation: boolean;
}

/** `place`: such as `line 7`. */
export interface ImportFault {
  readonly place: string;
  readonly message: string;
}

export interface Imported extends ForecastFields, StillBlockedOfFields {
  readonly refused?: undefined;
  readonly accepted: number;
  readonly failed: number;
  readonly expired: number;
  readonly passed: readonly { readonly reason: string; readonly rows: number }[];
  /** Need confirmation. */
  readonly wide?: BroadTargets;
  /** Set if it needs confirmation. */
  readonly addresses?: readonly AddressChange[];
  readonly errors: readonly ImportFault[];
  readonly errors_left_out: number;
  readonly warnings: readonly string[];
  readonly batches: readonly string[];
  readonly replaced?: Replaced;
}

/** Sends valid entries, or the differences if it replaces a list. Rejects with REFUSED if a large change is not confirmed. */
export async function importFile(ports: ImportPorts, request: ImportRequest): Promise<Imported | Refused> {
  const { pause } = ports;
  await pause();
  const content = await readImport(request, pause);
  const wide = await broadOf(content.entries ?? [], ports.geo(), pause);
  const mustAsk = !request.isSure && !request.preview;
  if (wide !== undefined && mustAsk)
    throw new WeirError('REFUSED', `the file contains ${broadText(wide)}: to do this anyway, send confirmed`);
  const added = await largelyAdded(ports, request, content);
  if (added !== undefined && mustAsk) throw new WeirError('REFUSED', `${added.faults.join('; ')}: to do this anyway, send confirmed`);
  const done = await (request.replace ? replaced(ports, request, content) : sent(ports, request, content));
  if (done.refused !== undefined) return done;
  const kept = await stillBlockedOf({ ...ports, workspaceId: request.caller.workspaceId }, unblocksOf(content, request), request.list);
  return { ...done, ...(wide !== undefined && { wide }), ...(added !== undefined && { addresses: added.addresses }), ...kept };
}

async function largelyAdded(ports: ImportPorts, { caller, list: ref, replace }: ImportRequest, { entries = [] }: ImportContent) {
  if (replace || !entries.some(isBroad)) return undefined;
  const list = await findList(ports.store, caller.workspaceId, ref ?? (await ports.store.defaultList(caller.workspaceId))!);
  const added = await addedAddresses(ports, { caller, listId: list.id }, entries);
  return added?.faults.length ? added : undefined;
}

/** Allowed or, in a preview, unblocked targets. */
function unblocksOf({ entries = [], signals = [] }: ImportContent, { preview }: ImportRequest): Unblock[] {
  const unblocks = [...entries.map(unblockOfEntry), ...signals.map((each) => ('fault' in each ? undefined : unblockOfSignal(each)))];
  return distinctUnblocks(unblocks.filter((unblock) => unblock !== undefined && (preview || unblock.how === 'allow')) as Unblock[]);
}

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

async function sent(ports: ImportPorts, request: ImportRequest, content: ImportContent): Promise<Imported | Refused> {
  const { accept, pause, isDisconnected } = ports;
  const { batches, faults, left } = await inBatches(content, pause);
  const entries = await written(batches, request, pause);
  if (!request.preview) await checkApproval(ports, entries);
  const done: Sent = request.preview ? await previewBatches(ports, entries) : { results: await submitAll(accept, entries, isDisconnected) };
  const { results } = done;
  const [first] = results;
  // A fault of list, key or limits: nothing was accepted.
  if (first?.refused !== undefined && isOfAll(first.refused)) return first;
  const failed = results.reduce((sum, result, i) => sum + failedOf(result, batches[i]!.length), faults.length);
  const errors = [...faults, ...results.flatMap((result, i) => faultsOf(result, batches[i]!))];
  const read = batches.reduce((sum, { length }) => sum + length, faults.length);
  return {
    accepted: read - failed,
    failed,
    expired: left.expired,
    passed: [...left.passed].map(([reason, rows]) => ({ reason, rows })),
    errors: errors.slice(0, MOST_FAULTS),
    errors_left_out: Math.max(0, errors.length - MOST_FAULTS),
    warnings: [...content.warnings, ...results.flatMap((result) => (result.refused === undefined ? result.warnings : []))].slice(
      0,
      MOST_FAULTS,
    ),
    batches: results.flatMap((result) => result.batchId ?? []),
    ...done.feeds,
  };
}

interface Sent {
  readonly results: readonly BatchResult[];
  readonly feeds?: ForecastFields;
}

type WrittenBatch = Omit<Batch, 'dryRun'>;

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

/** Stops at a refusal that concerns all batches, or when the client disconnects. */
async function submitAll(accept: Accept, batches: readonly WrittenBatch[], isDisconnected: () => boolean): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  let over: Refusal | undefined;
  for (const batch of batches) {
    if (isDisconnected()) over ??= { code: 'REFUSED', message: 'the client disconnected' };
    if (over !== undefined) results.push({ refused: { ...over, message: `not sent: ${over.message}` } });
    else {
      const result = await accept({ ...batch, dryRun: false });
      if (result.refused !== undefined && isOfAll(result.refused)) over = result.refused;
      results.push(result);
    }
  }
  return results;
}

const isOfAll = ({ code }: Refusal) => code !== 'USAGE';

const failedOf = (result: BatchResult, entries: number) => result.failed ?? entries;

function faultsOf({ refused, faults = [] }: BatchResult, signals: readonly FileSignal[]): ImportFault[] {
  if (refused === undefined) return entryErrors(faults).map(({ entry, message }) => ({ place: signals[entry]!.place!, message }));
  const [first, last] = [signals[0]!.place!, signals.at(-1)!.place!];
  return [{ place: first === last ? first : `${first} to ${last}`, message: refused.message }];
}

/** Batches have one version. */
async function inBatches(
  { found, signals }: ImportContent,
  pause: () => Promise<void>,
): Promise<{ readonly batches: readonly (readonly FileSignal[])[]; readonly faults: readonly ImportFault[]; readonly left: Trimmed }> {
  const batches: FileSignal[][] = [];
  const faults: ImportFault[] = [];
  let left: Trimmed = { expired: 0, passed: new Map() };
  let count = 0;
  for await (const each of signals === undefined ? entrySignals(streamed(found), (counts) => (left = counts)) : streamed(signals)) {
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
