/** `weir feed`. */
import type { Command } from 'commander';
import { FEED_SETTINGS, type FeedPatch } from '../../account/feed.ts';
import { WeirError } from '../../errors.ts';
import { findFeed, findList } from '../../manage/find.ts';
import { changeFeed, createFeed, feedJson } from '../../manage/operations/feeds.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { changesIn, readsIn, table } from '../context.ts';
import { inWorkspace, readName, requireChange } from '../usage.ts';
import { deletionCommands } from './deletions.ts';
import { feedShowCommand } from './feed-show.ts';
import { SETTING_HEADINGS, settingCells, settingOptions, settingPatch, targetSentence } from './list-settings.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';

export function feedCommands(add: AddCommand): void {
  add('feed create <name>', 'make a feed of several lists', feedOptions, {
    async run(context, [name], options) {
      const { store, workspace, change } = await changesIn(context, options.workspace);
      const { lists, ...patch } = await feedPatch(store, workspace, options);
      if (lists === undefined) throw new WeirError('USAGE', 'say what the feed is made of: --list, once for each list, or --all-lists');
      return feedJson(await createFeed(change, { ...patch, name: readName(name), lists }));
    },
    show: (feed) => `feed ${feed.name} ${feed.id}${targetSentence(feed)}`,
  });
  add('feed set <feed>', 'change the lists or the stored defaults of a feed; an empty value unsets one', feedOptions, {
    async run(context, [name], options) {
      const { store, workspace, change } = await changesIn(context, options.workspace);
      const feed = await findFeed(store, workspace, name);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const patch = requireChange(await feedPatch(store, workspace, options), 'feed set');
      const changed = feedJson(await changeFeed(change, feed.id, patch));
      return { ...changed, ...(findCost && { subtraction: await findCost(store, workspace, feed.id) }) };
    },
    show: (feed) => `feed ${feed.name} ${feed.id} is changed${costSentence(feed.subtraction)}${targetSentence(feed)}`,
  });
  feedShowCommand(add);
  add('feed ls', 'list the feeds of a workspace that are made of lists', inWorkspace, {
    async run(context, _args, options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const names = new Map((await store.directory(workspace))!.lists.map(({ id, name }) => [id, name]));
      const named = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
      return (await store.feeds(workspace)).map((feed) => ({
        ...feedJson(feed),
        list_names: named(feed.lists ?? []),
        always_names: named(feed.always),
      }));
    },
    show: (rows) =>
      table(['ID', 'NAME', 'LISTS', 'AGREE', 'ALWAYS', 'FIT', ...SETTING_HEADINGS], rows, (feed) => [
        feed.id,
        feed.name,
        feed.all_lists ? 'all' : feed.list_names.join(', ') || 'none',
        feed.min_sources,
        feed.always_names.join(', ') || null,
        feed.fit,
        ...settingCells(feed),
      ]),
  });
  deletionCommands(add, 'composed', 'delete a feed, not its lists; keys bound to it are revoked');
}

const several = (text: string, before: string[] = []) => [...before, text];
const parted = (text: string) => text.split(',').filter((each) => each !== '');

const feedOptions = (c: Command): Command =>
  settingOptions(c, FEED_SETTINGS)
    .option('--list <list>', 'a list that the feed is made of; repeatable, in their order', several)
    .option('--lists <lists>', 'the same with commas between', parted)
    .option('--all-lists', 'all lists of the workspace, also those that are made later')
    .option(
      '--always <list>',
      'a list of the feed that is enough by itself where lists have to agree; repeatable; an empty value: none',
      several,
    );

type FeedOptions = Readonly<Record<string, unknown>> & {
  readonly list?: readonly string[];
  readonly lists?: readonly string[];
  readonly allLists?: true;
  readonly always?: readonly string[];
};

/** What the options change of a feed. */
async function feedPatch(store: StoreReads, workspace: string, options: FeedOptions): Promise<FeedPatch> {
  const { list, lists = list, allLists, always } = options;
  const named = [list, options.lists, allLists].filter((each) => each !== undefined);
  if (named.length > 1) throw new WeirError('USAGE', 'give one of --list, --lists and --all-lists');
  const ids = async (texts: readonly string[]) => {
    const found: string[] = [];
    for (const text of texts) found.push((await findList(store, workspace, text)).id);
    return [...new Set(found)];
  };
  return {
    ...settingPatch(options, FEED_SETTINGS),
    ...(allLists ? { lists: null } : lists !== undefined && { lists: await ids(lists) }),
    ...(always !== undefined && { always: await ids(always.filter((each) => each !== '')) }),
  };
}
