import { openSecret } from '../../../account/secrets/encrypted-secret.ts';
import { reusedSecretFault, type WebhookSettings } from '../../../account/webhook.ts';
import { flagField, textField } from '../../../json/schema.ts';
import type { WebhookWithSecret } from '../../../ports/stored/webhook-store.ts';
import { fieldFault, fieldFaults } from '../../operation.ts';
import { WEBHOOK_BODY } from '../../webhooks/webhook-json.ts';
import { encryptedForWebhook, webhookFaults } from '../../webhooks/webhooks.ts';
import { type About, call, type Doing, type Entry, fileKind, OTHER_SECRET, refuseNamed, STORED_SECRET, type Thing } from '../kind.ts';

const settingsIn = ({ url, style }: Entry, name: string) => ({ name, url, style }) as WebhookSettings;

/** `secret`: a placeholder; null: none. */
function secretWanted(
  { secret, has_secret: has }: Entry,
  settings: WebhookSettings,
  before: Thing<WebhookWithSecret> | undefined,
  { secretKeys }: About,
) {
  if (secret === null || (has === false && secret === undefined)) return null;
  const { row } = before ?? {};
  const fault = row?.secret == null ? undefined : reusedSecretFault(row, settings);
  if (typeof secret === 'string')
    return row?.secret != null && fault === undefined && openSecret(secretKeys, row, row.secret) === secret ? STORED_SECRET : OTHER_SECRET;
  if (row?.secret == null) {
    if (has === true) throw fieldFault('secret', 'is missing, and none is stored: give secret_file or secret_env');
    return null;
  }
  if (fault !== undefined) throw fieldFaults([fault]);
  return STORED_SECRET;
}

/** undefined: unchanged. */
function sealed(
  { given, entry }: { readonly given: Entry; readonly entry: Entry },
  id: string,
  { about }: Doing,
): Uint8Array | null | undefined {
  if (entry.secret === STORED_SECRET) return undefined;
  return entry.secret === null ? null : encryptedForWebhook(about, { id, url: String(entry.url) }, String(given.secret));
}

export const WEBHOOK_KIND = fileKind<WebhookWithSecret>({
  section: 'webhooks',
  word: 'webhook',
  about: 'Where alerts are sent. The URL of a chat system may itself be a secret: url_env names a variable that contains it (weir apply).',
  fields: {
    ...WEBHOOK_BODY,
    url_env: textField(200, 'An environment variable with the URL, for weir apply.'),
    secret_file: textField(4096, 'A file with the secret, for weir apply.'),
    secret_env: textField(200, 'An environment variable with the secret, for weir apply.'),
    has_secret: flagField('true: it has a secret, stored or given.'),
  },
  mask: (field, value) => (field === 'url' && typeof value === 'string' ? `${new URL(value).origin}/…` : value),
  things: ({ webhooks }) =>
    webhooks.map((row) => {
      const { id, name, url, style } = row;
      const secret = row.secret === null ? null : STORED_SECRET;
      return { id, name, entry: { url, style, has_secret: secret !== null, secret }, row };
    }),
  wanted(given, before, about) {
    refuseNamed(given, 'url_env', 'secret_file', 'secret_env');
    const { url = before?.entry.url, style = about.prune ? 'weir' : (before?.entry.style ?? 'weir') } = given;
    if (url === undefined) throw fieldFault('url', 'is required unless url_env is given');
    const settings = settingsIn({ url, style }, String(given.name));
    const secret = URL.canParse(settings.url) ? secretWanted(given, settings, before, about) : null;
    const secretGiven = given.secret as string | null | undefined;
    const [fault, ...others] = webhookFaults(settings, secret !== null, secretGiven, about.webhookReach);
    if (fault !== undefined) throw fieldFaults([fault, ...others]);
    // Rejects without an encryption key.
    if (secret === OTHER_SECRET) encryptedForWebhook(about, { id: '', url: settings.url }, String(secretGiven));
    return { url, style, has_secret: secret !== null, secret };
  },
  core: ({ url }) => ({ url }),
  add: (wanted, id, doing) => {
    const webhook = { ...settingsIn(wanted.entry, String(wanted.given.name)), id, secret: sealed(wanted, id, doing) ?? null };
    return [call('createWebhook', doing.workspaceId, webhook, { by: doing.by })];
  },
  change({ id, name }, wanted, doing) {
    const secret = sealed(wanted, id, doing);
    const patch = { ...settingsIn(wanted.entry, name!), ...(secret !== undefined && { secret }) };
    return [call('updateWebhook', doing.workspaceId, id, patch, { by: doing.by })];
  },
  remove: ({ id }, { workspaceId, by }) => [call('deleteWebhook', workspaceId, id, { by })],
});
