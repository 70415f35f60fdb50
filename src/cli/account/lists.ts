/** `weir list`. */
import { findList } from '../../manage/find.ts';
import { changeList, createList, listJson } from '../../manage/operations/lists.ts';
import type { AddCommand } from '../command.ts';
import { changesIn, readsIn, table } from '../context.ts';
import { inWorkspace, readName, requireChange } from '../usage.ts';
import { deletionCommands } from './deletions.ts';
import { SETTING_HEADINGS, settingCells, settingOptions, settingPatch, targetSentence } from './list-settings.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';

export function listCommands(add: AddCommand): void {
  add('list create <name>', 'make a list', settingOptions, {
    async run(context, [name], options) {
      const { change } = await changesIn(context, options.workspace);
      return listJson(await createList(change, { ...settingPatch(options), name: readName(name) }));
    },
    show: (list) => `list ${list.name} ${list.id}${targetSentence(list)}`,
  });
  add('list set <list>', 'change the stored defaults of a list; an empty value unsets one', settingOptions, {
    async run(context, [name], options) {
      const patch = requireChange(settingPatch(options), 'list set');
      const { store, workspace, change } = await changesIn(context, options.workspace);
      const list = await findList(store, workspace, name);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const changed = listJson(await changeList(change, list.id, patch));
      return { ...changed, ...(findCost && { subtraction: await findCost(store, workspace, list.id) }) };
    },
    show: (list) => `list ${list.name} ${list.id} is changed${costSentence(list.subtraction)}${targetSentence(list)}`,
  });
  add('list ls', 'list the lists of a workspace', inWorkspace, {
    async run(context, _args, options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const shown = [];
      for (const list of (await store.directory(workspace))!.lists) {
        shown.push({ ...listJson(list), rules: await store.countListRules(workspace, list.id, Number.MAX_SAFE_INTEGER) });
      }
      return shown;
    },
    show: (rows) =>
      table(['ID', 'NAME', 'RULES', 'DEFAULT', 'SOURCE', ...SETTING_HEADINGS], rows, (l) => [
        l.id,
        l.name,
        l.rules,
        l.default ? 'yes' : 'no',
        l.source_id === null ? 'no' : 'yes',
        ...settingCells(l),
      ]),
  });
  deletionCommands(add, 'list', 'delete a list with its rules; keys bound to it are revoked');
}
