/** SPEC D23.17, D23.22. */
import type { Caller } from '../../account/caller.ts';
import type { SourceAsk, SourceRun } from '../../account/source-run.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads, StoreWrites } from '../../ports/store.ts';
import type { SourceRecord } from '../../ports/stored/source-store.ts';
import { nothingSeen, readSource } from '../../source/refresh/content.ts';
import type { ChangeContext } from '../context.ts';
import { type ImportReplacePorts, previewSync } from '../imports/import-replace.ts';
import { contentOnHold } from './on-hold.ts';
import { findSource } from './sources.ts';

type AskContext = Pick<ChangeContext, 'workspaceId' | 'by'> & { readonly store: StoreReads & StoreWrites };

/** Rejects with REFUSED if nothing, or another refresh than `replacement`, is on hold, or the source is paused. */
export async function askSource(
  { store, workspaceId, by }: AskContext,
  ref: string,
  what: SourceAsk['what'],
  replacement?: string,
): Promise<SourceRecord> {
  const { source, state } = await findSource(store, workspaceId, ref);
  const { name, id, isPaused } = source;
  if (what === 'refresh' && isPaused) throw new WeirError('REFUSED', `the source "${name}" is paused: resume it`);
  const at = await store.ping();
  if (what === 'refresh') return store.askSource(workspaceId, id, { what, at, by });
  const { held } = state;
  if (held === null) throw new WeirError('REFUSED', `the source "${name}" has no refresh on hold`);
  if (replacement !== undefined && replacement !== held.replacement)
    throw new WeirError('REFUSED', `another refresh of the source "${name}" is on hold by now: review it again`);
  return store.askSource(workspaceId, id, { what, at, by, replacement: held.replacement });
}

export const runJson = ({ at, ...run }: SourceRun) => ({ at: isoTime(at), ...run });

/** Rejects with REFUSED if nothing is on hold. */
export function entriesOnHold(ports: ImportReplacePorts, caller: Caller, { source, state: { held } }: SourceRecord) {
  if (held === null) throw new WeirError('REFUSED', `the source "${source.name}" has no refresh on hold`);
  const asSource: Caller = { ...caller, keyId: source.id, sourceId: source.id, listId: null, permissions: ['signal:write'] };
  const blockFaults = ports.blockFaults(asSource);
  const entries = readSource(
    contentOnHold(ports.store, held.replacement),
    source,
    Number.MAX_SAFE_INTEGER,
    (network) => blockFaults(network).length === 0,
    nothingSeen(),
  );
  return { ...held, entries, asSource, blockFaults };
}

/** Rejects with REFUSED if nothing is on hold. */
export async function onHoldDifference(ports: ImportReplacePorts, caller: Caller, record: SourceRecord) {
  const { source } = record;
  const { entries, asSource, replacement, since, reason } = entriesOnHold(ports, caller, record);
  const task = { caller: asSource, listId: source.listId, action: source.purpose, refused: 'skip_all' } as const;
  const { plan, feeds } = await previewSync(ports, task, entries);
  return { source, replacement, since, reason, plan, feeds };
}
