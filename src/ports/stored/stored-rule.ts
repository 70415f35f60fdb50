import type { AccessAction, AccessRule, ExpressionRule, Kind, Target } from '../../rule.ts';

/** One rule as `weir rule ls` shows it and `weir export` writes it. */
export interface StoredRule {
  readonly id: number;
  readonly kind: Kind;
  /** null for the kinds that have no list. */
  readonly listId: string | null;
  readonly rule: AccessRule | ExpressionRule;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The number of the item that wrote it last; 0 for rules of stores that counted none yet. `origins` tells where that came from. */
  readonly seq: number;
}

/** The present state of one rule that was asked for by id. */
export interface RuleState {
  readonly id: number;
  readonly action: AccessAction;
  readonly target: Target;
  /** Whole seconds, 0 = none. */
  readonly expires: number;
}

/** What of an access rule a comparison with a content looks at (SPEC D11.4). */
export interface ComparedRule
  extends Pick<AccessRule, 'ruleRef' | 'action' | 'target' | 'expiresAt' | 'reason' | 'labels' | 'config' | 'name'> {
  readonly id: number;
}

/** Rules that are compared, a piece of them. */
export interface ComparedPage {
  /** ms */
  readonly now: number;
  /** The id of the rule behind which they come; −1: from the first on. */
  readonly after: number;
  readonly limit: number;
}
