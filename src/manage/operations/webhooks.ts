/** SPEC D27. */
import { stateTag } from '../../account/tag.ts';
import { type Webhook, webhookState } from '../../account/webhook.ts';
import { WeirError } from '../../errors.ts';
import { answerOf, Type } from '../../json/schema.ts';
import { type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';
import {
  deliveryJson,
  WEBHOOK_BODY,
  WebhookAnswer,
  WebhookList,
  WebhookTest,
  WebhookWithDeliveries,
  webhookJson,
} from '../webhooks/webhook-json.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  testWebhook,
  triedJson,
  webhookWithDeliveries,
} from '../webhooks/webhooks.ts';

const UNKNOWN = 'there is no webhook "soc"';
const NO_KEY = 'secrets of webhooks are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY';
const Name = Type.String({ format: 'name', description: 'Unique among the webhooks of the workspace.', examples: ['soc'] });

const respond = (webhook: Webhook): Outcome => ({ body: webhookJson(webhook), tag: stateTag(webhookState(webhook)) });

export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  operation('listWebhooks', 'GET /webhooks', 'manage', {
    summary: 'List all webhooks',
    answer: WebhookList,
    run: async ({ store, workspaceId }) => ({ webhooks: (await store.webhooks(workspaceId)).map(webhookJson) }),
  }),
  operation('getWebhook', 'GET /webhooks/{webhook}', 'manage', {
    summary: 'Get a webhook by UUID or name, with its last deliveries',
    answer: WebhookWithDeliveries,
    refusals: { 404: UNKNOWN },
    run: ({ store, workspaceId }, { params }) => webhookWithDeliveries(store, workspaceId, params.webhook!),
    show: ({ webhook, deliveries, isWaiting }) => ({
      body: { ...webhookJson(webhook), waiting: isWaiting, deliveries: deliveries.map(deliveryJson) },
      tag: stateTag(webhookState(webhook)),
    }),
  }),
  operation('createWebhook', 'POST /webhooks', 'manage', {
    summary: 'Create a webhook',
    description: 'It first gets the current alerts, then their changes, at most one message a minute.',
    body: Type.Object({
      name: Name,
      ...WEBHOOK_BODY,
      url: Type.String({ maxLength: 2048, description: 'The URL for messages.' }),
    }),
    answer: WebhookAnswer,
    audit: 'webhook created',
    creates: 'in_store',
    refusals: { 409: 'the workspace has a webhook called "soc"' },
    examples: [{ name: 'soc', url: 'https://chat.example/hooks/xyz' }],
    run: (context, { body }) => createWebhook(context, body),
    status: 201,
    show: (webhook) => ({ ...respond(webhook), location: `/webhooks/${webhook.id}` }),
  }),
  operation('changeWebhook', 'PATCH /webhooks/{webhook}', 'manage', {
    summary: 'Change a webhook',
    description: 'Pending messages go to the new URL immediately. Another origin or style needs the secret again.',
    body: Type.Object({ name: Type.Optional(Type.String({ ...Name, format: 'text' })), ...WEBHOOK_BODY }),
    answer: WebhookAnswer,
    audit: 'webhook changed',
    edits: true,
    refusals: { 404: UNKNOWN, 409: NO_KEY },
    examples: [{ style: 'teams' }],
    run: (context, { params, body }) => changeWebhook(context, params.webhook!, body),
    show: respond,
  }),
  operation('deleteWebhook', 'DELETE /webhooks/{webhook}', 'manage', {
    summary: 'Delete a webhook and its pending messages',
    answer: answerOf('WebhookDeletion', { id: '0195a3c0-0000-7000-8000-000000000031', name: 'soc', deleted: true }),
    audit: 'webhook deleted',
    edits: true,
    refusals: { 404: UNKNOWN },
    run: async (context, { params }) => {
      const { id, name } = await deleteWebhook(context, params.webhook!);
      return { id, name, deleted: true };
    },
  }),
  operation('testWebhook', 'POST /webhooks/{webhook}/test', 'manage', {
    summary: 'Send a test message and return the response',
    description: 'Sent once, with a timeout of 10 seconds. Limit: ten a minute.',
    body: Type.Object({}),
    answer: WebhookTest,
    refusals: { 404: UNKNOWN },
    examples: [{}],
    async run({ store, workspaceId, sendWebhook, takeWebhookTest }, { params }) {
      await findWebhook(store, workspaceId, params.webhook!);
      const retryAfter = takeWebhookTest(workspaceId);
      if (retryAfter > 0)
        throw new WeirError('LIMITED', 'a workspace can test its webhooks at most ten times a minute', { cause: { retryAfter } });
      return testWebhook(store, workspaceId, params.webhook!, sendWebhook);
    },
    show: (tried) => ({ body: triedJson(tried) }),
  }),
];
