/** `weir key`. */

import type { Command } from 'commander';
import { type KeyPatch, keyNetwork, MOST_NETWORKS } from '../../account/key.ts';
import { PERMISSIONS, type Permission } from '../../account/permission.ts';
import { ROLE_NAMES } from '../../account/role.ts';
import { WeirError } from '../../errors.ts';
import { byCommand } from '../../manage/context.ts';
import { LATELY_WORDS } from '../../manage/devices/recent-use.ts';
import { findFeed, findKeyNamed, findList } from '../../manage/find.ts';
import { changeKey, createKey, keyJson, permissionsGiven, revokeKey } from '../../manage/operations/keys.ts';
import { feedNamesIn } from '../../manage/rules/rule-json.ts';
import type { StoreReads } from '../../ports/store.ts';
import { LIMITS } from '../../signal/limits.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, changesIn, printable, readsIn, table, workspaceIn } from '../context.ts';
import { duration, inWorkspace, oneOf, readName, requireChange } from '../usage.ts';
import { useLines } from './deletions.ts';

const keyCreateOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--permission <permission>', `${PERMISSIONS.join(', ')}; repeatable (default: the first two)`, collectPermission)
    .option('--role <role>', `instead of permissions: ${ROLE_NAMES.join(', ')}`, oneOf('--role', ROLE_NAMES))
    .option('--list <list>', 'bind the key to one list')
    .option('--feed <feed>', 'bind the key to one feed made of lists, which is all that it can read')
    .option('--from <network>', `${FROM}; repeatable (default: from anywhere)`, collectNetwork)
    .option('--name <name>', 'what the key is for', readName)
    .option('--expires-in <duration>', 'lifetime, such as 3600, 12h, 90d', duration('--expires-in', 1, LIMITS.expirySeconds));

const keySetOptions = (c: Command): Command =>
  c
    .option('--workspace <workspace>', 'where the key is named by its name')
    .option('--name <name>', 'what the key is for', readName)
    .option('--from <network>', `${FROM}, in place of those before; repeatable; any ends it`, collectNetworkOrAny);

const keyRevokeOptions = (c: Command): Command =>
  c.option('--workspace <workspace>', 'where the key is named by its name').option('--yes', 'do it without asking');

export function keyCommands(add: AddCommand): void {
  add('key create', 'make an API key; its text is shown once', keyCreateOptions, {
    async run(context, _args, options) {
      const { store, workspace, change } = await changesIn(context, options.workspace);
      const made = await createKey(change, {
        name: options.name ?? null,
        ...permissionsGiven(options.permission, options.role),
        listId: options.list === undefined ? null : (await findList(store, workspace, options.list)).id,
        feedId: options.feed === undefined ? null : (await findFeed(store, workspace, options.feed)).id,
        networks: options.from,
        expiresAt: options.expiresIn === undefined ? null : Date.now() + options.expiresIn * 1000,
      });
      return { ...keyJson(made), key: made.text };
    },
    show: (key) => `key ${key.id}\n${key.key}\nThis is the only time that the key is shown.`,
  });
  add('key set <key>', 'change the name of a key, or the networks that it is good from', keySetOptions, {
    async run(context, [ref], { workspace: given, name, from }) {
      const store = await context.store();
      const { workspace, key } = await keyAnywhere(context, store, ref, given);
      const patch: KeyPatch = { ...(name !== undefined && { name }), ...(from !== undefined && { networks: from }) };
      return keyJson(await changeKey(byCommand(store, workspace, context.author), key.id, requireChange(patch, 'key set')));
    },
    show: ({ id, name }) => `key ${name === null ? '' : `${printable(name)} `}${id} is changed`,
  });
  add('key ls', 'list the keys of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const { feeds } = await feedNamesIn(store, workspace);
      return (await store.keys(workspace)).map((key) => ({ ...keyJson(key), bound_to: feeds.get(key.listId ?? key.feedId ?? '') ?? null }));
    },
    show: (rows) =>
      table(['ID', 'PREFIX', 'NAME', 'ROLE', 'PERMISSIONS', 'BOUND TO', 'FROM', 'EXPIRES', 'REVOKED', 'LAST USED'], rows, (k) => [
        k.id,
        k.prefix || null,
        k.name,
        k.role,
        k.permissions.join(' '),
        k.bound_to ?? k.list_id ?? k.feed_id,
        k.from.join(' ') || null,
        k.expires_at,
        k.revoked_at,
        k.last_used_at,
      ]),
  });
  add('key revoke <key>', 'revoke a key, for good; names who has used it lately (devices, agents, bouncers), and asks', keyRevokeOptions, {
    async run(context, [ref], { workspace: given, yes }) {
      const store = await context.store();
      const { workspace, key } = await keyAnywhere(context, store, ref, given);
      const change = byCommand(store, workspace, context.author);
      const told = await revokeKey(change, key.id, true);
      if (told.pulled.length > 0) {
        await confirm(context, useLines(told, `key ${key.name ?? key.id} was used ${LATELY_WORDS} by`).join('\n'), yes);
      }
      const { id, name } = await revokeKey(change, key.id);
      return { id, name, revoked: true };
    },
    show: ({ id, name }) => `key ${name === null ? '' : `${printable(name)} `}${id} is revoked`,
  });
}

/** The key with an id, of whichever workspace, or with a name in a workspace. */
async function keyAnywhere(context: Context, store: StoreReads, ref: string, given: string | undefined) {
  const known = given === undefined ? await store.workspaceOfKey(ref) : undefined;
  const unknown = () => {
    throw new WeirError('USAGE', `there is no key "${ref}"; a key that is named by its name needs --workspace`);
  };
  const named = () => (given === undefined ? workspaceIn(context, store, given).catch(unknown) : workspaceIn(context, store, given));
  const workspace = known ?? (await named()).id;
  return { workspace, key: await findKeyNamed(store, workspace, ref) };
}

const FROM = 'a network that the key is good from, such as 10.0.0.0/8';

function collectNetwork(text: string, before: string[] = []): string[] {
  const network = keyNetwork(text);
  if (network === undefined) throw new WeirError('USAGE', `--from must be an address or a network, such as 10.0.0.0/8, not "${text}"`);
  const all = [...new Set([...before, network])];
  if (all.length > MOST_NETWORKS) throw new WeirError('USAGE', `--from takes at most ${MOST_NETWORKS} networks`);
  return all;
}

const collectNetworkOrAny = (text: string, before?: string[]): string[] => (text === 'any' ? [] : collectNetwork(text, before));

function collectPermission(text: string, before: Permission[] = []): Permission[] {
  return [...new Set([...before, oneOf('--permission', PERMISSIONS)(text)])];
}
