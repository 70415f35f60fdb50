/** Feeds made of lists, in the file of a workspace. */
import { NO_SETTINGS, settingsJson } from '../../../account/list.ts';
import { fieldFault } from '../../operation.ts';
import { MEMBERS } from '../../operations/feeds.ts';
import { SETTABLE, settingsPatch } from '../../operations/settings.ts';
import { call, type Doing, type Entry, fileKind } from '../kind.ts';
import { settingsWanted } from './lists.ts';

const members = (lists: readonly string[] | null): Entry => ({ all_lists: lists === null, lists: lists?.toSorted() ?? [] });

/** Which lists it is of; what is not said is as before. */
function membersWanted({ lists, all_lists: all }: Entry, before: Entry | undefined): Entry {
  if (all === true && lists !== undefined) throw fieldFault('lists', 'must not be given beside all_lists');
  if (all === true) return members(null);
  if (lists !== undefined) return members([...new Set(lists as string[])]);
  if (before !== undefined && all === undefined) return { all_lists: before.all_lists, lists: before.lists };
  throw fieldFault('lists', 'is required, or all_lists: true');
}

const membersIn = ({ all_lists: all, lists }: Entry, { listId }: Doing) => (all === true ? null : (lists as string[]).map(listId));

export const FEED_KIND = fileKind({
  section: 'feeds',
  word: 'feed',
  about: 'Feeds made of several lists, or of all of them.',
  fields: { ...MEMBERS, ...SETTABLE },
  names: 'feed',
  refers: { lists: 'list' },
  loss: 'composed',
  things({ feeds, lists }) {
    const names = new Map(lists.map(({ id, name }) => [id, name]));
    return feeds.map((feed) => {
      const own = feed.lists === null ? null : feed.lists.map((id) => names.get(id) ?? id);
      return { id: feed.id, name: feed.name, entry: { ...members(own), ...settingsJson(feed) }, row: feed };
    });
  },
  wanted: (given, before, { prune }) => ({
    ...membersWanted(given, before?.entry),
    ...settingsWanted(given, prune ? undefined : before?.entry),
  }),
  core: ({ all_lists: all, lists }) => (all === true ? { all_lists: all } : { lists }),
  add: ({ given, entry }, id, doing) => [
    call(
      'createFeed',
      doing.workspaceId,
      { ...NO_SETTINGS, ...settingsPatch(entry), name: String(given.name), lists: membersIn(entry, doing) },
      { by: doing.by, id, most: doing.most.maxFeeds },
    ),
  ],
  change: ({ id }, { entry }, doing) => [
    call('updateFeed', doing.workspaceId, id, { ...settingsPatch(entry), lists: membersIn(entry, doing) }, { by: doing.by }),
  ],
  remove: ({ id }, { workspaceId, by }) => [call('deleteFeed', workspaceId, id, { by })],
});
