import type { RuleChange, RuleOperation } from '../rule.ts';
import type { StreamRecord } from './stream.ts';

/** A decoded record. The store still has to resolve workspace and list. */
export interface LandingItem {
  readonly record: StreamRecord;
  readonly workspaceId: string;
  /** null or a deleted list: the workspace's default list. */
  readonly listId: string | null;
  readonly receivedAt: number;
  /** null: another producer sent no id. */
  readonly batchId: string | null;
  /** null: sent without a key. */
  readonly keyId: string | null;
  /** The person, if known: name and provider identity. */
  readonly actor?: string;
  readonly personId?: string;
  /** The source whose refresh this is. Without effect if the source no longer manages the list. */
  readonly sourceId?: string;
  /** Sent through the management API: no signal. */
  readonly isManaged?: true;
  /** Its expiry was given as an instant: it does not last longer in lists with `repeat` (SPEC D56.2). */
  readonly hasEnd?: true;
  readonly change: RuleChange | RuleOperation;
}

export interface PoisonRecord {
  readonly record: StreamRecord;
  readonly reason: string;
}

/** One step of the consumer: position and rules, written in one transaction. */
export interface LandingBatch {
  readonly streamId: string;
  readonly partition: number;
  /** The consumer's start position; null: none is stored yet. */
  readonly from: number | null;
  readonly to: number;
  readonly items: readonly LandingItem[];
  readonly poison: readonly PoisonRecord[];
  readonly now: number;
}

export interface DeadLetter {
  readonly id: number;
  readonly at: number;
  readonly reason: string;
  readonly streamId: string;
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}
