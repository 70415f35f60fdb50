import { type AccessAction, type Kind, RULE_KINDS, type RuleChange } from '../../rule.ts';
import { type NamedRules, namedBy } from '../../signal/named-rules.ts';

export interface ResolvedChange {
  readonly workspace: number;
  /** Ignored for kinds without lists. */
  readonly list: number;
  readonly receivedAt: number;
  readonly id: number;
  readonly batch: string | null;
  /** Id of the first of the consecutive changes of its batch: rules written since belong to the batch. */
  readonly firstId: number;
  readonly change: RuleChange;
}

/** `seq` is its number. */
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
  /** Of its first upsert in this run; a stored rule keeps its own. */
  readonly id: number;
  /** First upsert in this run: `created_at` of a new rule. A stored rule that is active then keeps its own. */
  readonly createdAt: number;
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
  readonly target: string;
}

/** Deletes in any order, then upserts in any order, each rule once. */
export interface Run {
  readonly refDeletes: readonly RefDelete[];
  readonly valueDeletes: readonly ValueDelete[];
  readonly upserts: readonly CompactUpsert[];
}

/**
 * Folds changes to the last one per rule, in sequential runs with the same result as the single changes, including `created_at`. A new run begins where folding would not be exact:
 * - a delete by value after an upsert by rule_ref in the same list: the upsert decides whether it hits;
 * - an upsert of a rule that has expired since an earlier upsert of the run: it counts as new;
 * - a change of a rule that another batch has changed in the run: previous versions are stored per batch.
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
  /** Lists with an upsert by rule_ref in this run. */
  private readonly refLists = new Set<number>();

  /** Batches per list. */
  private readonly valueDeleteBatches = new Map<number, Set<string | null>>();

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
        const expiry = earlier?.change.rule.expiresAt ?? null;
        if (expiry !== null && expiry <= receivedAt) return false;
        const { id: ruleId, createdAt } = earlier ?? { id, createdAt: receivedAt };
        this.upserts.set(key, { workspace, list, change, id: ruleId, createdAt, updatedAt: receivedAt, ...touch });
        if (change.kind === 'access_rule' && named.by === 'ref') this.refLists.add(list);
        return true;
      }
      case 'delete': {
        // A delete by value may have hit the rule.
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

const isOfAnother = (batch: string | null, touched: ReadonlyMap<string, Touch>, key: string) =>
  touched.size > 0 && (touched.get(key)?.batch ?? batch) !== batch;

const keyOf = (workspace: number, list: number, kind: Kind, named: NamedRules): string =>
  named.by === 'value'
    ? `value ${list} ${named.action} ${named.target}`
    : `${kind} ${RULE_KINDS[kind].scope === 'list' ? list : workspace} ${named.ruleRef}`;
