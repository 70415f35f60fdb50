import { WEBHOOK_STYLES } from '../../account/webhook.ts';
import type { deliveryJson, webhookJson } from '../../manage/webhooks/webhook-json.ts';
import type { triedJson } from '../../manage/webhooks/webhooks.ts';
import { fieldTable, printable } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';

type Webhook = ReturnType<typeof webhookJson>;
type Tried = ReturnType<typeof triedJson>;

const OPTIONS = {
  style: { help: `how messages are written: ${WEBHOOK_STYLES.join(', ')}` },
  secret: {
    as: 'secret-file',
    help: 'file with the secret that signs messages, or with the routing key of PagerDuty; - for standard input',
    isFile: true,
  },
} as const;

export const WEBHOOK_ROWS: readonly AnyRow[] = [
  row<Webhook>({
    words: 'webhook add <name> <url>',
    operation: 'createWebhook',
    summary: 'report changes of the alerts of a workspace to an address',
    options: OPTIONS,
    show: ({ name, id }) => `webhook ${printable(name)} ${id} is made; weir webhook test sends it a message`,
  }),
  row<Webhook[]>({
    words: 'webhook ls',
    operation: 'listWebhooks',
    summary: 'list the webhooks of a workspace',
    columns: { NAME: 'name', STYLE: 'style', SECRET: (each) => (each.has_secret ? 'yes' : 'no'), URL: 'url' },
  }),
  row<Webhook & { readonly waiting: boolean; readonly deliveries: ReturnType<typeof deliveryJson>[] }>({
    words: 'webhook show <webhook>',
    operation: 'getWebhook',
    summary: 'show the settings of a webhook and its last deliveries',
    show: ({ deliveries, ...webhook }) =>
      [
        ...Object.entries(webhook).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(12)} ${printable(String(value))}`),
        ...(deliveries.length === 0
          ? []
          : ['', fieldTable(deliveries, { AT: 'at', OUTCOME: 'outcome', STATUS: 'status', MS: 'ms', MESSAGE: 'message', '': 'text' })]),
      ].join('\n'),
  }),
  row<Webhook>({
    words: 'webhook set <webhook>',
    operation: 'changeWebhook',
    summary: 'change the settings of a webhook; those that are not named stay',
    options: {
      ...OPTIONS,
      name: { help: 'another name' },
      url: { help: 'another address; another origin or style needs the secret again' },
    },
    flags: { '--no-secret': 'no longer sign messages' },
    given: ({ options }) => (options.secret === false ? { secret: null } : {}),
    show: ({ name, id }) => `webhook ${printable(name)} ${id} is changed`,
  }),
  row<{ readonly id: string; readonly name: string }>({
    words: 'webhook rm <webhook>',
    operation: 'deleteWebhook',
    summary: 'delete a webhook, with the messages that wait',
    show: ({ name, id }) => `webhook ${printable(name)} ${id} is deleted`,
  }),
  row<Tried>({
    words: 'webhook test <webhook>',
    operation: 'testWebhook',
    summary: 'send one test message; exit code 1 when the receiver does not accept it',
    json(tried, { context }) {
      if (!tried.delivered) context.exitCode = 1;
      return tried;
    },
    show: ({ delivered, status, ms, text }) =>
      delivered
        ? `delivered: ${status} after ${ms} ms`
        : printable(['not delivered:', status, text].filter((each) => each !== null && each !== '').join(' ')),
  }),
];
