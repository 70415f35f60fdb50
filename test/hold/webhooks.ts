/** What who may manage a workspace can learn of the secrets of its webhooks (SPEC D47.1). */
import type { Figure } from '../../bench/support/figures.ts';
import { hookReceiver } from '../support/hook-receiver.ts';
import { ask, bearer } from '../support/http.ts';
import { KEY } from '../support/weir.ts';
import { on, type Settings } from './checks.ts';

const SECRET = 'a-signing-secret-of-soc';

/** Changes of style and origin of a webhook with a secret, by itself and by a file, and a test after each: messages with the secret in clear. */
export async function hookSecrets(settings: Settings): Promise<Figure[]> {
  await using receiver = await hookReceiver();
  await using elsewhere = await hookReceiver();
  return await on({ ...settings, WEBHOOK_NETWORKS: '127.0.0.1', SECRETS_KEY: 'a'.repeat(64) }, async ({ url }) => {
    const call = async (method: string, path: string, body: object) => {
      const headers = { ...bearer(KEY), 'if-match': '*' };
      return (await ask(url, `/v1/manage${path}`, { method, headers, body: JSON.stringify(body) })).status;
    };
    const made = await call('POST', '/webhooks', { name: 'soc', url: receiver.url, secret: SECRET });
    const changes = [{ style: 'pagerduty' }, { style: 'teams' }, { url: elsewhere.url }, { style: 'pagerduty', url: elsewhere.url }];
    let refused = 0;
    for (const change of changes) {
      const answers = [
        await call('PATCH', '/webhooks/soc', change),
        await call('POST', '/workspace/apply', { webhooks: [{ name: 'soc', ...change }] }),
      ];
      refused += answers.filter((status) => status === 400).length;
      await call('POST', '/webhooks/soc/test', {});
    }
    const got = receiver.received.filter(({ body }) => !body.includes(SECRET)).length;
    const clear = [...receiver.received, ...elsewhere.received].filter(({ body }) => body.includes(SECRET)).length;
    return [
      {
        what: 'webhooks: changes of style and origin without the secret, refused',
        figure: refused,
        limit: 2 * changes.length,
        least: true,
      },
      { what: 'webhooks: messages with a signing secret in clear', figure: clear + elsewhere.received.length, limit: 0 },
      { what: 'webhooks: messages that came as before', figure: made === 201 ? got : 0, limit: changes.length, least: true },
    ];
  });
}
