import { isoTime } from '../clock.ts';
import type { StoredRule } from '../ports/stored/stored-rule.ts';
import { formatTarget } from './target.ts';

/** The wire form of a stored rule. */
export function ruleJson({ id, kind, listId, rule, createdAt, updatedAt }: Omit<StoredRule, 'seq'>): Record<string, unknown> {
  const body =
    'target' in rule
      ? { list_id: listId, target: formatTarget(rule.target), action: rule.action, confidence: rule.confidence, severity: rule.severity }
      : { type: rule.type, expression: rule.expression, action: rule.action, order: rule.order, short_description: rule.shortDescription };
  return {
    id,
    kind,
    rule_ref: rule.ruleRef,
    name: rule.name,
    ...body,
    reason: rule.reason,
    labels: rule.labels,
    config: rule.config,
    expires_at: isoTime(rule.expiresAt),
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}
