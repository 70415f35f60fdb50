import type { ActivityStoreReads, ActivityStoreWrites } from './activity.ts';
import type { DeviceReads, DeviceWrites } from './devices.ts';
import type { HistoryReads, HistoryWrites } from './history.ts';
import type { AccountReads, AccountWrites } from './stored/account-store.ts';
import type { ApprovalReads, ApprovalWrites } from './stored/approval-store.ts';
import type { ArchiveReads } from './stored/archive-store.ts';
import type { AuditReads } from './stored/audit.ts';
import type { BouncerReads, BouncerWrites } from './stored/bouncer-store.ts';
import type { ChangeReads } from './stored/changes.ts';
import type { EnrolmentReads, EnrolmentWrites } from './stored/enrolment-store.ts';
import type { FreezeReads, FreezeWrites } from './stored/freeze-store.ts';
import type { PeerReads, PeerWrites } from './stored/peer-store.ts';
import type { ReplacementReads, ReplacementWrites } from './stored/replacement-store.ts';
import type { RuleReads, RuleWrites } from './stored/rule-store.ts';
import type { SampleReads, SampleWrites } from './stored/sample-store.ts';
import type { SessionReads, SessionWrites } from './stored/session-store.ts';
import type { SigningReads, SigningWrites } from './stored/signing-store.ts';
import type { SnoozeReads, SnoozeWrites } from './stored/snooze-store.ts';
import type { SourceReads, SourceWrites } from './stored/source-store.ts';
import type { TogetherReads, TransactionWrites } from './stored/transaction-store.ts';
import type { WebhookReads, WebhookWrites } from './stored/webhook-store.ts';

export interface StoreReads
  extends RuleReads,
    AccountReads,
    ActivityStoreReads,
    ApprovalReads,
    ArchiveReads,
    AuditReads,
    BouncerReads,
    ChangeReads,
    DeviceReads,
    EnrolmentReads,
    FreezeReads,
    HistoryReads,
    PeerReads,
    SampleReads,
    ReplacementReads,
    SessionReads,
    SigningReads,
    SnoozeReads,
    SourceReads,
    TogetherReads,
    WebhookReads {
  /** Store clock, ms. Rejects with a readable reason. */
  ping(): Promise<number>;
  /** Soon after a commit of any process, with false alarms; misses commits without a connection. Returns a stop function. */
  watchCommits(onCommit: () => void): () => void;
}

export interface StoreWrites
  extends RuleWrites,
    AccountWrites,
    ActivityStoreWrites,
    ApprovalWrites,
    BouncerWrites,
    DeviceWrites,
    EnrolmentWrites,
    FreezeWrites,
    HistoryWrites,
    PeerWrites,
    ReplacementWrites,
    SampleWrites,
    SessionWrites,
    SigningWrites,
    SnoozeWrites,
    SourceWrites,
    TransactionWrites,
    WebhookWrites {
  /** Safe for concurrent processes. */
  migrate(): Promise<{ applied: string[] }>;
}

export interface Store extends StoreReads, StoreWrites {
  close(): Promise<void>;
}
