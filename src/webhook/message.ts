/** Message bodies by style (SPEC D27.4). */
import type { WebhookChange, WebhookMessage, WebhookStyle } from '../account/webhook.ts';
import { isoTime } from '../clock.ts';

export interface MessageContext {
  readonly webhook: string;
  readonly workspace: { readonly id: string; readonly name: string } | null;
}

/** Lines, and characters per line. */
const [LINES, LONGEST] = [20, 500];

const WORDS: Readonly<Record<WebhookChange['is'], string>> = { began: '', changed: '', ended: 'Ended: ', happened: '' };

export function textOf({ changes, attention, isTest }: WebhookMessage, { workspace }: MessageContext): string {
  const lines = changes.slice(0, LINES).map(({ is, text }) => `• ${WORDS[is]}${capital(text).slice(0, LONGEST)}`);
  const more = changes.length > LINES ? [`… and ${changes.length - LINES} more`] : [];
  return [`weir, ${workspace?.name ?? 'the service'}: ${isTest ? 'a test' : needs(attention)}`, ...lines, ...more].join('\n');
}

const needs = (attention: number) =>
  attention === 0 ? 'nothing needs attention' : attention === 1 ? '1 thing needs attention' : `${attention} things need attention`;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** Escapes mentions and links of chat systems. */
const forChats = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('@', '@\u200b');

type Body = (message: WebhookMessage, context: MessageContext, secret: string | undefined) => object;

const STYLES: Readonly<Record<WebhookStyle, Body>> = {
  weir: (message, context) => ({
    id: message.id,
    text: forChats(textOf(message, context)),
    at: isoTime(message.at),
    webhook: context.webhook,
    workspace: context.workspace,
    attention: message.attention,
    urgent: message.urgent,
    changes: message.changes.map(({ at, ...change }) => ({ ...change, at: isoTime(at) })),
  }),
  // Adaptive Card for Teams (Workflows, "When a Teams webhook request is received").
  teams: (message, context) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          // Markdown: a line ends with two line feeds.
          body: textOf(message, context)
            .split('\n')
            .map((text, i) => ({ type: 'TextBlock', wrap: true, text: inMarkdown(text), ...(i === 0 && { weight: 'Bolder' }) })),
        },
      },
    ],
  }),
  // Events API v2: one alert per workspace, open while anything is urgent. A test resolves an alert of its own.
  pagerduty: (message, context, secret) => ({
    routing_key: secret ?? '',
    event_action: message.urgent > 0 && !message.isTest ? 'trigger' : 'resolve',
    dedup_key: `weir/${context.workspace?.id ?? 'service'}${message.isTest ? '/test' : ''}`,
    payload: {
      summary: textOf(message, context).split('\n').slice(0, 4).join(' ').slice(0, 1024),
      source: context.workspace?.name ?? 'weir',
      severity: message.changes.some(({ is, urgent }) => urgent && is !== 'ended') ? 'error' : 'warning',
      timestamp: isoTime(message.at),
      component: 'weir',
      custom_details: { id: message.id, attention: message.attention, changes: message.changes.slice(0, LINES).map(({ text }) => text) },
    },
  }),
};

const inMarkdown = (text: string) => text.replace(/[\\`*_[\]()<>#|~]/g, '\\$&');

/** `secret`: if the style puts it into the body. */
export const bodyOf = (style: WebhookStyle, message: WebhookMessage, context: MessageContext, secret?: string): string =>
  JSON.stringify(STYLES[style](message, context, secret));

/** PagerDuty receives urgent alerts only, no actions. */
export const isAnnouncedIn = (style: WebhookStyle, changes: readonly WebhookChange[]): boolean =>
  style !== 'pagerduty' || changes.some(({ is, urgent }) => is !== 'happened' && urgent);
