/** SPEC D27. */
import { randomUUID } from 'node:crypto';
import { sealSecret } from '../../account/secrets/encrypted-secret.ts';
import { reusedSecretFault, type Webhook, type WebhookDelivery, type WebhookPatch, type WebhookSettings } from '../../account/webhook.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { WebhookWithSecret } from '../../ports/stored/webhook-store.ts';
import type { FieldFault } from '../../signal/validate.ts';
import { type SendPorts, sendMessage, type Tried } from '../../webhook/send.ts';
import { type ChangeContext, changeOptions, type ManagePorts } from '../context.ts';
import { fieldFaults, refuseNewName } from '../operation.ts';
import { type Reach, urlFault } from '../sources/source-settings.ts';

type WebhookChangeContext = ChangeContext & Pick<ManagePorts, 'secretKeys' | 'webhookReach'>;

export type GivenWebhook = Partial<WebhookSettings> & { readonly secret?: string | null | undefined };

/** By id or name. Rejects with NOT_FOUND. */
export async function findWebhook(store: Pick<StoreReads, 'webhooks'>, workspaceId: string, ref: string): Promise<Webhook> {
  const all = await store.webhooks(workspaceId);
  const found = all.find(({ id }) => id === ref.toLowerCase()) ?? all.find(({ name }) => name === ref);
  if (found === undefined) throw new WeirError('NOT_FOUND', `there is no webhook "${ref}"`);
  return found;
}

const [SHORTEST, LONGEST] = [16, 200];

export function webhookFaults(
  { url, style }: Pick<WebhookSettings, 'url' | 'style'>,
  hasSecret: boolean,
  secret: string | null | undefined,
  reach: Reach,
): FieldFault[] {
  const isSecret = secret == null || (secret.length >= SHORTEST && secret.length <= LONGEST && /^[\x21-\x7e]+$/.test(secret));
  const faults: [field: string, fault: string | undefined][] = [
    ['url', urlFault(url, reach, 'WEBHOOK_NETWORKS')],
    ['secret', isSecret ? undefined : `must have ${SHORTEST} to ${LONGEST} visible ASCII characters`],
    ['secret', style === 'pagerduty' && !hasSecret ? 'is missing: PagerDuty assigns alerts by its routing key' : undefined],
  ];
  return faults.flatMap(([field, message]) => (message === undefined ? [] : [{ field, message }]));
}

function refuse([first, ...others]: readonly FieldFault[]): void {
  if (first !== undefined) throw fieldFaults([first, ...others]);
}

/** Rejects with REFUSED without an encryption key. */
export function encryptedForWebhook(
  { secretKeys }: Pick<WebhookChangeContext, 'secretKeys'>,
  owner: { readonly id: string; readonly url: string },
  secret: string,
): Uint8Array {
  if (secretKeys.length > 0) return sealSecret(secretKeys, owner, secret);
  const why = 'secrets of webhooks are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY';
  throw new WeirError('REFUSED', why);
}

/** Rejects with USAGE, and with REFUSED at a limit. */
export async function createWebhook(
  context: WebhookChangeContext,
  { secret, style = 'weir', ...given }: GivenWebhook & { readonly name: string; readonly url: string },
): Promise<Webhook> {
  const settings = { name: given.name, url: given.url, style };
  refuse(webhookFaults(settings, secret != null, secret, context.webhookReach));
  const id = randomUUID();
  const kept = secret == null ? null : encryptedForWebhook(context, { id, url: settings.url }, secret);
  return context.store.createWebhook(context.workspaceId, { ...settings, id, secret: kept }, changeOptions(context));
}

/** Absent fields stay. */
export async function changeWebhook(context: WebhookChangeContext, ref: string, { secret, ...given }: GivenWebhook): Promise<Webhook> {
  const { store, workspaceId } = context;
  const before = await findWebhook(store, workspaceId, ref);
  refuseNewName(given.name, before.name);
  const after = { name: given.name ?? before.name, url: given.url ?? before.url, style: given.style ?? before.style };
  const hasSecret = secret === undefined ? before.hasSecret : secret !== null;
  refuse(webhookFaults(after, hasSecret, secret, context.webhookReach));
  const fault = before.hasSecret && secret === undefined ? reusedSecretFault(before, after) : undefined;
  refuse(fault === undefined ? [] : [fault]);
  const patch: WebhookPatch = {
    ...given,
    ...(secret !== undefined && {
      secret: secret === null ? null : encryptedForWebhook(context, { id: before.id, url: after.url }, secret),
    }),
  };
  return store.updateWebhook(workspaceId, before.id, patch, changeOptions(context));
}

export async function deleteWebhook(context: ChangeContext, ref: string): Promise<Webhook> {
  const webhook = await findWebhook(context.store, context.workspaceId, ref);
  await context.store.deleteWebhook(context.workspaceId, webhook.id, changeOptions(context));
  return webhook;
}

export async function webhookWithDeliveries(
  store: Pick<StoreReads, 'webhooks' | 'webhookDeliveries' | 'webhookStates'>,
  workspaceId: string,
  ref: string,
): Promise<{ readonly webhook: Webhook; readonly deliveries: readonly WebhookDelivery[]; readonly isWaiting: boolean }> {
  const webhook = await findWebhook(store, workspaceId, ref);
  const state = (await store.webhookStates(workspaceId)).find(({ id }) => id === webhook.id);
  return { webhook, deliveries: await store.webhookDeliveries(webhook.id), isWaiting: state?.isWaiting ?? false };
}

/** Marked as a test. */
export async function testWebhook(
  store: Pick<StoreReads, 'webhooks' | 'sealedWebhook' | 'webhookStates' | 'workspace'>,
  workspaceId: string,
  ref: string,
  send: SendPorts,
): Promise<Tried> {
  const { id } = await findWebhook(store, workspaceId, ref);
  const webhook = (await store.sealedWebhook(workspaceId, id)) as WebhookWithSecret;
  const at = send.now();
  const text = `this is a test of the webhook ${JSON.stringify(webhook.name)}`;
  const change = { key: 'test', is: 'happened', state: 'test', text, urgent: false, at } as const;
  const announced = (await store.webhookStates(workspaceId)).find((state) => state.id === id)?.announced.items ?? {};
  const [attention, urgent] = [Object.values(announced).length, Object.values(announced).filter((item) => item.urgent).length];
  const message = { id: randomUUID(), at, changes: [change], attention, urgent, tries: 0, isTest: true } as const;
  const workspace = { id: workspaceId, name: (await store.workspace(workspaceId))?.name ?? '' };
  return sendMessage(send, webhook, message, { webhook: webhook.name, workspace }, new AbortController().signal);
}

export const triedJson = ({ isDelivered, status, ms, text }: Tried) => ({ delivered: isDelivered, status, ms, text });
