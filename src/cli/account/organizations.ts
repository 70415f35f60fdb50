import { type Organization, SUBSCRIPTIONS } from '../../account/workspace.ts';
import { isoTime } from '../../clock.ts';
import type { AddCommand } from '../command.ts';
import { fieldTable } from '../context.ts';
import { noOptions, oneOf, pick, readName } from '../usage.ts';

const organizationJson = ({ id, name, subscription, createdAt }: Organization) => ({
  id,
  name,
  subscription,
  created_at: isoTime(createdAt),
});

const SUBSCRIPTION = ['--subscription <state>', SUBSCRIPTIONS.join(' or '), oneOf('--subscription', SUBSCRIPTIONS)] as const;

export function organizationCommands(add: AddCommand): void {
  add('org create <name>', 'make an organization', (c) => c.option(...SUBSCRIPTION, 'active'), {
    run: async (context, [name], options) =>
      organizationJson(await (await context.store()).createOrganization(readName(name), options.subscription, context.author)),
    show: (org) => `organization ${org.name} ${org.id}`,
  });
  add('org set <org>', 'change an organization', (c) => c.requiredOption(...SUBSCRIPTION), {
    async run(context, [org], options) {
      const store = await context.store();
      const organization = pick(await store.organizations(), org, 'organization');
      await store.setSubscription(organization.id, options.subscription, context.author);
      return organizationJson({ ...organization, subscription: options.subscription });
    },
    show: (org) => `organization ${org.name}: subscription ${org.subscription}`,
  });
  add('org ls', 'list organizations', noOptions, {
    run: async (context) => (await (await context.reads()).organizations()).map(organizationJson),
    show: (rows) => fieldTable(rows, { ID: 'id', NAME: 'name', SUBSCRIPTION: 'subscription' }),
  });
}
