/** Changing rules in place: one batch, whichever lists they are of (SPEC D33.1). */
import { WeirError } from '../../errors.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { Message } from '../../ports/stream.ts';
import type { AccessRule } from '../../rule.ts';
import { encodeMessage } from '../../signal/message/encode.ts';
import { BATCH_SIGNALS, newBatchId } from '../../signal/message/signal-id.ts';
import { ruleToSignals } from '../../signal/rule-to-signals.ts';
import { writeTarget } from '../../signal/target.ts';
import { batchMessages, type ListMessage, messageOf, type Operated, type Operator, publishBatch, type RulePorts } from '../operate.ts';
import { deletions, operationsOn } from './rule-deletion.ts';
import { type EditPlan, edited, type RuleEdit } from './rule-edit.ts';

/** Rules that one change changes at most: what goes to another list is a message each. */
export const MOST_CHANGED = 4000;

/** Puts a change onto the stream as one batch, and waits until it has landed. Rejects with REFUSED where the rules are of too many lists. */
export async function changeRules(ports: RulePorts, operator: Operator, plan: EditPlan, edit: RuleEdit): Promise<Operated> {
  const receivedAt = await ports.reads.ping();
  const messages = [...moves(plan.moved, edit, receivedAt), ...removals(plan.moved), ...settings(plan.set, edit, receivedAt)];
  if (messages.length === 0) return { batches: [], unlanded: 0 };
  if (messages.length > BATCH_SIGNALS)
    throw new WeirError('REFUSED', 'these rules are of too many lists to be changed as one batch: change them list by list');
  const batch = await publishBatch(ports, operator, receivedAt, messages);
  return { batches: [batch], unlanded: await ports.untilLanded() };
}

/** What decides what feeds have of those that go to another list; an expiry or a reason changes nothing there now. `now`: ms. */
export function foreseenMessages(operator: Operator, { moved }: EditPlan, edit: RuleEdit, now: number): Message[] {
  const gone = moved.map(({ rule, listId }): ListMessage => {
    const { ruleRef, target, action } = rule as AccessRule;
    const of = ruleRef === null ? { rule: { target: writeTarget(target), action } } : { rule_ref: ruleRef };
    const envelope = { schema_version: 2, kind: 'access_rule', op: 'delete', ...of } as const;
    return { listId, encode: (context) => encodeMessage({ version: 2, envelope }, context) };
  });
  return batchMessages(operator, now, newBatchId(now), [...gone, ...moves(moved, edit, now)]);
}

/** Rules as those of the other list. */
const moves = (moved: readonly StoredRule[], edit: RuleEdit, receivedAt: number): ListMessage[] =>
  moved.map((stored) => {
    const rule = edited(stored.rule, edit, receivedAt);
    // A block without an end would live a day.
    const then = rule.expiresAt === null && rule.action === 'block' ? edited(rule, { expiresAt: 'never' }, receivedAt) : rule;
    // What has ended meanwhile moves as it ended.
    const at = Math.min(receivedAt, then.expiresAt ?? receivedAt);
    const [past] = ruleToSignals({ kind: stored.kind, rule: then, createdAt: at, updatedAt: at });
    return { listId: edit.list!.id, encode: (context) => encodeMessage(past!.signal, { ...context, receivedAt: past!.receivedAt }) };
  });

const removals = (moved: readonly StoredRule[]) => deletions(moved).map(messageOf);

function settings(set: readonly StoredRule[], edit: RuleEdit, now: number): ListMessage[] {
  // Without an end a block lives as long as it may, another rule for ever.
  const groups =
    edit.expiresAt === undefined ? [[undefined, set] as const] : Map.groupBy(set, ({ rule }) => edited(rule, edit, now).expiresAt);
  return [...groups].flatMap(([expiresAt, rules]) =>
    operationsOn(rules, (kind, ids) => ({ change: 'set_rules', kind, ids, expiresAt, reason: edit.reason })).map(messageOf),
  );
}
