import { type AccessAction, type Kind, RULE_KINDS, type RuleChange } from '../../rule.ts';
import { type NamedRules, namedBy } from '../../signal/named-rules.ts';

/** A change whose workspace and list are known to the store. `workspace` and `list` are the store's own numbers. */
export interface ResolvedChange {
  readonly workspace: number;
  /** Ignored for the kinds that have no list. */
  readonly list: number;
  readonly receivedAt: number;
  /** The id of the rule, if this change makes one. */
  readonly id: number;
  /** The id of its batch, or null. */
  readonly batch: string | null;
  /** The id of the first change of those behind one another that are of its batch: a rule that was written since is the batch's own. */
  readonly firstId: number;
  readonly change: RuleChange;
}

/** Which change a rule was touched by last: `seq` is that change's number. */
export interface Touch {
  readonly seq: number;
  readonly firstId: number;
  readonly batch: string | null;
}

type Change<C extends RuleChange['change']> = Extract<RuleChange, { change: C }>;

export interface CompactUpsert extends Touch {
  readonly workspace: number;
  readonly list: number;
  readonly change: Change<'upsert'>;
  /** The new rule's id, that of its first upsert in this run; a stored rule keeps its own. */
  readonly id: number;
  /** When the rule was first upserted in this run: the new rule's `created_at`, kept from the stored rule if that is active at this instant. */
  readonly createdAt: number;
  /** When it was last upserted in this run. */
  readonly updatedAt: number;
}
export interface RefDelete extends Touch {
  readonly workspace: number;
  readonly list: number;
  readonly kind: Kind;
  readonly ruleRef: string;
}
export interface ValueDelete extends Touch {
  readonly workspace: number;
  readonly list: number;
  readonly action: AccessAction;
  /** Canonical text. */
  readonly target: string;
}

/** Deletes first, in any order, then upserts, in any order. No rule is upserted twice, none deleted twice. */
export interface Run {
  readonly refDeletes: readonly RefDelete[];
  readonly valueDeletes: readonly ValueDelete[];
  readonly upserts: readonly CompactUpsert[];
}

/**
 * Folds changes to the last one per rule, in runs to be applied one after the other: the rules afterwards are those that
 * the changes would leave one by one, `created_at` included.
 *
 * A new run begins where folding would not be exact:
 * - a delete by value after an upsert by rule_ref of the same list: whether it hits that rule depends on what the upsert changed;
 * - an upsert of a rule that an earlier upsert of the run had let expire by then: it counts as a new rule;
 * - a change of a rule that another batch has changed in the run: what a batch replaced must be told from what another one did.
 */
export function compact(changes: Iterable<ResolvedChange>): Run[] {
  const runs: OpenRun[] = [];
  let run = new OpenRun();
  for (const change of changes) {
    if (run.add(change)) continue;
    runs.push(run);
    run = new OpenRun();
    run.add(change);
  }
  runs.push(run);
  return runs.filter((done) => !done.empty).map((done) => done.close());
}

class OpenRun {
  private readonly refDeletes = new Map<string, RefDelete>();
  private readonly valueDeletes = new Map<string, ValueDelete>();
  private readonly upserts = new Map<string, CompactUpsert>();
  /** Lists in which this run upserts a rule by its rule_ref. */
  private readonly refLists = new Set<number>();

  /** The batches that delete by value in a list. */
  private readonly valueDeleteBatches = new Map<number, Set<string | null>>();

  /** False when the change belongs to the next run. */
  add({ workspace, list, receivedAt, id, batch, firstId, change }: ResolvedChange): boolean {
    const touch = { seq: id, firstId, batch };
    const named = namedBy(change);
    const key = keyOf(workspace, list, change.kind, named);
    const isForeign =
      isOfAnother(batch, this.upserts, key) || isOfAnother(batch, this.refDeletes, key) || isOfAnother(batch, this.valueDeletes, key);
    if (isForeign) return false;
    switch (change.change) {
      case 'upsert': {
        const earlier = this.upserts.get(key);
        const lapse = earlier?.change.rule.expiresAt ?? null;
        if (lapse !== null && lapse <= receivedAt) return false;
        const { id: ruleId, createdAt } = earlier ?? { id, createdAt: receivedAt };
        this.upserts.set(key, { workspace, list, change, id: ruleId, createdAt, updatedAt: receivedAt, ...touch });
        if (change.kind === 'access_rule' && named.by === 'ref') this.refLists.add(list);
        return true;
      }
      case 'delete': {
        // Whether a delete by value has hit the rule before is not known here.
        if (change.kind === 'access_rule' && this.hasForeignValueDelete(list, batch)) return false;
        this.upserts.delete(key);
        this.refDeletes.set(key, { workspace, list, kind: change.kind, ruleRef: change.ruleRef, ...touch });
        return true;
      }
      case 'delete_by_value': {
        if (this.refLists.has(list) || named.by === 'ref') return false;
        this.upserts.delete(key);
        this.valueDeletes.set(key, { workspace, list, action: named.action, target: named.target, ...touch });
        this.valueDeleteBatches.set(list, (this.valueDeleteBatches.get(list) ?? new Set()).add(batch));
        return true;
      }
    }
  }

  private hasForeignValueDelete(list: number, batch: string | null): boolean {
    const batches = this.valueDeleteBatches.get(list);
    return batches !== undefined && (batches.size > 1 || !batches.has(batch));
  }

  get empty(): boolean {
    return this.refDeletes.size + this.valueDeletes.size + this.upserts.size === 0;
  }

  close(): Run {
    return {
      refDeletes: [...this.refDeletes.values()],
      valueDeletes: [...this.valueDeletes.values()],
      upserts: [...this.upserts.values()],
    };
  }
}

/** Whether another batch has touched what this key stands for. */
const isOfAnother = (batch: string | null, touched: ReadonlyMap<string, Touch>, key: string) =>
  touched.size > 0 && (touched.get(key)?.batch ?? batch) !== batch;

const keyOf = (workspace: number, list: number, kind: Kind, named: NamedRules): string =>
  named.by === 'value'
    ? `value ${list} ${named.action} ${named.target}`
    : `${kind} ${RULE_KINDS[kind].scope === 'list' ? list : workspace} ${named.ruleRef}`;
