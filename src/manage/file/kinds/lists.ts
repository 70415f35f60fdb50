/** Without the lists of sources. */
import { LIST_SETTINGS, NO_SETTINGS, settingsJson } from '../../../account/list.ts';
import { SETTABLE, settingsPatch } from '../../operations/settings.ts';
import { call, type Entry, fileKind } from '../kind.ts';

type Settings = Parameters<typeof settingsPatch>[1];

/** Absent fields keep the value of `before`, or are unset. */
export function settingsWanted(given: Entry, before: Entry = {}, settings: NonNullable<Settings> = LIST_SETTINGS): Entry {
  const patch = settingsPatch(given, settings) as Entry;
  return Object.fromEntries(
    Object.entries(settings).map(([name, { field }]) => [field, (given[field] === undefined ? before[field] : patch[name]) ?? null]),
  );
}

export const LIST_KIND = fileKind({
  section: 'lists',
  word: 'list',
  about: 'Lists and the settings of their feeds. The list of a source is configured with the source.',
  fields: SETTABLE,
  names: 'list',
  loss: 'list',
  things: ({ lists }) =>
    lists
      .filter(({ sourceId }) => sourceId === null)
      .map((list) => ({ id: list.id, name: list.name, entry: settingsJson(list), row: list, stays: list.isDefault })),
  wanted: (given, before, { prune }) => settingsWanted(given, prune ? undefined : before?.entry),
  core: () => ({}),
  add: ({ given, entry }, id, { workspaceId, by, most }) => [
    call('createList', workspaceId, String(given.name), { ...NO_SETTINGS, ...settingsPatch(entry) }, most.maxLists, { by, id }),
  ],
  change: ({ id }, { entry }, { workspaceId, by }) => [call('updateList', workspaceId, id, settingsPatch(entry), { by })],
  remove: ({ id }, { workspaceId, by }) => [call('deleteList', workspaceId, id, { by })],
});
