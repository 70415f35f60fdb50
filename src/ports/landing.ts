import type { RuleChange, RuleOperation } from '../rule.ts';
import type { ApprovalRequest } from './stored/approval-store.ts';
import type { StreamRecord } from './stream.ts';

/** Workspace and list are not resolved yet. */
export interface LandingItem {
  readonly record: StreamRecord;
  readonly workspaceId: string;
  /** null or deleted: the default list. */
  readonly listId: string | null;
  readonly receivedAt: number;
  /** null: another producer sent no id. */
  readonly batchId: string | null;
  /** null: sent without a key. */
  readonly keyId: string | null;
  /** Name and provider identity. */
  readonly actor?: string;
  readonly personId?: string;
  /** Whose refresh this is. No effect if the source no longer manages the list. */
  readonly sourceId?: string;
  /** Sent through the management API: no signal. */
  readonly isManaged?: true;
  /** Written by another producer: weir's own messages name the organization. */
  readonly isForeign?: true;
  /** Its expiry was given as an instant: it does not last longer in lists with `repeat` (SPEC D56.2). */
  readonly hasEnd?: true;
  readonly change: RuleChange | RuleOperation;
}

/** Foreign changes over the limit of approvals (SPEC D67.9): their request is stored instead. */
export interface WaitingItems {
  readonly workspaceId: string;
  readonly request: ApprovalRequest;
  readonly lifetime: number;
  readonly records: readonly StreamRecord[];
}

/** Picks the items that have to wait. */
export type HoldForeign = (items: readonly LandingItem[]) => Promise<readonly WaitingItems[]>;

export interface PoisonRecord {
  readonly record: StreamRecord;
  readonly reason: string;
}

/** Position and rules, written in one transaction. */
export interface LandingBatch {
  readonly streamId: string;
  readonly partition: number;
  /** null: none is stored yet. */
  readonly from: number | null;
  readonly to: number;
  readonly items: readonly LandingItem[];
  readonly poison: readonly PoisonRecord[];
  /** Not in `items`. Dead letters if the workspace can store no more requests. */
  readonly waiting?: readonly WaitingItems[];
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
