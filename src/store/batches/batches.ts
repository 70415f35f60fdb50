/** The table `batches`: the numbers that each batch got when it was applied (D9). */
import { type Repeat, repeatOf } from '../../account/repeat.ts';
import type { LandingBatch, LandingItem } from '../../ports/landing.ts';
import { RULE_KINDS } from '../../rule.ts';
import { type Row, textOrNull } from '../rows.ts';
import { runRows, type Value, type Work } from '../work.ts';

/** An item with its resolved workspace and list, and its number. */
export interface NumberedItem {
  readonly item: LandingItem;
  readonly seq: number;
  /** pk */
  readonly workspace: number;
  readonly list: number;
  /** undefined: blocks last as sent. */
  readonly repeat: Repeat | undefined;
}

export interface ListPlace {
  readonly pk: number;
  readonly sourceId: string | null;
  readonly repeat: Repeat | undefined;
}

export const listPlaceOf = ({ pk, source_id: sourceId, repeat }: Row): ListPlace => ({
  pk: Number(pk),
  sourceId: textOrNull(sourceId),
  repeat: repeat === null ? undefined : repeatOf(String(repeat)),
});

const NOTHING = { change: 'delete_rules', kind: 'access_rule', ids: [] } as const;

/** An item of a refresh has no effect if the source no longer manages the list. */
export const placed = (item: LandingItem, { pk, sourceId, repeat }: ListPlace): Pick<NumberedItem, 'item' | 'list' | 'repeat'> =>
  item.sourceId === undefined || item.sourceId === sourceId
    ? { item, list: pk, repeat }
    : { item: { ...item, change: NOTHING }, list: pk, repeat };

/** Consecutive items of one batch, workspace and list. */
export interface Segment {
  readonly first: NumberedItem;
  readonly last: number;
  /** null: an undo, which depends on the undone batch. */
  readonly hasTargets: boolean | null;
  /** Sum of DEEDS. */
  readonly did: number;
}

/** Flags of the column `did`; 0 for an undo. */
export const DEEDS = { sent: 1, deleted: 2, changed: 4, refreshed: 8 } as const;
const DEED_OF = { upsert: 1, delete: 1, delete_by_value: 1, delete_rules: 2, set_rules: 4, undo: 0 } as const;

const deedOf = ({ item: { change, sourceId } }: NumberedItem): number =>
  DEED_OF[change.change] | (sourceId === undefined ? 0 : DEEDS.refreshed);

export function segmentsOf(items: readonly NumberedItem[]): Segment[] {
  const segments: { first: NumberedItem; last: number; hasTargets: boolean | null; did: number }[] = [];
  for (const each of items) {
    const open = segments.at(-1);
    const hasTargets = concernsList(each);
    if (open !== undefined && isSameSegment(open.first, each)) {
      open.last = each.seq;
      open.hasTargets ||= hasTargets;
      open.did |= deedOf(each);
    } else segments.push({ first: each, last: each.seq, hasTargets, did: deedOf(each) });
  }
  return segments;
}

const concernsList = ({ item: { change } }: NumberedItem): boolean | null =>
  change.change === 'undo' ? null : RULE_KINDS[change.kind].scope === 'list';

const isSameSegment = (a: NumberedItem, b: NumberedItem) =>
  a.workspace === b.workspace &&
  a.list === b.list &&
  a.item.batchId === b.item.batchId &&
  a.item.keyId === b.item.keyId &&
  a.item.actor === b.item.actor &&
  a.item.personId === b.item.personId &&
  a.item.change.change !== 'undo' &&
  b.item.change.change !== 'undo';

const COLUMNS =
  'workspace_pk, first_seq, last_seq, list_pk, batch_id, key_id, actor, person, undoes, received_at, landed_at, has_targets, did';

/** Runs in the landing transaction, before the items take effect. */
export function* writeSegments(segments: readonly Segment[], { now }: Pick<LandingBatch, 'now'>): Work<void> {
  const rows = segments.map(({ first: { item, seq, workspace, list }, last, hasTargets, did }): Value[] => {
    const undoes = item.change.change === 'undo' ? item.change.batchId : null;
    const { batchId, keyId, actor = null, personId = null, receivedAt } = item;
    return [
      workspace,
      seq,
      last,
      list,
      batchId,
      keyId,
      actor,
      personId,
      undoes,
      receivedAt,
      now,
      hasTargets === null ? null : Number(hasTargets),
      did,
    ];
  });
  yield* runRows(rows, (values) => `INSERT INTO batches (${COLUMNS}) VALUES ${values}`);
}
