/** `weir list`. */
import { byCommand } from '../../manage/context.ts';
import { findList } from '../../manage/find.ts';
import { changeList, createList, deleteList, listJson } from '../../manage/operations/lists.ts';
import type { AddCommand } from '../command.ts';
import { table, workspaceId } from '../context.ts';
import { inWorkspace, readName, requireChange } from '../usage.ts';
import { SETTING_HEADINGS, settingCells, settingOptions, settingPatch } from './list-settings.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';

export function listCommands(add: AddCommand): void {
  add('list create <name>', 'make a list', settingOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const change = byCommand(store, workspace, context.config);
      return listJson(await createList(change, { ...settingPatch(options), name: readName(name) }));
    },
    show: (list) => `list ${list.name} ${list.id}`,
  });
  add('list set <list>', 'change the stored defaults of a list; an empty value unsets one', settingOptions, {
    async run(context, [name], options) {
      const patch = requireChange(settingPatch(options), 'list set');
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const list = await findList(store, workspace, name);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const changed = listJson(await changeList(byCommand(store, workspace), list.id, patch));
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
      return deleteList(byCommand(store, await workspaceId(store, options.workspace)), name!);
    },
    show: (list) => `list ${list.id} is deleted`,
  });
}
