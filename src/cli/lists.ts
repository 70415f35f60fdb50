/** `weir list`. */
import type { Command } from 'commander';
import {
  type AccessList,
  descriptionFault,
  LIST_SETTINGS,
  type ListPatch,
  type ListSetting,
  NO_SETTINGS,
  SETTING_FIELDS,
  SETTING_NAMES,
  settingsJson,
} from '../account/list.ts';
import { WeirError } from '../errors.ts';
import type { AddCommand } from './command.ts';
import { findList, table, workspaceId } from './context.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';
import { inWorkspace, oneOf, readName, wholeNumber } from './usage.ts';

const listJson = (list: AccessList) => ({
  id: list.id,
  workspace_id: list.workspaceId,
  name: list.name,
  description: list.description,
  default: list.isDefault,
  ...settingsJson(list),
});

export function listCommands(add: AddCommand): void {
  add('list create <name>', 'make a list', listOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const { description = null, ...settings } = listPatch(options);
      const { maxLists } = context.config;
      return listJson(await store.createList(workspace, readName(name), description, { ...NO_SETTINGS, ...settings }, maxLists));
    },
    show: (list) => `list ${list.name} ${list.id}`,
  });
  add('list set <list>', 'change the stored defaults of a list; an empty value unsets one', listOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const list = await findList(store, workspace, name);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const changed = listJson(await store.updateList(workspace, list.id, listPatch(options)));
      return { ...changed, ...(findCost && { subtraction: await findCost(store, workspace, list.id) }) };
    },
    show: (list) => `list ${list.name} ${list.id} is changed${costSentence(list.subtraction)}`,
  });
  add('list ls', 'list the lists of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      return (await store.directory(await workspaceId(store, options.workspace)))!.lists.map(listJson);
    },
    show: (rows) =>
      table(
        ['ID', 'NAME', 'DEFAULT', ...SETTING_FIELDS.map(heading), 'DESCRIPTION'],
        rows.map((l: Record<string, unknown>) => [
          l.id,
          l.name,
          l.default ? 'yes' : 'no',
          ...SETTING_FIELDS.map((field) => l[field]),
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

/** MAX for max_entries: columns are narrow. */
const heading = (field: string) => field.split('_')[0].toUpperCase();

/** Anything but an empty text, which unsets, is read. Commander takes no null from a parser. */
const orUnset =
  <T>(read: (text: string) => T) =>
  (text: string): T | '' =>
    text === '' ? '' : read(text);

function listOptions(c: Command): Command {
  inWorkspace(c).option('--description <text>', 'shown in the header of feeds whose format has one', orUnset(readDescription));
  for (const setting of Object.values(LIST_SETTINGS)) {
    const option = `--${setting.field.replaceAll('_', '-')}`;
    c.option(`${option} <${setting.value}>`, setting.help, orUnset(settingReader(option, setting)));
  }
  return c;
}

function settingReader(option: string, setting: ListSetting): (text: string) => string | number {
  if ('least' in setting) return wholeNumber(option, setting.least, setting.most);
  const { words, aliases = {} } = setting;
  const read = oneOf(option, words);
  return (text) => read(Object.hasOwn(aliases, text) ? aliases[text] : text);
}

/** What the options set; commander names them as the settings are named. */
function listPatch(options: Record<string, never>): ListPatch {
  const given = ['description', ...SETTING_NAMES].filter((name) => options[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, options[name] === '' ? null : options[name]]));
}

function readDescription(text: string): string {
  const fault = descriptionFault(text);
  if (fault !== null) throw new WeirError('USAGE', `--description ${fault}`);
  return text;
}
