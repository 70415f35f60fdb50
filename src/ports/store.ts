/** A whole store: rules and accounts behind one driver. */
import type { AccountReads, AccountWrites } from './account-store.ts';
import type { AuditReads } from './audit.ts';
import type { BouncerReads, BouncerWrites } from './bouncer-store.ts';
import type { DeviceReads, DeviceWrites } from './devices.ts';
import type { HistoryReads, HistoryWrites } from './history.ts';
import type { ReplacementReads, ReplacementWrites } from './replacement-store.ts';
import type { RuleReads, RuleWrites } from './rule-store.ts';
import type { SampleReads, SampleWrites } from './sample-store.ts';
import type { SessionReads, SessionWrites } from './session-store.ts';
import type { SourceReads, SourceWrites } from './source-store.ts';
import type { TogetherReads, TogetherWrites } from './together-store.ts';
import type { WebhookReads, WebhookWrites } from './webhook-store.ts';

export interface StoreReads
  extends RuleReads,
    AccountReads,
    AuditReads,
    BouncerReads,
    DeviceReads,
    HistoryReads,
    SampleReads,
    ReplacementReads,
    SessionReads,
    SourceReads,
    TogetherReads,
    WebhookReads {
  /** Rejects with a readable reason when the store does not answer. Resolves with the store's clock (ms). */
  ping(): Promise<number>;
}

export interface StoreWrites
  extends RuleWrites,
    AccountWrites,
    BouncerWrites,
    DeviceWrites,
    HistoryWrites,
    ReplacementWrites,
    SampleWrites,
    SessionWrites,
    SourceWrites,
    TogetherWrites,
    WebhookWrites {
  /** Creates or upgrades the schema; safe when several processes start at once. */
  migrate(): Promise<{ applied: string[] }>;
}

export interface Store extends StoreReads, StoreWrites {
  close(): Promise<void>;
}
