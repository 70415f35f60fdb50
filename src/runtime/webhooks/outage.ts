/** Notifies the webhook of the settings: the store cannot store it (SPEC D27.9). */
import { randomUUID } from 'node:crypto';
import { type Announced, SERVICE_WEBHOOK, type WebhookMessage, type WebhookStyle } from '../../account/webhook.ts';
import { GATHER, nextTry } from '../../webhook/schedule.ts';
import { type SendPorts, sendMessage } from '../../webhook/send.ts';

export interface OwnWebhook {
  readonly url: string;
  readonly style: WebhookStyle;
  readonly secret: string | null;
}

export interface Outage {
  /** Resolves after any due attempt. */
  failed(error: Error): Promise<void>;
  /** What was sent about the outage, which is over. */
  answered(): Announced['items'];
}

const KEY = 'engine/store';

/** One message after a minute, until it is delivered or the store is back. */
export function reportOutage(own: OwnWebhook, send: SendPorts, signal: AbortSignal): Outage {
  let since: number | undefined;
  let waiting: { readonly message: WebhookMessage; readonly nextAt: number } | undefined;
  let sent: Announced['items'] = {};

  async function deliver(message: WebhookMessage): Promise<void> {
    const now = send.now();
    waiting = { message, nextAt: Number.POSITIVE_INFINITY };
    const tried = await sendMessage(send, { ...own, id: SERVICE_WEBHOOK }, message, { webhook: SERVICE_WEBHOOK, workspace: null }, signal);
    const again = { ...message, tries: message.tries + 1 };
    if (tried.isDelivered) sent = Object.fromEntries(message.changes.map(({ key, state, text, urgent }) => [key, { state, text, urgent }]));
    else waiting = { message: again, nextAt: nextTry(again, now, tried.retryAfter) ?? Number.POSITIVE_INFINITY };
  }

  return {
    async failed({ message: reason }) {
      const now = send.now();
      since ??= now;
      if (waiting === undefined && now - since >= GATHER) {
        const text = `the store does not answer: ${reason} (since ${new Date(since).toISOString()})`;
        const change = { key: KEY, is: 'began', state: 'away', text, urgent: true, at: since } as const;
        await deliver({ id: randomUUID(), at: now, changes: [change], attention: 1, urgent: 1, tries: 0 });
      } else if (waiting !== undefined && now >= waiting.nextAt) await deliver(waiting.message);
    },
    answered() {
      const over = sent;
      [since, waiting, sent] = [undefined, undefined, {}];
      return over;
    },
  };
}
