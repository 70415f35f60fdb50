/** Deleting lists and feeds at the command line, after telling what goes with them, and bringing them back (SPEC D15.50, D15.51). */

import type { Command } from 'commander';
import { type Deletion, type DeletionPreview, deletedJson, deleteNamed, deletionPreview, restoreNamed } from '../../manage/deletion.ts';
import type { RecentUses } from '../../manage/devices/recent-use.ts';
import { LATELY_WORDS } from '../../manage/devices/recent-use.ts';
import type { DeletedFeed } from '../../ports/stored/account-store.ts';
import { DELETED_KEPT } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { changesIn, fieldTable, printable, readsIn } from '../context.ts';
import { inWorkspace, readName } from '../usage.ts';

const WORDS = { list: 'list', composed: 'feed' } as const;

const deleteOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--for-good', 'it cannot be brought back, and its rules do not count any more')
    .option('--yes', 'do it without asking');

/** Adds `delete`, `restore` and `deleted` of lists or feeds. */
export function deletionCommands(add: AddCommand, kind: DeletedFeed['kind'], summary: string): void {
  const what = WORDS[kind];
  add(`${what} delete <${what}>`, `${summary}; tells what goes with it, and asks`, deleteOptions, {
    async run(context, [name], { workspace: given, yes, forGood }): Promise<Deletion> {
      const { store, workspace, change } = await changesIn(context, given);
      const told = await deletionPreview(store, workspace, kind, name!);
      if (told.needs_confirmation) await confirm(context, [...previewLines(told), ...comesBack(told, given, forGood)].join('\n'), yes);
      return deleteNamed(change, kind, told.id, { confirmed: true, forGood });
    },
    show: ({ id, name, restorable_until: until }) =>
      `${what} ${printable(name)} ${id} is deleted${until === null ? ' for good' : `; weir ${what} restore brings it back until ${until}`}`,
  });
  add(
    `${what} restore <${what}>`,
    `bring back a ${what} that was deleted in the last ${inWords(DELETED_KEPT)}, by its id or the name that it had`,
    (c) => inWorkspace(c).option('--name <name>', 'another name, where its own is taken', readName),
    {
      async run(context, [name], options) {
        const { change } = await changesIn(context, options.workspace);
        return restoreNamed(change, kind, name!, options.name);
      },
      show: ({ id, name, keys, feeds }) =>
        [
          `${what} ${printable(name)} ${id} is back${keys === 0 ? '' : `, and ${keys} ${keys === 1 ? 'key' : 'keys'} with it`}`,
          ...(feeds.length === 0 ? [] : [`feeds that have it again: ${feeds.map((feed) => printable(feed.name)).join(', ')}`]),
        ].join('\n'),
    },
  );
  add(`${what} deleted`, `list the ${what}s that can be brought back`, inWorkspace, {
    async run(context, _args, options) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const deleted = await store.deletedFeeds(workspace, await store.ping());
      return deleted.filter((each) => each.kind === kind).map(deletedJson);
    },
    show: (rows) => fieldTable(rows, { ID: 'id', NAME: 'name', DELETED: 'deleted_at', UNTIL: 'restorable_until', KEYS: 'keys' }),
  });
}

/** What goes with it, a line each. */
export function previewLines(told: DeletionPreview, what: string = WORDS[told.kind]): string[] {
  const { name, rules, more_rules: more, feeds, keys } = told;
  return [
    `deleting the ${what} ${printable(name)} takes away`,
    ...(rules === 0 ? [] : [`  ${more ? 'more than ' : ''}${rules} ${rules === 1 ? 'rule' : 'rules'}`]),
    ...(feeds.length === 0 ? [] : [`  its part of the feeds ${feeds.map((feed) => printable(feed.name ?? feed.id)).join(', ')}`]),
    ...(keys.length === 0 ? [] : [`  the keys bound to it: ${keys.map((key) => printable(key.name ?? key.id)).join(', ')}`]),
    ...useLines(told, `  what was pulled ${LATELY_WORDS} by`),
  ];
}

/** Whether and how it comes back. */
export const comesBack = ({ kind, id }: DeletionPreview, workspace: string, forGood: boolean | undefined): string[] =>
  forGood
    ? ['it cannot be brought back']
    : [`for ${inWords(DELETED_KEPT)}, weir ${WORDS[kind]} restore ${id} --workspace ${workspace} brings all of it back`];

/** Who has pulled, below a heading; nothing where nobody has. */
export function useLines({ pulled, pulled_left_out: more }: RecentUses, heading: string): string[] {
  if (pulled.length === 0) return [];
  const lines = pulled.map(({ kind, key_name, key_id, user_agent, address, last_pull }) =>
    printable(`    ${kind} ${address}  ${user_agent}  key ${key_name ?? key_id}  last pull ${last_pull}`),
  );
  return [heading, ...lines, ...(more > 0 ? [`    and ${more} others`] : [])];
}
