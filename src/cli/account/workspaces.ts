/** `weir workspace`. */

import type { Command } from 'commander';
import { MOST_PROTECTED, PROTECT_RULE, protectedWord } from '../../account/guard-rails.ts';
import { type GroupRole, MOST_GROUP_ROLES, readGroupRole } from '../../account/person.ts';
import { ROLE_NAMES } from '../../account/role.ts';
import { stateTag } from '../../account/tag.ts';
import { NO_WORKSPACE_SETTINGS, type WorkspacePatch, workspaceSettingsJson } from '../../account/workspace.ts';
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
      const protect = protectGiven(options, workspace.protect);
      const patch = requireChange({ ...patchOf(options), ...(protect && { protect }) }, 'workspace set');
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      // What is added to must still be what was read.
      const ifMatch = protect && [stateTag(workspaceSettingsJson(workspace))];
      const changed = workspaceJson(await changeWorkspace({ ...byCommand(store, workspace.id, context.author), ifMatch }, patch));
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
      readProtect('--protect'),
    )
    .option('--protect-add <networks>', 'networks or names to protect besides those before', readProtect('--protect-add'))
    .option('--protect-remove <networks>', 'networks or names to protect no more', readProtect('--protect-remove'))
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

const readProtect =
  (option: string) =>
  (text: string): string[] => {
    if (option === '--protect' && (text === '' || text === 'none')) return [];
    const words = text.split(',').map((part) => protectedWord(part.trim()));
    const none = option === '--protect' ? 'none or ' : '';
    if (words.includes(undefined)) throw new WeirError('USAGE', `${option} must be ${none}${PROTECT_RULE}, not "${text}"`);
    return atMost(option, [...new Set(words as string[])]);
  };

function atMost(option: string, words: string[]): string[] {
  if (words.length > MOST_PROTECTED) throw new WeirError('USAGE', `${option} takes at most ${MOST_PROTECTED} networks`);
  return words;
}

interface ProtectOptions {
  readonly protect?: readonly string[];
  readonly protectAdd?: readonly string[];
  readonly protectRemove?: readonly string[];
}

/** What is protected once some was added to what was, and some removed; undefined where neither is asked for. */
function protectGiven({ protect, protectAdd, protectRemove }: ProtectOptions, before: readonly string[]): string[] | undefined {
  if (protectAdd === undefined && protectRemove === undefined) return undefined;
  if (protect !== undefined) throw new WeirError('USAGE', 'give --protect, or --protect-add and --protect-remove');
  const unknown = protectRemove?.find((word) => !before.includes(word));
  if (unknown !== undefined)
    throw new WeirError('USAGE', `--protect-remove: ${unknown} is not protected by itself; protected are: ${before.join(', ') || 'none'}`);
  return atMost(
    '--protect-add',
    [...new Set([...before, ...(protectAdd ?? [])])].filter((word) => !protectRemove?.includes(word)),
  );
}
