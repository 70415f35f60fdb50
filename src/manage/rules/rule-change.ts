/** Changes in place, as one batch, and deletions (SPEC D9.6, D33.1). */
import { WeirError } from '../../errors.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { Message } from '../../ports/stream.ts';
import type { AccessRule, RuleOperation } from '../../rule.ts';
import { encodeMessage, OPERATION_RULES } from '../../signal/message/encode.ts';
import { BATCH_SIGNALS, newBatchId } from '../../signal/message/signal-id.ts';
import { ruleToSignals } from '../../signal/rule-to-signals.ts';
import { writeTarget } from '../../signal/target.ts';
import { batchMessages, type ListMessage, type ListOperation, messageOf, type Operator, publishBatch, type RulePorts } from '../operate.ts';
import { type EditPlan, edited, type RuleEdit } from './rule-edit.ts';

/** Each move to another list is a message. */
export const MOST_CHANGED = 4000;

/** Returns the batches. Rejects with REFUSED for too many lists. */
export async function changeRules(ports: RulePorts, operator: Operator, plan: EditPlan, edit: RuleEdit): Promise<string[]> {
  const receivedAt = await ports.reads.ping();
  const messages = [...moves(plan.moved, edit, receivedAt), ...removals(plan.moved), ...settings(plan.set, edit, receivedAt)];
  if (messages.length === 0) return [];
  if (messages.length > BATCH_SIGNALS)
    throw new WeirError('REFUSED', 'these rules are in too many lists to change as one batch: change them list by list');
  return [await publishBatch(ports, operator, receivedAt, messages)];
}

/** The deletion of rules and new rules in their lists, as one batch. `splits` are split by rule and list. Rejects with REFUSED for too many. */
export async function splitInOneBatch(
  ports: RulePorts,
  operator: Operator,
  gone: readonly StoredRule[],
  parts: readonly StoredRule[],
): Promise<string[]> {
  const receivedAt = await ports.reads.ping();
  const messages = [...removals(gone), ...additions(parts, receivedAt)];
  if (messages.length === 0) return [];
  if (messages.length > BATCH_SIGNALS)
    throw new WeirError(
      'REFUSED',
      `this needs ${messages.length} changes, and a batch has ${BATCH_SIGNALS} at most: allow the address instead`,
    );
  return [await publishBatch(ports, operator, receivedAt, messages)];
}

/** Only moves affect feeds. `now`: ms. */
export const foreseenMessages = (operator: Operator, { moved }: EditPlan, edit: RuleEdit, now: number): Message[] =>
  batchMessages(operator, now, newBatchId(now), [...foreseenDeletes(moved), ...moves(moved, edit, now)]);

export const foreseenSplit = (operator: Operator, gone: readonly StoredRule[], parts: readonly StoredRule[], now: number): Message[] =>
  batchMessages(operator, now, newBatchId(now), [...foreseenDeletes(gone), ...additions(parts, now)]);

const foreseenDeletes = (gone: readonly StoredRule[]): ListMessage[] =>
  gone.map(({ rule, listId }): ListMessage => {
    const { ruleRef, target, action } = rule as AccessRule;
    const of = ruleRef === null ? { rule: { target: writeTarget(target), action } } : { rule_ref: ruleRef };
    const envelope = { schema_version: 2, kind: 'access_rule', op: 'delete', ...of } as const;
    return { listId, encode: (context) => encodeMessage({ version: 2, envelope }, context) };
  });

/** As signals. */
const moves = (moved: readonly StoredRule[], edit: RuleEdit, receivedAt: number): ListMessage[] =>
  additions(
    moved.map((stored) => ({ ...stored, listId: edit.list!.id, rule: edited(stored.rule, edit, receivedAt) })),
    receivedAt,
  );

const additions = (rules: readonly StoredRule[], receivedAt: number): ListMessage[] =>
  rules.map(({ kind, listId, rule }) => {
    // A block without expiry would get a day.
    const then = rule.expiresAt === null && rule.action === 'block' ? edited(rule, { expiresAt: 'never' }, receivedAt) : rule;
    // Expired in the meantime.
    const at = Math.min(receivedAt, then.expiresAt ?? receivedAt);
    const [past] = ruleToSignals({ kind, rule: then, createdAt: at, updatedAt: at });
    return { listId, encode: (context) => encodeMessage(past!.signal, { ...context, receivedAt: past!.receivedAt }) };
  });

const removals = (moved: readonly StoredRule[]) => deletions(moved).map(messageOf);

function settings(set: readonly StoredRule[], edit: RuleEdit, now: number): ListMessage[] {
  // Permanent blocks get the longest expiry.
  const groups =
    edit.expiresAt === undefined ? [[undefined, set] as const] : Map.groupBy(set, ({ rule }) => edited(rule, edit, now).expiresAt);
  return [...groups].flatMap(([expiresAt, rules]) =>
    operationsOn(rules, (kind, ids) => ({ change: 'set_rules', kind, ids, expiresAt, reason: edit.reason })).map(messageOf),
  );
}

/** One kind and list per operation. */
function operationsOn(
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
