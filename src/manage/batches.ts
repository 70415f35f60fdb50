/** Batches that have landed, and undoing them (SPEC D9). */

import { isoTime } from '../clock.ts';
import { WeirError } from '../errors.ts';
import type { StoreReads } from '../ports/store.ts';
import { DELETED_KEPT, RULES_KEPT } from '../ports/stored/account-store.ts';
import type { BatchInfo, Step, UndoPreview } from '../ports/stored/rule-store.ts';
import { plural } from '../text/count.ts';
import { inWords } from '../text/duration.ts';
import { type Operator, operate, type RulePorts } from './operate.ts';
import type { Names } from './rules/rule-json.ts';

/** A batch in the words of programs; `keys`: the names of keys. */
export const batchJson = (batch: BatchInfo, keys: Names['keys']) => ({
  id: batch.id,
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

/** What undoing a batch would do, in the words of programs. */
export const previewJson = ({ removes, restores, keeps, sample }: UndoPreview) => ({ removes, restores, keeps, sample });

/** One batch of the last seven days. Rejects with NOT_FOUND. */
export async function knownBatch(reads: Pick<StoreReads, 'batch'>, workspaceId: string, id: string): Promise<BatchInfo> {
  const batch = await reads.batch(workspaceId, id);
  if (batch === undefined) throw new WeirError('NOT_FOUND', `there is no batch "${id}" of the last ${inWords(RULES_KEPT)}`);
  return batch;
}

/** A batch that is to be undone, and what that would do if it were the only one. */
export interface PlannedUndo {
  readonly batch: BatchInfo;
  readonly preview: UndoPreview;
}

/** Of a batch whose changes are given up (SPEC D9.10), and of one whose lists are deleted (D9.11). */
const GIVEN_UP = 'too much has changed since; undo is no longer possible';
const GONE = `its list is deleted, and nothing comes back into it; weir list restore brings the list back with its rules for ${inWords(DELETED_KEPT)}`;

/** Why one that is not `undoable` cannot be undone. */
export const notUndoable = ({ isGone }: Pick<BatchInfo, 'isGone'>): string => (isGone ? GONE : GIVEN_UP);

/**
 * What undoing these batches would do, the newest first. Rejects with NOT_FOUND, and with REFUSED when there is nothing to undo, or when what
 * one of them replaced is given up.
 */
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
  // Of the same instant are batches that were sent together: they are named in their order.
  batches.reverse().sort((a, b) => b.receivedAt - a.receivedAt);
  const planned: PlannedUndo[] = [];
  for (const batch of batches) planned.push({ batch, preview: await reads.undoPreview(workspaceId, batch.id, step) });
  if (planned.every(({ preview }) => preview.removes + preview.restores === 0)) {
    throw new WeirError('REFUSED', `there is nothing to undo: ${planned.map(({ preview }) => effectText(preview)).join('; ')}`);
  }
  return planned;
}

/** The batches that ids stand for: that of a replacement of a list stands for all that it sent. */
async function batchesOf(reads: Pick<StoreReads, 'replacement'>, workspaceId: string, ids: readonly string[]): Promise<string[]> {
  const batches: string[] = [];
  for (const id of ids.map((each) => each.toLowerCase())) {
    const replacement = await reads.replacement(workspaceId, id);
    batches.push(...(replacement === undefined ? [id] : (JSON.parse(replacement.head) as { batches: string[] }).batches));
  }
  return batches;
}

/** What became of undos: the batches that they are, in the order of what they undo; null where another undo was first. */
export interface Undone {
  readonly batches: readonly (string | null)[];
  /** Messages that had not landed when nobody waited any longer. */
  readonly unlanded: number;
}

/**
 * Undoes batches in this order, each by a batch of its own, and waits until that has landed. Rejects with REFUSED when none of them has
 * undone anything, because others were first (D9.12). What has not landed in time is taken for done.
 */
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

/** What undoing does, in words. */
export function effectText({ removes, restores, keeps }: Pick<UndoPreview, 'removes' | 'restores' | 'keeps'>): string {
  const kept = keeps === 0 ? '' : `, leaves ${keeps} that changed since`;
  return `removes ${plural(removes, 'rule')}, puts back ${restores}${kept}`;
}
