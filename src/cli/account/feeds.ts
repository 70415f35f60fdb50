/** `weir feed`. */
import type { Command } from 'commander';
import type { Members } from '../../account/feed.ts';
import { WeirError } from '../../errors.ts';
import { byCommand } from '../../manage/context.ts';
import { findFeed, findList } from '../../manage/find.ts';
import { changeFeed, createFeed, feedJson } from '../../manage/operations/feeds.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { printable, table, workspaceId } from '../context.ts';
import { inWorkspace, readName, requireChange } from '../usage.ts';
import { deletionCommands } from './deletions.ts';
import { SETTING_HEADINGS, settingCells, settingOptions, settingPatch, targetSentence } from './list-settings.ts';
import { costSentence, subtractionCosts } from './subtraction.ts';

export function feedCommands(add: AddCommand): void {
  add('feed create <name>', 'make a feed of several lists', feedOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const lists = await members(store, workspace, options);
      if (lists === undefined) throw new WeirError('USAGE', 'say what the feed is made of: --list, once for each list, or --all-lists');
      return feedJson(
        await createFeed(byCommand(store, workspace, context.author, context.config), {
          ...settingPatch(options),
          name: readName(name),
          lists,
        }),
      );
    },
    show: (feed) => `feed ${feed.name} ${feed.id}${targetSentence(feed)}`,
  });
  add('feed set <feed>', 'change the lists or the stored defaults of a feed; an empty value unsets one', feedOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const workspace = await workspaceId(store, options.workspace);
      const feed = await findFeed(store, workspace, name);
      const lists = await members(store, workspace, options);
      const findCost = options.subtractAllow ? await subtractionCosts(context) : undefined;
      const patch = requireChange({ ...settingPatch(options), ...(lists !== undefined && { lists }) }, 'feed set');
      const changed = feedJson(await changeFeed(byCommand(store, workspace, context.author), feed.id, patch));
      return { ...changed, ...(findCost && { subtraction: await findCost(store, workspace, feed.id) }) };
    },
    show: (feed) => `feed ${feed.name} ${feed.id} is changed${costSentence(feed.subtraction)}${targetSentence(feed)}`,
  });
  add('feed ls', 'list the feeds of a workspace that are made of lists', inWorkspace, {
    async run(context, _args, options) {
      const store = await context.reads();
      const workspace = await workspaceId(store, options.workspace);
      const names = new Map((await store.directory(workspace))!.lists.map(({ id, name }) => [id, name]));
      const named = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
      return (await store.feeds(workspace)).map((feed) => ({ ...feedJson(feed), list_names: named(feed.lists ?? []) }));
    },
    show: (rows) =>
      table(
        ['ID', 'NAME', 'LISTS', ...SETTING_HEADINGS],
        rows.map((feed) => [
          feed.id,
          feed.name,
          feed.all_lists ? 'all' : printable(feed.list_names.join(', ')) || 'none',
          ...settingCells(feed),
        ]),
      ),
  });
  deletionCommands(add, 'composed', 'delete a feed, not its lists; keys bound to it are revoked');
}

const feedOptions = (c: Command): Command =>
  settingOptions(c)
    .option('--list <list>', 'a list that the feed is made of; repeatable', (text: string, before: string[] = []) => [...before, text])
    .option('--all-lists', 'all lists of the workspace, also those that are made later');

/** The lists that the options name; undefined when they name none. */
async function members(
  store: StoreReads,
  workspace: string,
  { list, allLists }: { readonly list?: readonly string[]; readonly allLists?: true },
): Promise<Members | undefined> {
  if (list !== undefined && allLists) throw new WeirError('USAGE', 'give --list or --all-lists, not both');
  if (allLists) return null;
  if (list === undefined) return undefined;
  const found: string[] = [];
  for (const text of list) found.push((await findList(store, workspace, text)).id);
  return [...new Set(found)];
}
