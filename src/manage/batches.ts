/** SPEC D9. */

import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import { RESTORE_PERIOD, RULE_RETENTION } from '../ports/stored/account-store.ts';
import type { BatchInfo, Step, UndoPreview } from '../ports/stored/rule-store.ts';
import { plural } from '../text/count.ts';
import { inWords } from '../text/duration.ts';
import { type Operator, operate, type RulePorts } from './operate.ts';
import type { Names } from './rules/rule-json.ts';

export const batchJson = (batch: BatchInfo, keys: Names['keys']) => ({
  id: batch.id,
  what: batch.what,
  list_id: batch.listId,
  lists: batch.lists,
  has_targets: batch.hasTargets,
  key_id: batch.keyId,
  key_name: keys.get(batch.keyId ?? '') ?? null,
  actor: batch.actor ?? null,
  person: batch.personId ?? null,
  received_at: isoTime(batch.receivedAt),
  landed_at: isoTime(batch.landedAt),
  entries: batch.entries,
  undoes: batch.undoes,
  undone_by: batch.undoneBy,
  undoable: batch.undoable,
});

export const previewJson = ({ removes, restores, keeps, sample }: UndoPreview) => ({ removes, restores, keeps, sample });

/** SPEC D54.43. */
export const OLDER = 'older batches are no longer stored and cannot be undone';

export async function knownBatch(reads: Pick<StoreReads, 'batch'>, workspaceId: string, id: string): Promise<BatchInfo> {
  const batch = await reads.batch(workspaceId, id);
  if (batch === undefined) throw new WeirError('NOT_FOUND', `there is no batch "${id}" of the last ${inWords(RULE_RETENTION)}; ${OLDER}`);
  return batch;
}

/** `preview`: the effect of undoing this batch alone. */
export interface PlannedUndo {
  readonly batch: BatchInfo;
  readonly preview: UndoPreview;
}

/** Dropped changes (SPEC D9.10); deleted lists (D9.11). */
const GIVEN_UP = 'too much has changed since; undo is no longer possible';
const LIST_DELETED = `its list is deleted, and no rule can return to it; weir list restore brings back the list with its rules for ${inWords(RESTORE_PERIOD)}`;

export const notUndoable = ({ isListDeleted }: Pick<BatchInfo, 'isListDeleted'>): string => (isListDeleted ? LIST_DELETED : GIVEN_UP);

/** Newest first. Rejects with NOT_FOUND, and with REFUSED if nothing can be undone. */
export async function planUndo(
  reads: Pick<StoreReads, 'batch' | 'undoPreview' | 'replacement'>,
  workspaceId: string,
  ids: readonly string[],
  step?: Step,
): Promise<PlannedUndo[]> {
  const batches: BatchInfo[] = [];
  for (const id of new Set(await batchesOf(reads, workspaceId, ids))) batches.push(await knownBatch(reads, workspaceId, id));
  const lost = batches.find(({ undoable }) => !undoable);
  if (lost !== undefined) throw new WeirError('REFUSED', `batch ${lost.id}: ${notUndoable(lost)}`);
  // Batches sent together have the same instant: keep their order.
  batches.reverse().sort((a, b) => b.receivedAt - a.receivedAt);
  const planned: PlannedUndo[] = [];
  for (const batch of batches) planned.push({ batch, preview: await reads.undoPreview(workspaceId, batch.id, step) });
  if (planned.every(({ preview }) => preview.removes + preview.restores === 0)) {
    throw new WeirError('REFUSED', `there is nothing to undo: ${planned.map(({ preview }) => effectText(preview)).join('; ')}`);
  }
  return planned;
}

/** The id of a list replacement selects all its batches. */
async function batchesOf(reads: Pick<StoreReads, 'replacement'>, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const batches: string[] = [];
  for (const id of ids.map((each) => each.toLowerCase())) {
    const replacement = await reads.replacement(workspaceId, id);
    batches.push(...(replacement === undefined ? [id] : (JSON.parse(replacement.head) as { batches: string[] }).batches));
  }
  return batches;
}

/** In the order of the undone batches; null if another undo came first. */
export interface Undone {
  readonly batches: readonly (string | null)[];
  /** Messages that did not land in time. */
  readonly unlanded: number;
}

/** Each undo is a batch of its own. Rejects with REFUSED if other undos came first for all (D9.12). */
export async function undoBatches(ports: RulePorts, operator: Operator, planned: readonly PlannedUndo[]): Promise<Undone> {
  const operations = planned.map(({ batch }) => ({ operation: { change: 'undo', batchId: batch.id }, listId: batch.listId }) as const);
  const { batches: made, unlanded } = await operate(ports, operator, operations, 1);
  const batches: (string | null)[] = [];
  for (const [i, id] of made.entries()) {
    const landed = await ports.reads.batch(operator.workspaceId, id);
    batches.push(landed === undefined || landed.undoes === planned[i]!.batch.id ? id : null);
  }
  if (batches.every((id) => id === null)) {
    const others = planned.map(({ batch }) => `batch ${batch.id} was undone by another request`);
    throw new WeirError('REFUSED', `there is nothing to undo: ${others.join('; ')}`);
  }
  return { batches, unlanded };
}

export function effectText({ removes, restores, keeps }: Pick<UndoPreview, 'removes' | 'restores' | 'keeps'>): string {
  const rest = keeps === 0 ? '' : `, leaves ${keeps} that changed since`;
  return `removes ${plural(removes, 'rule')}, restores ${restores}${rest}`;
}
