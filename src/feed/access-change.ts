/** What messages will change of access rules. */
import type { Message } from '../ports/stream.ts';
import { type GeoTarget, isOperation, type RuleChange } from '../rule.ts';
import { decodeSignalRecord } from '../signal/message/decode.ts';

/** A change of access rules. */
export type AccessChange = Extract<RuleChange, { kind: 'access_rule' }> | Extract<RuleChange, { change: 'delete' }>;

/** What a message that weir wrote changes of access rules, as the consumer reads it; undefined for other kinds of rules. */
export function accessChangeOf(message: Message): AccessChange | undefined {
  const decoded = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
  if ('poison' in decoded) return undefined;
  const { change } = decoded;
  if (isOperation(change) || change.kind !== 'access_rule') return undefined;
  return change;
}

/** The country or ASN that a change blocks. */
export function blockedPlace(change: AccessChange): GeoTarget | undefined {
  if (change.change !== 'upsert' || change.rule.action !== 'block' || change.rule.target.kind === 'ip') return undefined;
  return change.rule.target;
}
