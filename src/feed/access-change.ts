import type { Message } from '../ports/stream.ts';
import { type GeoTarget, isOperation, type RuleChange } from '../rule.ts';
import { decodeSignalRecord } from '../signal/message/decode.ts';

export type AccessChange = Extract<RuleChange, { kind: 'access_rule' }> | Extract<RuleChange, { change: 'delete' }>;

/** Decodes a message as the consumer does; undefined for other kinds of rules. */
export function accessChangeOf(message: Message): AccessChange | undefined {
  const decoded = decodeSignalRecord({ ...message, offset: 0, timestamp: 0 });
  if ('poison' in decoded) return undefined;
  const { change } = decoded;
  if (isOperation(change) || change.kind !== 'access_rule') return undefined;
  return change;
}

export function blockedPlace(change: AccessChange): GeoTarget | undefined {
  if (change.change !== 'upsert' || change.rule.action !== 'block' || change.rule.target.kind === 'ip') return undefined;
  return change.rule.target;
}
