/** What can be asked of the refreshes of a source, and what is known of them (SPEC D23.17, D23.22). */
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

/** What asking works with. */
type AskContext = Pick<ChangeContext, 'workspaceId' | 'by'> & { readonly store: StoreReads & StoreWrites };

/**
 * Asks for something to be done with a source by whoever refreshes sources. Rejects with REFUSED where nothing is held, where that is not what
 * was seen (`replacement`), or where the source is paused.
 */
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
  if (held === null) throw new WeirError('REFUSED', `nothing of the source "${name}" is held back`);
  if (replacement !== undefined && replacement !== held.replacement)
    throw new WeirError('REFUSED', `what is held back of the source "${name}" is another refresh by now: look at it again`);
  return store.askSource(workspaceId, id, { what, at, by, replacement: held.replacement });
}

/** A refresh as JSON has it. */
export const runJson = ({ at, ...run }: SourceRun) => ({ at: isoTime(at), ...run });

/** What a refresh that is held would do: compares it with the list as it is now, and counts what becomes of feeds. Rejects with REFUSED where nothing is held. */
export async function heldDifference(ports: ImportReplacePorts, caller: Caller, { source, state }: SourceRecord) {
  const { held } = state;
  if (held === null) throw new WeirError('REFUSED', `nothing of the source "${source.name}" is held back`);
  const asSource: Caller = { ...caller, keyId: source.id, sourceId: source.id, listId: null, permissions: ['signal:write'] };
  const blockFaults = ports.blockFaults(asSource);
  const entries = readSource(
    contentOnHold(ports.store, held.replacement),
    source,
    Number.MAX_SAFE_INTEGER,
    (network) => blockFaults(network).length === 0,
    nothingSeen(),
  );
  const task = { caller: asSource, listId: source.listId, action: source.purpose, refused: 'skip_all' } as const;
  const { plan, feeds } = await previewSync(ports, task, entries);
  const { replacement, since, reason } = held;
  return { source, replacement, since, reason, plan, feeds };
}
