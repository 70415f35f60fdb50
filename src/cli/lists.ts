/** `weir list`. */
import { type AccessList, NO_SETTINGS, settingsJson } from '../account/list.ts';
import type { AddCommand } from './command.ts';
import { findList, table, workspaceId } from './context.ts';
import { SETTING_HEADINGS, settingCells, settingOptions, settingPatch } from './list-settings.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';
import { inWorkspace, readName } from './usage.ts';

const listJson = (list: AccessList) => ({
  id: list.id,
  workspace_id: list.workspaceId,
  name: list.name,
  description: list.description,
  default: list.isDefault,
  ...settingsJson(list),
});

export function listCommands(add: AddCommand): void {
  add('list create <name>', 'make a list', settingOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const { description = null, ...settings } = settingPatch(options);
      const { maxLists } = context.config;
      return listJson(await store.createList(workspace, readName(name), description, { ...NO_SETTINGS, ...settings }, maxLists));
    },
    show: (list) => `list ${list.name} ${list.id}`,
  });
  add('list set <list>', 'change the stored defaults of a list; an empty value unsets one', settingOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const list = await findList(store, workspace, name);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const changed = listJson(await store.updateList(workspace, list.id, settingPatch(options)));
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
        ['ID', 'NAME', 'DEFAULT', ...SETTING_HEADINGS],
        rows.map((l) => [l.id, l.name, l.default ? 'yes' : 'no', ...settingCells(l)]),
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
