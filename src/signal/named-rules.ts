import type { AccessAction, RuleChange } from '../rule.ts';
import { formatTarget } from './target.ts';

/**
 * The rules concerned by a change: by rule_ref, or by target and action. By target, an upsert concerns the rule without rule_ref, a delete
 * all of them.
 */
export type NamedRules =
  | { readonly by: 'ref'; readonly ruleRef: string }
  | { readonly by: 'value'; readonly action: AccessAction; readonly target: string; readonly withRefs: boolean };

/** For landing in both dialects and for previews (SPEC D3.10, D3.11). `target` is canonical. */
export function namedBy(change: RuleChange): NamedRules {
  if (change.change === 'delete') return { by: 'ref', ruleRef: change.ruleRef };
  if (change.change === 'delete_by_value') {
    return { by: 'value', action: change.action, target: formatTarget(change.target), withRefs: true };
  }
  const { rule } = change;
  if ('expression' in rule || rule.ruleRef !== null) return { by: 'ref', ruleRef: rule.ruleRef! };
  return { by: 'value', action: rule.action, target: formatTarget(rule.target), withRefs: false };
}
