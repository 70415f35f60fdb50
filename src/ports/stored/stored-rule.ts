import type { AccessAction, AccessRule, ExpressionRule, Kind, Target } from '../../rule.ts';

/** A rule as `weir rule ls` prints it and `weir export` writes it. */
export interface StoredRule {
  readonly id: number;
  readonly kind: Kind;
  /** null: a kind without lists. */
  readonly listId: string | null;
  readonly rule: AccessRule | ExpressionRule;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The item that wrote it last, for `origins`; 0: written before items were counted. */
  readonly seq: number;
}

export interface RuleState {
  readonly id: number;
  readonly action: AccessAction;
  readonly target: Target;
  /** Whole seconds, 0 = none. */
  readonly expires: number;
}

export interface ComparedRule
  extends Pick<AccessRule, 'ruleRef' | 'action' | 'target' | 'expiresAt' | 'reason' | 'labels' | 'config' | 'name'> {
  readonly id: number;
}

export interface ComparedPage {
  /** ms */
  readonly now: number;
  /** Id of the last rule of the previous chunk; −1: start. */
  readonly after: number;
  readonly limit: number;
}
