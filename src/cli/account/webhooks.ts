/** `weir webhook`: where a workspace is told what changes of what needs attention (SPEC D27). */
import type { Command } from 'commander';
import { WEBHOOK_STYLES, type WebhookStyle } from '../../account/webhook.ts';
import { systemClock } from '../../clock.ts';
import { sourceReach } from '../../fetch/reach.ts';
import type { ChangeContext } from '../../manage/context.ts';
import { deliveryJson, webhookJson } from '../../manage/webhooks/webhook-json.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  testWebhook,
  triedJson,
  type WebhookChangeContext,
  webhookWithDeliveries,
} from '../../manage/webhooks/webhooks.ts';
import { sendPortsOf } from '../../runtime/webhooks/sending.ts';
import type { AddCommand } from '../command.ts';
import { type Context, changesIn, fieldTable, printable, readsIn, table } from '../context.ts';
import { readSecretFile } from '../sources/options.ts';
import { inWorkspace, oneOf, readName, requireChange } from '../usage.ts';

interface Options {
  readonly workspace: string;
  readonly name?: string;
  readonly url?: string;
  readonly style?: WebhookStyle;
  /** false: --no-secret. */
  readonly secretFile?: string;
  readonly secret?: false | true;
}

const webhookChange = (change: ChangeContext, { config }: Context): WebhookChangeContext => ({
  ...change,
  secretKeys: config.secretsKey,
  webhookReach: sourceReach(config.webhookNetworks, config.nat64Prefixes),
});

const settable = (c: Command): Command =>
  inWorkspace(c)
    .option('--style <style>', `how messages are written: ${WEBHOOK_STYLES.join(', ')}`, oneOf('--style', WEBHOOK_STYLES))
    .option('--secret-file <file>', 'file with what messages are signed with, or with the routing key of PagerDuty; - for standard input');

const given = async ({ name, url, style, secretFile, secret }: Options) => ({
  ...(name !== undefined && { name }),
  ...(url !== undefined && { url }),
  ...(style !== undefined && { style }),
  ...(secret === false && { secret: null }),
  ...(secretFile !== undefined && { secret: await readSecretFile(secretFile) }),
});

export function webhookCommands(add: AddCommand): void {
  add('webhook add <name> <url>', 'tell an address what changes of what needs attention of a workspace', settable, {
    async run(context, [name, url], options: Options) {
      const { change } = await changesIn(context, options.workspace);
      return webhookJson(
        await createWebhook(webhookChange(change, context), { ...(await given(options)), name: readName(name!), url: url! }),
      );
    },
    show: ({ name, id }) => `webhook ${printable(name)} ${id} is made; weir webhook test sends it a message`,
  });
  add('webhook ls', 'list the webhooks of a workspace', inWorkspace, {
    async run(context, _args, options: Options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      return (await store.webhooks(workspace)).map(webhookJson);
    },
    show: (rows) => table(['NAME', 'STYLE', 'SECRET', 'URL'], rows, (row) => [row.name, row.style, row.has_secret ? 'yes' : 'no', row.url]),
  });
  add('webhook show <webhook>', 'tell what is set of a webhook, and what became of its last messages', inWorkspace, {
    async run(context, [ref], options: Options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const { webhook, deliveries, isWaiting } = await webhookWithDeliveries(store, workspace, ref!);
      return { ...webhookJson(webhook), waiting: isWaiting, deliveries: deliveries.map(deliveryJson) };
    },
    show: ({ deliveries, ...webhook }) =>
      [
        ...Object.entries(webhook).map(([name, value]) => `${name.replaceAll('_', ' ').padEnd(12)} ${printable(String(value))}`),
        ...(deliveries.length === 0
          ? []
          : ['', fieldTable(deliveries, { AT: 'at', OUTCOME: 'outcome', STATUS: 'status', MS: 'ms', MESSAGE: 'message', '': 'text' })]),
      ].join('\n'),
  });
  add(
    'webhook set <webhook>',
    'change what is set of a webhook; what is not named stays',
    (c) =>
      settable(c)
        .option('--name <name>', 'another name', readName)
        .option('--url <url>', 'another address; another origin needs the secret again, as another style does')
        .option('--no-secret', 'messages are not signed any more'),
    {
      async run(context, [ref], options: Options) {
        const patch = requireChange(await given(options), 'webhook set');
        const { change } = await changesIn(context, options.workspace);
        return webhookJson(await changeWebhook(webhookChange(change, context), ref!, patch));
      },
      show: ({ name, id }) => `webhook ${printable(name)} ${id} is changed`,
    },
  );
  add('webhook rm <webhook>', 'delete a webhook, with what waits to be sent', inWorkspace, {
    async run(context, [ref], options: Options) {
      const { change } = await changesIn(context, options.workspace);
      const { id, name } = await deleteWebhook(change, ref!);
      return { id, name, deleted: true };
    },
    show: ({ name, id }) => `webhook ${printable(name)} ${id} is deleted`,
  });
  add('webhook test <webhook>', 'send a message that says that it is a test, once; exit code 1 where it is not taken', inWorkspace, {
    async run(context, [ref], options: Options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const tried = await testWebhook(store, workspace, ref!, sendPortsOf(context.config, systemClock));
      if (!tried.isDelivered) context.exitCode = 1;
      return triedJson(tried);
    },
    show: ({ delivered, status, ms, text }) =>
      delivered
        ? `delivered: ${status} after ${ms} ms`
        : printable(['not delivered:', status, text].filter((each) => each !== null && each !== '').join(' ')),
  });
}
