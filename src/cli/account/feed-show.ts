/** `weir feed show`: a feed made of lists, with what it has now and what it leaves out (SPEC D29.6). */
import { FEED_SETTINGS } from '../../account/feed.ts';
import { systemClock } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { trimmedText } from '../../feed/trim.ts';
import { feedMeasurer } from '../../feed/whatif/measure.ts';
import { findFeed } from '../../manage/find.ts';
import { measureJson } from '../../manage/operations/content.ts';
import { feedJson } from '../../manage/operations/feeds.ts';
import { countText } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { printable, readsIn, table } from '../context.ts';
import { servedParts } from '../feed-parts.ts';
import { inWorkspace } from '../usage.ts';

export function feedShowCommand(add: AddCommand): void {
  add(
    'feed show <feed>',
    'a feed made of lists: its settings, its lists in their order, its entries, and what it leaves out',
    inWorkspace,
    {
      async run(context, [name], options) {
        const { store, workspace } = await readsIn(context, options.workspace);
        const feed = await findFeed(store, workspace, name);
        const { geo, ...served } = await servedParts(context);
        const measurer = feedMeasurer({ ...served, store, geo: () => geo, shares: async () => undefined });
        const size = await measurer.measure({ workspaceId: workspace, feed: feed.id });
        const head = await store.snapshot(workspace, feed.id, systemClock.now(), undefined);
        if (size === undefined || head === undefined) throw new WeirError('NOT_FOUND', `there is no feed "${name}"`);
        const { lists, quorum } = head;
        const members = lists.map((list, place) => ({
          id: list.id,
          name: list.name,
          always: feed.always.includes(list.id),
          copies: (quorum?.copies[place] ?? []).map((copied) => lists[copied]!.name),
        }));
        const { by_list: _list, by_key: _key, of_rules: _rules, ...measure } = measureJson(size);
        return { ...feedJson(feed), members, size: measure, left_out_text: size.leftOut === undefined ? null : trimmedText(size.leftOut) };
      },
      show: feedText,
    },
  );
}

interface Shown extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name: string;
  readonly all_lists: boolean;
  readonly members: readonly { readonly name: string; readonly always: boolean; readonly copies: readonly string[] }[];
  readonly size: Pick<ReturnType<typeof measureJson>, 'entries' | 'entry_limit' | 'over_cap'>;
  readonly left_out_text: string | null;
}

function feedText(feed: Shown): string {
  const { size } = feed;
  const settings = Object.values(FEED_SETTINGS).flatMap(({ field }) =>
    feed[field] == null ? [] : [[field.replaceAll('_', ' '), String(feed[field])]],
  );
  const lines: readonly (readonly string[])[] = [
    ['feed', `${printable(feed.name)} ${feed.id}`],
    ...settings,
    ['entries', `${countText(size.entries)} of ${countText(size.entry_limit)}${size.over_cap ? ': it is answered 413' : ''}`],
    ['left out', feed.left_out_text ?? 'nothing'],
    ['lists', feed.all_lists ? 'all, also those that are made later' : `${feed.members.length}`],
  ];
  return [
    ...lines.map(([what, text]) => `${what!.padEnd(16)}  ${printable(text!)}`),
    '',
    table(['LIST', 'ENOUGH ALONE', 'COPIES'], feed.members, ({ name, always, copies }) => [
      printable(name),
      always ? 'yes' : null,
      copies.map(printable).join(', ') || null,
    ]),
  ].join('\n');
}
