/** How much messages change (SPEC D67.3). */
import { addressesOf, isWayBack } from '../../account/large.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { ApprovalSize } from '../../ports/stored/approval-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import type { Message } from '../../ports/stream.ts';
import type { Target } from '../../rule.ts';
import { decodeSignalRecord } from '../../signal/message/decode.ts';
import { formatTarget } from '../../signal/target.ts';

export interface MessageSize extends ApprovalSize {
  /** Countries, ASNs, and undone batches older than a day: their size is unknown. */
  readonly places: number;
}

export interface Excess extends ApprovalSize {
  readonly why: string;
}

type Reads = Pick<StoreReads, 'rulesById' | 'rulesByRef' | 'namedRules' | 'defaultList' | 'batch'>;

export const NOTHING: MessageSize = { addresses: 0, blocked: 0, rules: 0, places: 0 };

export const sum = (a: MessageSize, b: MessageSize): MessageSize => ({
  addresses: a.addresses + b.addresses,
  blocked: a.blocked + b.blocked,
  rules: a.rules + b.rules,
  places: a.places + b.places,
});

export const sizeOfTarget = (target: Target, isBlock: boolean): MessageSize => {
  const addresses = addressesOf(target);
  return { addresses, blocked: isBlock ? addresses : 0, rules: 1, places: target.kind === 'ip' ? 0 : 1 };
};

const decoded = (message: Message) => decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });

/** Of the added access rules; the other changes need the store. */
export function sizeOfAdded(message: Message): MessageSize {
  const item = decoded(message);
  if ('poison' in item || item.change.change !== 'upsert' || item.change.kind !== 'access_rule') return NOTHING;
  return sizeOfTarget(item.change.rule.target, item.change.rule.action === 'block');
}

/** Removing rules that are younger than a day is never large. `now`: ms. */
export async function sizeOfMessages(reads: Reads, workspaceId: string, messages: readonly Message[], now: number): Promise<MessageSize> {
  let size = NOTHING;
  const removed = (rules: readonly StoredRule[]) => {
    for (const { rule, createdAt } of rules)
      if ('target' in rule && !isWayBack(createdAt, now)) size = sum(size, sizeOfTarget(rule.target, false));
  };
  const targets = new Map<string, string[]>();
  for (const message of messages) {
    size = sum(size, sizeOfAdded(message));
    const item = decoded(message);
    if ('poison' in item) continue;
    const { change, listId } = item;
    if (change.change === 'delete_rules' || (change.change === 'set_rules' && change.expiresAt !== undefined))
      removed(await reads.rulesById(workspaceId, change.kind, change.ids));
    if (change.change === 'undo') {
      const batch = await reads.batch(workspaceId, change.batchId);
      if (batch !== undefined && !isWayBack(batch.receivedAt, now)) size = sum(size, { ...NOTHING, places: 1 });
    }
    if (change.change === 'delete' && change.kind === 'access_rule') {
      const found = await reads.rulesByRef(workspaceId, change.kind, change.ruleRef, { now, limit: 2 });
      removed(found.filter(({ rule }) => rule.ruleRef === change.ruleRef));
    }
    if (change.change === 'delete_by_value') {
      const list = listId ?? (await reads.defaultList(workspaceId))!;
      targets.set(list, [...(targets.get(list) ?? []), formatTarget(change.target)]);
    }
  }
  for (const [list, named] of targets) {
    const ids = (await reads.namedRules(workspaceId, list, [], named)).map(({ id }) => id);
    removed(await reads.rulesById(workspaceId, 'access_rule', ids));
  }
  return size;
}
