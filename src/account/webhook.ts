/** A webhook announces changes of a workspace's alerts (SPEC D27). */

/** Body for programs and chat systems, Microsoft Teams, PagerDuty. */
export const WEBHOOK_STYLES = ['weir', 'teams', 'pagerduty'] as const;
export type WebhookStyle = (typeof WEBHOOK_STYLES)[number];

export const MOST_WEBHOOKS = 10;

/** Id of the webhook from the service's settings, which has no workspace. */
export const SERVICE_WEBHOOK = 'service';

export interface WebhookSettings {
  readonly name: string;
  readonly url: string;
  readonly style: WebhookStyle;
}

export interface Webhook extends WebhookSettings {
  readonly id: string;
  readonly workspaceId: string;
  /** The signing secret, or PagerDuty's routing key. */
  readonly hasSecret: boolean;
  /** ms since 1970, as all instants here. */
  readonly createdAt: number;
}

/** Consecutive failures that raise an alert (SPEC D47.2). */
export const FAILING_TRIES = 5;

/**
 * Why a webhook cannot keep its secret with changed settings, or undefined (SPEC D47.1): another origin or style would use it differently;
 * PagerDuty's sends it in clear.
 */
export function reusedSecretFault(
  before: WebhookSettings,
  after: WebhookSettings,
): { readonly field: string; readonly message: string } | undefined {
  const [from, to] = [before, after].map(({ url }) => new URL(url).origin);
  const again = 'which the secret belongs to: send the secret again or remove it';
  if (from !== to) return { field: 'url', message: `is not at ${from}, ${again}` };
  return before.style === after.style ? undefined : { field: 'style', message: `is not ${before.style}, ${again}` };
}

/** Absent members stay unchanged. `secret`: encrypted; null removes it. */
export type WebhookPatch = Partial<WebhookSettings> & { readonly secret?: Uint8Array | null };

/** The editable fields as JSON; the entity tag covers them. */
export const webhookState = ({ name, url, style, hasSecret }: Omit<Webhook, 'id' | 'workspaceId' | 'createdAt'>) => ({
  name,
  url,
  style,
  has_secret: hasSecret,
});

/** For the audit log, without the path: the address of a chat system's webhook is a secret. */
export const webhookAudit = (webhook: Parameters<typeof webhookState>[0]) => ({
  ...webhookState(webhook),
  url: `${new URL(webhook.url).origin}/…`,
});

export interface WebhookChange {
  /** The subject, such as `source/UUID`; equal when it begins and ends. */
  readonly key: string;
  /** An alert's begin, change or end; or somebody's action. */
  readonly is: 'began' | 'changed' | 'ended' | 'happened';
  /** In a word, such as `held`; for an end, the state before. */
  readonly state: string;
  /** A sentence without its full stop. */
  readonly text: string;
  readonly urgent: boolean;
  readonly at: number;
}

export interface WebhookMessage {
  readonly id: string;
  readonly at: number;
  readonly changes: readonly WebhookChange[];
  /** Number of current alerts; `urgent`: of the urgent ones. */
  readonly attention: number;
  readonly urgent: number;
  readonly tries: number;
  /** A test begins and ends no alert. */
  readonly isTest?: true;
}

export interface ReportedItem {
  readonly state: string;
  readonly text: string;
  readonly urgent: boolean;
  /** Since when its state is unknown; absent: known. */
  readonly unknownSince?: number;
}

/** Position of a webhook's announcements. */
export interface Announced {
  readonly items: Readonly<Record<string, ReportedItem>>;
  /** All audit rows up to this one, and `seen` beyond it, were processed. */
  readonly audit: number;
  readonly seen: readonly number[];
  /** Likewise for landed undos. */
  readonly seq: number;
}

export interface WebhookDelivery {
  readonly message: string;
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly outcome: 'delivered' | 'failed' | 'given up';
  /** The message, or the error. */
  readonly text: string;
}

export const STORED_DELIVERIES = 20;
