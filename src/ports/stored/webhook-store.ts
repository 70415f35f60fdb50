/** Webhooks (SPEC D27): settings, position and pending message of each. */
import type { Author } from '../../account/caller.ts';
import type { Announced, Webhook, WebhookDelivery, WebhookMessage, WebhookPatch, WebhookSettings } from '../../account/webhook.ts';
import type { AuditRow, ChangeOptions, Page, PageRequest } from './account-store.ts';
import type { Lease } from './source-store.ts';

/** Encrypted for the given id. */
export interface NewWebhook extends WebhookSettings {
  readonly id: string;
  readonly secret: Uint8Array | null;
}

export interface WebhookWithSecret extends Webhook {
  readonly secret: Uint8Array | null;
}

export interface WebhookState {
  readonly id: string;
  readonly announced: Announced;
  /** The next one waits for it. */
  readonly isWaiting: boolean;
  /** ms; 0: none. */
  readonly lastAt: number;
}

/** At least FAILING_TRIES consecutive ones. */
export interface FailingWebhook {
  readonly id: string;
  /** null, like the workspace: of the settings. */
  readonly name: string | null;
  readonly workspaceId: string | null;
  readonly failures: number;
}

/** `webhook` undefined: the service's. */
export interface DueMessage {
  readonly id: string;
  readonly webhook: WebhookWithSecret | undefined;
  readonly message: WebhookMessage;
}

export interface Happened {
  readonly audit: readonly AuditRow[];
  readonly undone: readonly { readonly seq: number; readonly at: number; readonly batch: string; readonly by: Author }[];
}

export interface LogUpdate {
  readonly id: string;
  readonly announced: Announced;
  readonly message?: WebhookMessage;
}

/** The message and its next attempt (ms); null: done. */
export interface DeliveryUpdate {
  readonly id: string;
  readonly waits: { readonly message: WebhookMessage; readonly nextAt: number } | null;
  readonly delivery: WebhookDelivery;
}

export interface ProcessReport {
  readonly process: string;
  readonly report: string;
}

export interface WebhookReads {
  webhookRevision(): Promise<number>;
  /** Oldest first. */
  webhooks(workspaceId: string): Promise<Webhook[]>;
  sealedWebhook(workspaceId: string, id: string): Promise<WebhookWithSecret | undefined>;
  /** Oldest first. */
  subscribedWorkspaces(page: PageRequest): Promise<Page<string>>;
  webhookStates(workspaceId: string | null): Promise<WebhookState[]>;
  /** null: of all workspaces and the service. */
  failingWebhooks(workspaceId: string | null): Promise<FailingWebhook[]>;
  dueMessages(now: number, limit: number): Promise<DueMessage[]>;
  webhookDeliveries(id: string): Promise<WebhookDelivery[]>;
  happened(workspaceId: string, after: { readonly audit: number; readonly seq: number }, limit: number): Promise<Happened>;
  /** Latest reports of processes since `since` (ms of the store's clock). */
  processReports(since: number): Promise<ProcessReport[]>;
}

export interface WebhookWrites {
  /** From now on. REFUSED: the name is used, or the limit is reached. */
  createWebhook(workspaceId: string, webhook: NewWebhook, change?: ChangeOptions): Promise<Webhook>;
  /** A pending message goes to the new address. */
  updateWebhook(workspaceId: string, id: string, patch: WebhookPatch, change?: ChangeOptions): Promise<Webhook>;
  deleteWebhook(workspaceId: string, id: string, change?: ChangeOptions): Promise<void>;
  /** false: another process has the lease, nothing was written. Skips deleted webhooks. */
  writeLog(lease: Lease, updates: readonly LogUpdate[]): Promise<boolean>;
  /** false as above. */
  writeDeliveries(lease: Lease, updates: readonly DeliveryUpdate[]): Promise<boolean>;
  /** null: deletes it. Deletes reports older than an hour. */
  reportProcess(process: string, report: string | null): Promise<void>;
}
