/** The store of webhooks (SPEC D27): what is set, how far each was told, and the message that waits. Types only. */
import type { Author } from '../../account/caller.ts';
import type { Told, Webhook, WebhookDelivery, WebhookMessage, WebhookPatch, WebhookSettings } from '../../account/webhook.ts';
import type { AuditRow, ChangeOptions, Page, PageRequest } from './account-store.ts';
import type { Lease } from './source-store.ts';

/** A webhook that is made. The id is given: its secret is sealed for it. */
export interface NewWebhook extends WebhookSettings {
  readonly id: string;
  readonly secret: Uint8Array | null;
}

/** A webhook with its secret, sealed; only whoever sends asks for that. */
export interface WebhookWithSecret extends Webhook {
  readonly secret: Uint8Array | null;
}

/** How far a webhook was told, and what waits to be sent. */
export interface WebhookState {
  readonly id: string;
  readonly told: Told;
  /** Whether a message waits: nothing else is told before that is gone. */
  readonly isWaiting: boolean;
  /** When its last message was made; 0: there was none. */
  readonly lastAt: number;
}

/** A webhook that has failed FAILING_TRIES times in a row or more. */
export interface FailingWebhook {
  readonly id: string;
  /** null, as its workspace: the webhook of the settings. */
  readonly name: string | null;
  readonly workspaceId: string | null;
  readonly failures: number;
}

/** A message that is to be sent now; `webhook` is undefined of that of the service. */
export interface DueMessage {
  readonly id: string;
  readonly webhook: WebhookWithSecret | undefined;
  readonly message: WebhookMessage;
}

/** What has happened in a workspace behind two places. */
export interface Happened {
  readonly audit: readonly AuditRow[];
  readonly undone: readonly { readonly seq: number; readonly at: number; readonly batch: string; readonly by: Author }[];
}

/** What a look writes of a webhook. */
export interface LogUpdate {
  readonly id: string;
  readonly told: Told;
  readonly message?: WebhookMessage;
}

/** What a try writes: the message as it waits on, and until when (ms); null: it is gone. */
export interface DeliveryUpdate {
  readonly id: string;
  readonly waits: { readonly message: WebhookMessage; readonly nextAt: number } | null;
  readonly delivery: WebhookDelivery;
}

/** What a process knows and no store does, as text (JSON). */
export interface ProcessReport {
  readonly process: string;
  readonly report: string;
}

export interface WebhookReads {
  /** Moves when a webhook is made, set or deleted. */
  webhookRevision(): Promise<number>;
  /** Of one workspace, oldest first. */
  webhooks(workspaceId: string): Promise<Webhook[]>;
  /** With its secret; undefined for an unknown one. */
  sealedWebhook(workspaceId: string, id: string): Promise<WebhookWithSecret | undefined>;
  /** The ids of workspaces that have a webhook, oldest workspace first. */
  subscribedWorkspaces(page: PageRequest): Promise<Page<string>>;
  /** How far the webhooks of a workspace were told, and that of the service for null. */
  webhookStates(workspaceId: string | null): Promise<WebhookState[]>;
  /** Of one workspace; null: of all, and the service's. */
  failingWebhooks(workspaceId: string | null): Promise<FailingWebhook[]>;
  /** Messages that are to be sent at `now` (ms), the longest due first. */
  dueMessages(now: number, limit: number): Promise<DueMessage[]>;
  /** The last tries of one, newest first. */
  webhookDeliveries(id: string): Promise<WebhookDelivery[]>;
  /** What was changed and undone in a workspace behind these places, oldest first; `limit` of each. */
  happened(workspaceId: string, after: { readonly audit: number; readonly seq: number }, limit: number): Promise<Happened>;
  /** Newest reports of the processes that have reported since `since` (ms of the store's clock). */
  processReports(since: number): Promise<ProcessReport[]>;
}

export interface WebhookWrites {
  /** Rejects with REFUSED where the workspace has one of that name, or as many as it may. It is told what happens from now on. */
  createWebhook(workspaceId: string, webhook: NewWebhook, change?: ChangeOptions): Promise<Webhook>;
  /** What waits is sent to the new address at once. */
  updateWebhook(workspaceId: string, id: string, patch: WebhookPatch, change?: ChangeOptions): Promise<Webhook>;
  /** Deletes it with what waits. */
  deleteWebhook(workspaceId: string, id: string, change?: ChangeOptions): Promise<void>;
  /** Writes what webhooks were told; one that is gone is left out. false where another holds the lease: then nothing was written. */
  writeLog(lease: Lease, updates: readonly LogUpdate[]): Promise<boolean>;
  /** Writes what became of messages; false as above. */
  writeDeliveries(lease: Lease, updates: readonly DeliveryUpdate[]): Promise<boolean>;
  /** Keeps what a process reports; null: it reports no more. Forgets processes that have not reported for an hour. */
  reportProcess(process: string, report: string | null): Promise<void>;
}
