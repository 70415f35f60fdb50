import { hasCode } from '../errors.ts';
import type { LandingBatch, LandingItem, PoisonRecord } from '../ports/landing.ts';
import type { RuleOperation } from '../rule.ts';
import { approvalChanges } from './accounts/access/approvals.ts';
import { noteUndo } from './accounts/source-states.ts';
import { type ListPlace, type NumberedItem, placed } from './batches/batches.ts';
import { LandedChanges } from './changes/rule-changes.ts';
import { RuleCountChanges, writeRuleCounts } from './rules/rule-counts.ts';
import { operate } from './rules/rule-operations.ts';
import { writeLanded } from './usage/activity.ts';
import { countOperation, DayCounts } from './usage/feed-days.ts';
import { writeRecentAddresses } from './usage/recent-addresses.ts';
import type { Work } from './work.ts';

export interface Located {
  readonly pk: number;
  /** The default list for null or a deleted one. */
  listOf(id: string | null): ListPlace;
}

/** Items of unknown workspaces are poison. `seqOf`: number of the n-th item. */
export function numberItems(
  items: readonly LandingItem[],
  seqOf: (n: number) => number,
  find: (workspaceId: string) => Located | undefined,
): { known: NumberedItem[]; poison: PoisonRecord[] } {
  const known: NumberedItem[] = [];
  const poison: PoisonRecord[] = [];
  for (const [n, item] of items.entries()) {
    const { record, workspaceId, listId } = item;
    const workspace = find(workspaceId);
    if (workspace === undefined) poison.push({ record, reason: `unknown workspace ${workspaceId}` });
    else known.push({ seq: seqOf(n), workspace: workspace.pk, ...placed(item, workspace.listOf(listId)) });
  }
  return { known, poison };
}

/** Stores the requests of foreign changes (SPEC D67.9). Returns the dead letters. `now`: SQL expression. */
export function* writeWaiting(now: string, waiting: LandingBatch['waiting'] = []): Work<PoisonRecord[]> {
  const poison: PoisonRecord[] = [];
  for (const { workspaceId, request, lifetime, records } of waiting) {
    try {
      yield* approvalChanges.requestApproval(now, workspaceId, request, lifetime);
    } catch (error) {
      if (!hasCode(error, 'REFUSED')) throw error;
      poison.push(...records.map((record) => ({ record, reason: error.message })));
    }
  }
  return poison;
}

export class Changed {
  /** Per workspace: change in stored rules and in previous versions. */
  readonly counts = new RuleCountChanges();
  readonly previous = new RuleCountChanges();
  readonly lists = new Set<number>();
  readonly workspaces = new Set<number>();
  readonly expressions = new Set<number>();
  readonly #days: DayCounts;
  readonly #changes: LandedChanges;

  readonly #known: readonly NumberedItem[];

  constructor(known: readonly NumberedItem[]) {
    this.#known = known;
    this.#days = new DayCounts(known);
    this.#changes = new LandedChanges(known);
  }

  *operate({ item, seq, workspace, list }: NumberedItem, change: RuleOperation): Work<void> {
    const done = yield* operate({ workspace, list, seq, at: item.receivedAt, operation: change });
    this.counts.add(workspace, done.more);
    this.previous.add(workspace, done.previous);
    for (const changed of done.lists) this.lists.add(changed);
    if (change.change === 'undo') {
      this.#changes.undid(seq, done.lists);
      yield* noteUndo(done.lists, done.more);
    }
    if (done.lists.length > 0) this.workspaces.add(workspace);
    if (done.expressions) this.expressions.add(workspace);
    yield* countOperation(this.#days, { workspace, seq, change, ...done });
  }

  /** Comes before `write`. `now`: ms. */
  *count(now: number): Work<void> {
    yield* writeRecentAddresses(this.#known, now);
    yield* this.#changes.count(this);
    for (const { workspace, place, net } of this.#changes.nets) this.#days.add('net', workspace, place, net);
  }

  /** ms. */
  write(now: number): Work<void>[] {
    const { counts, previous } = this;
    const rules = [writeRuleCounts(counts), writeRuleCounts(previous, 'kept_counts')];
    return [this.#days.write(now), this.#changes.write(now), writeLanded(this.#known, now), ...rules];
  }
}
