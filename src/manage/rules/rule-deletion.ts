/** SPEC D9.6. */
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { RuleOperation } from '../../rule.ts';
import { OPERATION_RULES } from '../../signal/message/encode.ts';
import type { ListOperation } from '../operate.ts';

/** One kind and list per operation. */
export function operationsOn(
  rules: readonly StoredRule[],
  operationOf: (kind: StoredRule['kind'], ids: readonly number[]) => RuleOperation,
): ListOperation[] {
  const operations: ListOperation[] = [];
  for (const same of Map.groupBy(rules, ({ kind, listId }) => `${kind} ${listId}`).values()) {
    for (let at = 0; at < same.length; at += OPERATION_RULES) {
      const { kind, listId } = same[0];
      const ids = same.slice(at, at + OPERATION_RULES).map(({ id }) => id);
      operations.push({ operation: operationOf(kind, ids), listId });
    }
  }
  return operations;
}

export const deletions = (rules: readonly StoredRule[]): ListOperation[] =>
  operationsOn(rules, (kind, ids) => ({ change: 'delete_rules', kind, ids }));
