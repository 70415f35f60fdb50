/** Entries and signals removing targets from block feeds: unblocks and never-block rules (SPEC D10.18). */
import type { RuleChange, RuleOperation } from '../rule.ts';
import { decodeSignalRecord } from '../signal/message/decode.ts';
import { formatTarget } from '../signal/target.ts';
import type { ListEntry } from './readers/entry.ts';
import type { FileSignal } from './readers/items.ts';

export interface Unblock {
  readonly target: string;
  readonly how: 'allow' | 'unblock';
}

export const unblockOfEntry = ({ action, target }: Pick<ListEntry, 'action' | 'target'>): Unblock | undefined =>
  action === 'block' ? undefined : { target: formatTarget(target), how: action };

/** undefined for blocks and signals without a target. */
export function unblockOfSignal({ version, json }: Pick<FileSignal, 'version' | 'json'>): Unblock | undefined {
  const headers = { schema_version: String(version), workspace_id: '-' };
  const decoded = decodeSignalRecord({ key: '', headers, value: json.toString(), offset: 0, timestamp: Date.UTC(2026, 0) });
  return 'poison' in decoded ? undefined : liftOfChange(decoded.change);
}

function liftOfChange(change: RuleChange | RuleOperation): Unblock | undefined {
  if (change.change === 'delete_by_value' && change.action === 'block') return { target: formatTarget(change.target), how: 'unblock' };
  if (change.change !== 'upsert' || change.kind !== 'access_rule' || change.rule.action !== 'allow') return undefined;
  return { target: formatTarget(change.rule.target), how: 'allow' };
}

export const distinctUnblocks = (lifts: Iterable<Unblock>): Unblock[] => [
  ...new Map([...lifts].map((lift) => [`${lift.how} ${lift.target}`, lift])).values(),
];
