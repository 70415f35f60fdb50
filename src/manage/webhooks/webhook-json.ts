/** SPEC D27. */
import { MOST_WEBHOOKS, WEBHOOK_STYLES, type Webhook, type WebhookDelivery, webhookState } from '../../account/webhook.ts';
import { isoTime } from '../../clock.ts';
import { answerOf, type Fields, listOf, nullable, Type, textField, wordField } from '../../json/schema.ts';

export const webhookJson = (webhook: Webhook) => ({ id: webhook.id, ...webhookState(webhook), created_at: isoTime(webhook.createdAt) });
export const deliveryJson = ({ at, ...delivery }: WebhookDelivery) => ({ at: isoTime(at), ...delivery });

const WEBHOOK = {
  id: '0195a3c0-0000-7000-8000-000000000031',
  name: 'soc',
  url: 'https://chat.example/hooks/xyz',
  style: ['weir', Type.Enum([...WEBHOOK_STYLES], { description: 'The format of its messages.' })],
  has_secret: [true, 'Whether its messages are signed (PagerDuty: whether it has a routing key). The secret is never returned.'],
  created_at: '2026-11-23T10:00:00.000Z',
} as const satisfies Fields;

const DELIVERY = {
  at: '2026-11-23T10:05:00.000Z',
  message: '0195a3c0-0000-7000-8000-000000000032',
  ms: 83,
  status: [200, nullable(Type.Integer(), { description: 'Status of the response; null: none.' })],
  outcome: ['delivered', Type.Enum(['delivered', 'failed', 'given up'])],
  text: ['', 'The error, or the beginning of the response.'],
} as const satisfies Fields;

export const WebhookAnswer = answerOf('Webhook', WEBHOOK);
export const WebhookList = answerOf('Webhooks', { webhooks: listOf(WEBHOOK, { description: `Oldest first, at most ${MOST_WEBHOOKS}.` }) });
export const WebhookWithDeliveries = answerOf('WebhookWithDeliveries', {
  ...WEBHOOK,
  waiting: [false, 'Whether a message waits for its next attempt.'],
  deliveries: listOf(DELIVERY, { description: 'The last 20 attempts, newest first.' }),
});
export const WebhookTest = answerOf('WebhookTest', {
  delivered: [true, 'Whether the response was 2xx.'],
  status: DELIVERY.status,
  ms: 83,
  text: DELIVERY.text,
});

export const WEBHOOK_BODY = {
  url: textField(2048, 'The URL for messages.'),
  style: wordField(WEBHOOK_STYLES, 'weir: JSON with a text that Slack and Mattermost display; teams: a card; pagerduty: Events API v2.'),
  secret: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: 200,
      description: 'The secret that signs messages, or the routing key of PagerDuty; stored encrypted, null removes it.',
    }),
  ),
};
