/** `weir workspace`. */

import type { Command } from 'commander';
import { MOST_PROTECTED, PROTECT_RULE, protectedWord } from '../../account/guard-rails.ts';
import { type GroupRole, MOST_GROUP_ROLES, readGroupRole } from '../../account/person.ts';
import { ROLE_NAMES } from '../../account/role.ts';
import { NO_WORKSPACE_SETTINGS, type WorkspacePatch } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import { byCommand } from '../../manage/context.ts';
import { changeWorkspace, workspaceJson } from '../../manage/operations/workspace.ts';
import type { AddCommand } from '../command.ts';
import { table } from '../context.ts';
import { noOptions, oneOf, pick, readName, requireChange, wholeNumber } from '../usage.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';

const workspaceCreateOptions = (c: Command): Command => c.requiredOption('--org <org>', 'id or name of its organization');

export function workspaceCommands(add: AddCommand): void {
  add('workspace create <name>', 'make a workspace with its default list', workspaceCreateOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const organization = pick(await store.organizations(), options.org, 'organization');
      return workspaceJson(await store.createWorkspace(organization.id, readName(name), context.author));
    },
    show: (workspace) => `workspace ${workspace.name} ${workspace.id}`,
  });
  add('workspace set <workspace>', 'change what is set of a workspace', settingOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = pick(await store.workspaces(), name, 'workspace');
      const patch = requireChange(patchOf(options), 'workspace set');
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const changed = workspaceJson(await changeWorkspace(byCommand(store, workspace.id, context.author), patch));
      return { ...changed, ...(findCost && { subtraction: await findCost(store, workspace.id, null) }) };
    },
    show: (workspace) =>
      `workspace ${workspace.name} ${workspace.id} is changed${costSentence(workspace.subtraction)}; it holds for signals within 2 seconds, for feeds with their next read of the store`,
  });
  add('workspace ls', 'list workspaces', noOptions, {
    async run(context) {
      const store = await context.reads();
      const organizations = new Map((await store.organizations()).map(({ id, name }) => [id, name]));
      const named = (id: string) => ({ organization: organizations.get(id) ?? null });
      return (await store.workspaces()).map((each) => ({ ...workspaceJson(each), ...named(each.organizationId) }));
    },
    show: (rows) =>
      table(['ID', 'NAME', 'ORGANIZATION', 'PROTECT', 'MIN V4', 'MIN V6', 'SUBTRACT', 'PEOPLE'], rows, (w) => [
        w.id,
        w.name,
        w.organization ?? w.organization_id,
        w.protect.join(',') || '-',
        w.min_prefix_v4,
        w.min_prefix_v6,
        w.subtract_allow,
        w.people.join(' ') || null,
      ]),
  });
}

const settingOptions = (c: Command): Command =>
  c
    .option(
      '--protect <networks>',
      'all networks that no block may reach, in place of those before: separated by commas, also private, special, self; none ends it',
      readProtect,
    )
    .option('--min-prefix-v4 <length>', 'shortest prefix of an IPv4 block; 0 = any', wholeNumber('--min-prefix-v4', 0, 32))
    .option('--min-prefix-v6 <length>', 'shortest prefix of an IPv6 block; 0 = any', wholeNumber('--min-prefix-v6', 0, 128))
    .option(
      '--subtract-allow <on|off>',
      "cut never-block rules out of the workspace's block feed",
      oneOf('--subtract-allow', ['on', 'off']),
    )
    .option(
      '--people <role=group>',
      `what the members of a group may do, in place of all rows before: ${ROLE_NAMES.join(', ')}, such as operator=soc or operator@provider=soc; repeatable; none ends it`,
      collectPeople,
    );

/** What the options set; commander names them as the settings are named. */
function patchOf(options: Record<string, never>): WorkspacePatch {
  const given = Object.keys(NO_WORKSPACE_SETTINGS).filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name]]));
}

function collectPeople(text: string, before: GroupRole[] = []): GroupRole[] {
  if (text === 'none') return [];
  const row = readGroupRole(text);
  if (row === undefined) throw new WeirError('USAGE', `--people must be a role and a group, such as operator=soc, not "${text}"`);
  if (before.length === MOST_GROUP_ROLES) throw new WeirError('USAGE', `--people takes at most ${MOST_GROUP_ROLES} rows`);
  return [...before, row];
}

function readProtect(text: string): string[] {
  if (text === '' || text === 'none') return [];
  const words = text.split(',').map((part) => protectedWord(part.trim()));
  if (words.includes(undefined)) throw new WeirError('USAGE', `--protect must be none or ${PROTECT_RULE}, not "${text}"`);
  const known = [...new Set(words as string[])];
  if (known.length > MOST_PROTECTED) throw new WeirError('USAGE', `--protect takes at most ${MOST_PROTECTED} networks`);
  return known;
}
