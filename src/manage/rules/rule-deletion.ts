/** Deleting rules by their ids, each list by operations of its own (SPEC D9.6). */
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { OPERATION_RULES } from '../../signal/message/encode.ts';
import type { ListOperation } from '../operate.ts';

/** One operation for so many rules of one kind and list as it may name. */
export function deletions(rules: readonly StoredRule[]): ListOperation[] {
  const operations: ListOperation[] = [];
  for (const same of Map.groupBy(rules, ({ kind, listId }) => `${kind} ${listId}`).values()) {
    for (let at = 0; at < same.length; at += OPERATION_RULES) {
      const { kind, listId } = same[0];
      const ids = same.slice(at, at + OPERATION_RULES).map(({ id }) => id);
      operations.push({ operation: { change: 'delete_rules', kind, ids }, listId });
    }
  }
  return operations;
}
