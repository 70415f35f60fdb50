/** `weir key`. */

import { PERMISSIONS, type Permission } from '../../account/permission.ts';
import { WeirError } from '../../errors.ts';
import { byCommand } from '../../manage/context.ts';
import { findFeed, findList } from '../../manage/find.ts';
import { createKey, keyJson } from '../../manage/operations/keys.ts';
import type { Device } from '../../ports/devices.ts';
import type { StoreReads } from '../../ports/store.ts';
import { LIMITS } from '../../signal/limits.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { table, workspaceId } from '../context.ts';
import { allDevices, deviceLine } from '../state/devices.ts';
import { inWorkspace, oneOf, readName, wholeNumber } from '../usage.ts';

export function keyCommands(add: AddCommand): void {
  add(
    'key create',
    'make an API key; its text is shown once',
    (c) =>
      inWorkspace(c)
        .option('--permission <permission>', `${PERMISSIONS.join(', ')}; repeatable (default: the first two)`, collectPermission)
        .option('--list <list>', 'bind the key to one list')
        .option('--feed <feed>', 'bind the key to one feed made of lists, which is all that it can read')
        .option('--name <name>', 'what the key is for', readName)
        .option('--expires-in <seconds>', 'lifetime in seconds', wholeNumber('--expires-in', 1, LIMITS.expirySeconds)),
    {
      async run(context, _args, options) {
        const store = await context.store();
        const workspace = await workspaceId(store, options.workspace);
        const made = await createKey(byCommand(store, workspace, context.config), {
          name: options.name ?? null,
          permissions: options.permission,
          listId: options.list === undefined ? null : (await findList(store, workspace, options.list)).id,
          feedId: options.feed === undefined ? null : (await findFeed(store, workspace, options.feed)).id,
          expiresAt: options.expiresIn === undefined ? null : Date.now() + options.expiresIn * 1000,
        });
        return { ...keyJson(made), key: made.text };
      },
      show: (key) => `key ${key.id}\n${key.key}\nThis is the only time that the key is shown.`,
    },
  );
  add('key ls', 'list the keys of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await store.keys(await workspaceId(store, options.workspace))).map(keyJson);
    },
    show: (rows) =>
      table(
        ['ID', 'PREFIX', 'NAME', 'PERMISSIONS', 'BOUND TO', 'EXPIRES', 'REVOKED', 'LAST USED'],
        rows.map((k) => [
          k.id,
          k.prefix || null,
          k.name,
          k.permissions.join(' '),
          k.list_id ?? k.feed_id,
          k.expires_at,
          k.revoked_at,
          k.last_used_at,
        ]),
      ),
  });
  add(
    'key revoke <id>',
    'revoke a key, for good; names the devices that have used it lately, and asks',
    (c) => c.option('--yes', 'do it without asking'),
    {
      async run(context, [id], { yes }) {
        const store = await context.store();
        const used = yes ? [] : await recentDevices(store, id);
        if (used.length > 0) await confirm(context, usedBy(id, used), yes);
        if (!(await store.revokeKey(id))) throw new WeirError('USAGE', `there is no key "${id}"`);
        return { id, revoked: true };
      },
      show: (key) => `key ${key.id} is revoked`,
    },
  );
}

/** A device that has pulled within this time is one that uses its key, ms. */
const LATELY = 600_000;
/** Devices that are named. */
const NAMED = 20;

/** The devices that have used a key in the last ten minutes. */
async function recentDevices(store: StoreReads, keyId: string): Promise<Device[]> {
  const workspace = await store.workspaceOfKey(keyId);
  return workspace === undefined ? [] : allDevices(store, workspace, { keyId, since: (await store.ping()) - LATELY });
}

function usedBy(id: string, devices: readonly Device[]): string {
  const lines = devices.slice(0, NAMED).map(deviceLine);
  const others = devices.length > NAMED ? [`  and ${devices.length - NAMED} others`] : [];
  return [`key ${id} was used in the last ten minutes by`, ...lines, ...others].join('\n');
}

function collectPermission(text: string, before: Permission[] = []): Permission[] {
  return [...new Set([...before, oneOf('--permission', PERMISSIONS)(text)])];
}
