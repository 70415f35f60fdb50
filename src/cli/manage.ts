/** Organizations, workspaces, keys and lists on the command line. */

import type { Command } from 'commander';
import { type KeyInfo, keyParts, newKeyText } from '../account/key.ts';
import type { AccessList, ListSettings } from '../account/list.ts';
import { type Organization, SUBSCRIPTIONS } from '../account/organization.ts';
import { PERMISSIONS, type Permission } from '../account/permission.ts';
import type { Workspace } from '../account/workspace.ts';
import { WeirError } from '../errors.ts';
import { FORMAT_NAMES, formatOf } from '../feed/formats/table.ts';
import { FAMILIES } from '../feed/variant.ts';
import { ACCESS_ACTIONS, LEVELS } from '../rule.ts';
import type { AddCommand } from './command.ts';
import { findList, isoTime, table, workspaceId } from './context.ts';
import { checkName, oneOf, pick, wholeNumber } from './usage.ts';

const organizationJson = ({ id, name, subscription, createdAt }: Organization) => ({
  id,
  name,
  subscription,
  created_at: isoTime(createdAt),
});
const workspaceJson = ({ id, organizationId, name, createdAt }: Workspace) => ({
  id,
  organization_id: organizationId,
  name,
  created_at: isoTime(createdAt),
});
const keyJson = (key: KeyInfo) => ({
  id: key.id,
  prefix: key.prefix,
  name: key.name,
  permissions: key.permissions,
  workspace_id: key.workspaceId,
  list_id: key.listId,
  created_at: isoTime(key.createdAt),
  expires_at: isoTime(key.expiresAt),
  revoked_at: isoTime(key.revokedAt),
  last_used_at: isoTime(key.lastUsedAt),
});
const listJson = (list: AccessList) => ({
  id: list.id,
  workspace_id: list.workspaceId,
  name: list.name,
  description: list.description,
  default: list.isDefault,
  format: list.format,
  family: list.family,
  action: list.action,
  max_entries: list.maxEntries,
  confidence: list.confidence,
  severity: list.severity,
});

export function manageCommands(add: AddCommand): void {
  const subscription = oneOf('--subscription', SUBSCRIPTIONS);
  add(
    'org create <name>',
    'make an organization',
    (c) => c.option('--subscription <state>', SUBSCRIPTIONS.join(' or '), subscription, 'active'),
    {
      async run(context, [name], options) {
        return organizationJson(await (await context.store()).createOrganization(checkName(name), options.subscription));
      },
      show: (org) => `organization ${org.name} ${org.id}`,
    },
  );
  add(
    'org set <org>',
    'change an organization',
    (c) => c.requiredOption('--subscription <state>', SUBSCRIPTIONS.join(' or '), subscription),
    {
      async run(context, [org], options) {
        const store = await context.store();
        const organization = pick(await store.organizations(), org, 'organization');
        await store.setSubscription(organization.id, options.subscription);
        return organizationJson({ ...organization, subscription: options.subscription });
      },
      show: (org) => `organization ${org.name}: subscription ${org.subscription}`,
    },
  );
  add('org ls', 'list organizations', plain, {
    run: async (context) => (await (await context.store()).organizations()).map(organizationJson),
    show: (rows) =>
      table(
        ['ID', 'NAME', 'SUBSCRIPTION'],
        rows.map((o) => [o.id, o.name, o.subscription]),
      ),
  });

  add(
    'workspace create <name>',
    'make a workspace with its default list',
    (c) => c.requiredOption('--org <org>', 'id or name of its organization'),
    {
      async run(context, [name], options) {
        const store = await context.store();
        const organization = pick(await store.organizations(), options.org, 'organization');
        return workspaceJson(await store.createWorkspace(organization.id, checkName(name)));
      },
      show: (workspace) => `workspace ${workspace.name} ${workspace.id}`,
    },
  );
  add('workspace ls', 'list workspaces', plain, {
    run: async (context) => (await (await context.store()).workspaces()).map(workspaceJson),
    show: (rows) =>
      table(
        ['ID', 'NAME', 'ORGANIZATION'],
        rows.map((w) => [w.id, w.name, w.organization_id]),
      ),
  });

  add(
    'key create',
    'make an API key; its text is shown once',
    (c) =>
      inWorkspace(c)
        .option('--permission <permission>', `${PERMISSIONS.join(', ')}; repeatable (default: the first two)`, collectPermission)
        .option('--list <list>', 'bind the key to one list')
        .option('--name <name>', 'what the key is for', checkName)
        .option('--expires-in <seconds>', 'lifetime in seconds', wholeNumber('--expires-in', 1, 3_155_760_000)),
    {
      async run(context, _args, options) {
        const store = await context.store();
        const workspace = await workspaceId(store, options.workspace);
        const permissions: readonly Permission[] = options.permission ?? PERMISSIONS.slice(0, 2);
        const list = options.list === undefined ? null : await findList(store, workspace, options.list);
        if (list !== null && permissions.includes('manage'))
          throw new WeirError('USAGE', 'a key that is bound to a list cannot hold manage');
        const text = newKeyText();
        const expiresAt = options.expiresIn === undefined ? null : Date.now() + options.expiresIn * 1000;
        const key = await store.createKey(workspace, {
          ...keyParts(text),
          permissions,
          listId: list?.id ?? null,
          name: options.name ?? null,
          expiresAt,
        });
        return { ...keyJson(key), key: text };
      },
      show: (key) => `key ${key.id}\n${key.key}\nThis is the only time that the key is shown.`,
    },
  );
  add('key ls', 'list the keys of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.store();
      return (await store.keys(await workspaceId(store, options.workspace))).map(keyJson);
    },
    show: (rows) =>
      table(
        ['ID', 'PREFIX', 'NAME', 'PERMISSIONS', 'LIST', 'EXPIRES', 'REVOKED', 'LAST USED'],
        rows.map((k) => [k.id, k.prefix, k.name, k.permissions.join(' '), k.list_id, k.expires_at, k.revoked_at, k.last_used_at]),
      ),
  });
  add('key revoke <id>', 'revoke a key, for good', plain, {
    async run(context, [id]) {
      if (!(await (await context.store()).revokeKey(id))) throw new WeirError('USAGE', `there is no key "${id}"`);
      return { id, revoked: true };
    },
    show: (key) => `key ${key.id} is revoked`,
  });

  add('list create <name>', 'make a list', listOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const { description, ...settings } = listSettings(options);
      return listJson(await store.createList(workspace, checkName(name), description ?? null, { ...UNSET, ...settings }));
    },
    show: (list) => `list ${list.name} ${list.id}`,
  });
  add('list set <list>', 'change the stored defaults of a list; an empty value unsets one', listOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const list = await findList(store, workspace, name);
      return listJson(await store.updateList(workspace, list.id, listSettings(options)));
    },
    show: (list) => `list ${list.name} ${list.id} is changed`,
  });
  add('list ls', 'list the lists of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.store();
      return (await store.directory(await workspaceId(store, options.workspace)))!.lists.map(listJson);
    },
    show: (rows) =>
      table(
        ['ID', 'NAME', 'DEFAULT', 'FORMAT', 'FAMILY', 'ACTION', 'MAX', 'CONFIDENCE', 'SEVERITY', 'DESCRIPTION'],
        rows.map((l) => [
          l.id,
          l.name,
          l.default ? 'yes' : 'no',
          l.format,
          l.family,
          l.action,
          l.max_entries,
          l.confidence,
          l.severity,
          l.description,
        ]),
      ),
  });
  add('list delete <list>', 'delete a list with its rules; keys bound to it are revoked', inWorkspace, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const list = await findList(store, workspace, name);
      await store.deleteList(workspace, list.id);
      return { id: list.id, deleted: true };
    },
    show: (list) => `list ${list.id} is deleted`,
  });
}

const plain = (c: Command) => c;
const inWorkspace = (c: Command) => c.requiredOption('--workspace <workspace>', 'id or unique name of the workspace');

const UNSET: ListSettings = { format: null, family: null, action: null, maxEntries: null, confidence: null, severity: null };

/** Anything but an empty text, which unsets, is read. Commander takes no null from a parser. */
const orUnset =
  <T>(read: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? '' : read(text);

function listOptions(c: Command): Command {
  return inWorkspace(c)
    .option('--description <text>', 'shown in the header of feeds whose format has one', orUnset(checkDescription))
    .option('--format <format>', FORMAT_NAMES.join(', '), orUnset(checkFormat))
    .option('--family <family>', FAMILIES.join(', '), orUnset(oneOf('--family', FAMILIES)))
    .option('--action <action>', ACCESS_ACTIONS.join(' or '), orUnset(oneOf('--action', ACCESS_ACTIONS)))
    .option('--max-entries <count>', 'entry cap of the feed', orUnset(wholeNumber('--max-entries', 1, 4_000_000)))
    .option('--confidence <level>', LEVELS.join(', '), orUnset(oneOf('--confidence', LEVELS)))
    .option('--severity <level>', LEVELS.join(', '), orUnset(oneOf('--severity', LEVELS)));
}

function listSettings(options: Record<string, never>): Partial<ListSettings> & { description?: string | null } {
  const names = ['description', 'format', 'family', 'action', 'maxEntries', 'confidence', 'severity'];
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name] === '' ? null : options[name]]),
  );
}

function checkFormat(text: string): string {
  const format = formatOf(text);
  if (format === undefined) throw new WeirError('USAGE', `--format must be one of: ${FORMAT_NAMES.join(', ')}`);
  return format;
}

function checkDescription(text: string): string {
  if ([...text].length > 2048) throw new WeirError('USAGE', '--description has at most 2048 characters');
  return text;
}

function collectPermission(text: string, before: Permission[] = []): Permission[] {
  return [...new Set([...before, oneOf('--permission', PERMISSIONS)(text)])];
}
