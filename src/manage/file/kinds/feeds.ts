import { FEED_SETTINGS, type FeedPatch, feedSettingsJson, makingJson, NO_MAKING } from '../../../account/feed.ts';
import { NO_SETTINGS } from '../../../account/list.ts';
import { fieldFault } from '../../operation.ts';
import { MAKING, requireMaking } from '../../operations/feeds.ts';
import { settingsPatch } from '../../operations/settings.ts';
import { call, type Doing, type Entry, fileKind, isSame } from '../kind.ts';
import { settingsWanted } from './lists.ts';

/** Absent fields keep their value. */
function membersWanted(given: Entry, before: Entry | undefined, prune: boolean): Entry {
  const { lists, all_lists: all, always: enough } = given as { lists?: string[]; all_lists?: boolean; always?: string[] };
  if (all === true && lists !== undefined) throw fieldFault('lists', 'cannot be combined with all_lists');
  if (all !== true && lists === undefined && (before === undefined || all === false))
    throw fieldFault('lists', 'is required unless all_lists is true');
  const isAll = all ?? (lists === undefined && before?.all_lists === true);
  const own = isAll ? [] : [...new Set(lists ?? (before?.lists as string[]))];
  const always = [...new Set(enough ?? (prune ? [] : ((before?.always ?? []) as string[])))];
  const other = isAll ? undefined : always.find((name) => !own.includes(name));
  if (other !== undefined && enough !== undefined) throw fieldFault('always', `names "${other}", which is not a list of the feed`);
  return { all_lists: isAll, lists: own, always: isAll ? always : own.filter((name) => always.includes(name)) };
}

const membersIn = ({ all_lists: all, lists, always }: Entry, { listId }: Doing) => ({
  lists: all === true ? null : (lists as string[]).map(listId),
  always: (always as string[]).map(listId),
});

/** Writes lists only if they changed. */
const patchOf = (before: Entry, entry: Entry, doing: Doing): FeedPatch => ({
  ...settingsPatch(entry, FEED_SETTINGS),
  ...(['all_lists', 'lists', 'always'].every((field) => isSame(before[field], entry[field])) ? {} : membersIn(entry, doing)),
});

export const FEED_KIND = fileKind({
  section: 'feeds',
  word: 'feed',
  about: 'Feeds made of several lists, or of all of them.',
  fields: MAKING,
  names: 'feed',
  refers: { lists: 'list', always: 'list' },
  loss: 'composed',
  things({ feeds, lists }) {
    const names = new Map(lists.map(({ id, name }) => [id, name]));
    const named = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
    return feeds.map((feed) => {
      const { always, ...making } = makingJson(feed);
      const members = { all_lists: feed.lists === null, lists: named(feed.lists ?? []), always: named(always) };
      return { id: feed.id, name: feed.name, entry: { ...members, ...feedSettingsJson(feed), ...making }, row: feed };
    });
  },
  wanted(given, before, { prune }) {
    const members = membersWanted(given, before?.entry, prune);
    const settings = settingsWanted(given, prune ? undefined : before?.entry, FEED_SETTINGS);
    const [lists, always] = [members.lists, members.always] as [string[], string[]];
    requireMaking({ lists: members.all_lists === true ? null : lists, minSources: settings.min_sources as number | null, always });
    return { ...members, ...settings };
  },
  core: ({ all_lists: all, lists }) => (all === true ? { all_lists: all } : { lists }),
  add: ({ given, entry }, id, doing) => [
    call(
      'createFeed',
      doing.workspaceId,
      { ...NO_SETTINGS, ...NO_MAKING, ...settingsPatch(entry, FEED_SETTINGS), name: String(given.name), ...membersIn(entry, doing) },
      { by: doing.by, id, most: doing.most.maxFeeds },
    ),
  ],
  change: ({ id, entry: before }, { entry }, doing) => [
    call('updateFeed', doing.workspaceId, id, patchOf(before, entry, doing), { by: doing.by }),
  ],
  remove: ({ id }, { workspaceId, by }) => [call('deleteFeed', workspaceId, id, { by })],
});
