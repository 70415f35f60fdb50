/** Changes that wait for a second person (SPEC D67). */
import type { Author } from '../../account/caller.ts';

/** Pending requests, bytes of their compressed content, stored requests. */
export const MOST_PENDING = 100;
export const MOST_PENDING_BYTES = 64 * 1024 * 1024;
export const MOST_APPROVALS = 1000;

/** `approved`: not applied yet, or its process stopped before. */
export const APPROVAL_STATES = ['pending', 'approved', 'applied', 'rejected', 'withdrawn', 'expired', 'failed'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

export interface ApprovalSize {
  readonly addresses: number;
  /** Of its blocks. */
  readonly blocked: number;
  readonly rules: number;
}

export interface ApprovalRequest extends ApprovalSize {
  readonly id: string;
  /** `messages`, or the name of an operation. */
  readonly operation: string;
  readonly why: string;
  readonly hash: string;
  /** Compressed. */
  readonly content: Uint8Array;
  readonly by: Author;
}

export interface Approval extends Omit<ApprovalRequest, 'content'> {
  readonly state: ApprovalState;
  /** People, in the order of their approval. */
  readonly approvers: readonly string[];
  /** Of the rejection, withdrawal or emergency. */
  readonly reason: string | null;
  /** ms */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** `force`: an emergency, without a second person. */
export type Decision = 'approve' | 'reject' | 'withdraw' | 'force';

export interface ApprovalReads {
  /** Newest first. */
  approvals(workspaceId: string): Promise<Approval[]>;
  approval(workspaceId: string, id: string): Promise<Approval | undefined>;
  /** Those of the workspaces with a limit. */
  approvingWorkspaces(ids: readonly string[]): Promise<string[]>;
  /** Pending requests. `now`: ms. */
  waitingApprovals(workspaceId: string, now: number): Promise<number>;
  /** Compressed; undefined once applied or refused. */
  approvalContent(workspaceId: string, id: string): Promise<Uint8Array | undefined>;
  /** Of all workspaces, untouched since `before` (ms). */
  unappliedApprovals(before: number): Promise<{ readonly workspaceId: string; readonly id: string }[]>;
  /** Whether an operation has left an audit row with the request as its act, in its own transaction. */
  isApplied(id: string): Promise<boolean>;
  /** Addresses of landed blocks of all senders, and of removals, in the last ten minutes without approved ones (SPEC D67.3). */
  unapprovedAddresses(workspaceId: string, now: number): Promise<number>;
}

export interface ApprovalWrites {
  /** Returns a pending one with the same content. Throws REFUSED at the limits. */
  requestApproval(workspaceId: string, request: ApprovalRequest, lifetime: number): Promise<Approval>;
  /** NOT_FOUND; REFUSED: not pending, or a person who stands behind it already. */
  decideApproval(workspaceId: string, id: string, decision: Decision, reason: string | null, by: Author): Promise<Approval>;
  /** Counts removed addresses as those of landed blocks: `unapprovedAddresses`. */
  noteRemoved(workspaceId: string, addresses: number): Promise<void>;
  /** For its application; false: another process does it. */
  touchApproval(workspaceId: string, id: string, before: number): Promise<boolean>;
  /** With the same content and another effect: all approvals are void. */
  askAgain(workspaceId: string, id: string, size: ApprovalSize & { readonly why: string }): Promise<Approval>;
  endApproval(workspaceId: string, id: string, state: 'applied' | 'failed', reason: string | null): Promise<void>;
}
