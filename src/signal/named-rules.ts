import type { AccessAction, RuleChange } from '../rule.ts';
import { formatTarget } from './target.ts';

/**
 * The rules of its list or workspace that a change is about: the one with a rule_ref, or those on a target with an action. Of these an
 * upsert is about the one without a rule_ref, a delete by value about all.
 */
export type NamedRules =
  | { readonly by: 'ref'; readonly ruleRef: string }
  | { readonly by: 'value'; readonly action: AccessAction; readonly target: string; readonly withRefs: boolean };

/** What a change is about (SPEC D3.10, D3.11), for landing in both dialects and for previews. `target` is canonical text. */
export function namedBy(change: RuleChange): NamedRules {
  if (change.change === 'delete') return { by: 'ref', ruleRef: change.ruleRef };
  if (change.change === 'delete_by_value') {
    return { by: 'value', action: change.action, target: formatTarget(change.target), withRefs: true };
  }
  const { rule } = change;
  if ('expression' in rule || rule.ruleRef !== null) return { by: 'ref', ruleRef: rule.ruleRef! };
  return { by: 'value', action: rule.action, target: formatTarget(rule.target), withRefs: false };
}
