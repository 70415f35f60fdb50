/** A webhook: where a workspace is told what changes of what needs attention (SPEC D27). */

/** How the body of a message is written: for programs and chat systems, for Microsoft Teams, for PagerDuty. */
export const WEBHOOK_STYLES = ['weir', 'teams', 'pagerduty'] as const;
export type WebhookStyle = (typeof WEBHOOK_STYLES)[number];

/** Webhooks of one workspace. */
export const MOST_WEBHOOKS = 10;

/** The id of the webhook that the settings name: it is of no workspace. */
export const SERVICE_WEBHOOK = 'service';

/** What is set of a webhook, besides its secret. */
export interface WebhookSettings {
  readonly name: string;
  readonly url: string;
  readonly style: WebhookStyle;
}

export interface Webhook extends WebhookSettings {
  readonly id: string;
  readonly workspaceId: string;
  /** Whether it has a secret: what messages are signed with, or PagerDuty's routing key. */
  readonly hasSecret: boolean;
  /** ms since 1970, as all instants here. */
  readonly createdAt: number;
}

/** Failed tries in a row from which a webhook needs attention (SPEC D47.2). */
export const FAILING_TRIES = 5;

/**
 * Why a webhook cannot keep its secret with other settings, or undefined (SPEC D47.1): another origin or style would use it in another way,
 * as PagerDuty's style does, which sends it in clear.
 */
export function keptSecretFault(
  before: WebhookSettings,
  after: WebhookSettings,
): { readonly field: string; readonly message: string } | undefined {
  const [from, to] = [before, after].map(({ url }) => new URL(url).origin);
  const again = 'which its secret is for: give the secret again, or remove it';
  if (from !== to) return { field: 'url', message: `is not of ${from}, ${again}` };
  return before.style === after.style ? undefined : { field: 'style', message: `is not ${before.style}, ${again}` };
}

/** A change of what is set; what it does not name stays as it is. `secret`: sealed; null takes it away. */
export type WebhookPatch = Partial<WebhookSettings> & { readonly secret?: Uint8Array | null };

/** What can be edited of a webhook, as JSON has it: its entity tag is made of this. */
export const webhookState = ({ name, url, style, hasSecret }: Omit<Webhook, 'id' | 'workspaceId' | 'createdAt'>) => ({
  name,
  url,
  style,
  has_secret: hasSecret,
});

/** The same for the audit log: who knows the address of a chat system's webhook may write there. */
export const webhookAudit = (webhook: Parameters<typeof webhookState>[0]) => ({
  ...webhookState(webhook),
  url: `${new URL(webhook.url).origin}/…`,
});

/** One change that a message tells. */
export interface WebhookChange {
  /** What it is of, such as `source/UUID`: that which began has the key of that which ends it. */
  readonly key: string;
  /** Something needs attention from now on, in another way, or no more; or somebody did something. */
  readonly is: 'began' | 'changed' | 'ended' | 'happened';
  /** How it is in a word, such as `held`; of what has ended, how it was. */
  readonly state: string;
  /** A sentence without its end. */
  readonly text: string;
  /** Whether it is more than something that gets old. */
  readonly urgent: boolean;
  readonly at: number;
}

/** A message, kept until its receiver has taken it. */
export interface WebhookMessage {
  /** The same at each try. */
  readonly id: string;
  readonly at: number;
  readonly changes: readonly WebhookChange[];
  /** How many things need attention now, and how many of those are urgent. */
  readonly attention: number;
  readonly urgent: number;
  /** How often it was tried. */
  readonly tries: number;
  /** Whether it only says that it is a test: it ends and begins nothing. */
  readonly isTest?: true;
}

/** What a webhook was told of one thing that needs attention. */
export interface ReportedItem {
  readonly state: string;
  readonly text: string;
  readonly urgent: boolean;
  /** Since when nobody knows whether it still holds; absent: somebody does. */
  readonly unknownSince?: number;
}

/** How far a webhook was told. */
export interface Told {
  readonly items: Readonly<Record<string, ReportedItem>>;
  /** All rows of the audit log up to this one were looked at, and these behind it. */
  readonly audit: number;
  readonly seen: readonly number[];
  /** The same of undos that have landed. */
  readonly seq: number;
}

/** One try of a message, as it is told afterwards. */
export interface WebhookDelivery {
  readonly message: string;
  readonly at: number;
  readonly ms: number;
  /** The answer's; null: there was none. */
  readonly status: number | null;
  readonly outcome: 'delivered' | 'failed' | 'given up';
  /** What is told, or what went wrong. */
  readonly text: string;
}

/** Tries of a webhook that are kept. */
export const DELIVERIES_KEPT = 20;
