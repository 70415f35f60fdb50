/** What lands: records of the stream as the store takes them. Types only. */

import type { RuleChange, RuleOperation } from '../rule.ts';
import type { StreamRecord } from './stream.ts';

/** A record that was understood, and whose workspace and list are still to be resolved by the store. */
export interface LandingItem {
  readonly record: StreamRecord;
  readonly workspaceId: string;
  /** null, or a list that is gone: the workspace's default list. */
  readonly listId: string | null;
  readonly receivedAt: number;
  /** The batch that it came with; null where another producer gave it no id. */
  readonly batchId: string | null;
  /** The key that sent it; null where none did. */
  readonly keyId: string | null;
  /** The person, as far as he is known: his name, and who a provider says that he is. */
  readonly actor?: string;
  readonly personId?: string;
  /** The source whose refresh it is: where the list is not, or not any more, that of the source, it changes nothing. */
  readonly sourceId?: string;
  readonly change: RuleChange | RuleOperation;
}

/** A record that cannot be landed, kept with its reason (poison). */
export interface PoisonRecord {
  readonly record: StreamRecord;
  readonly reason: string;
}

/** What one step of the consumer writes: position and rules in one transaction. */
export interface LandingBatch {
  readonly streamId: string;
  readonly partition: number;
  /** The position this consumer started from; null = no position is stored yet. */
  readonly from: number | null;
  /** The position after this batch: offset of the next record. */
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
