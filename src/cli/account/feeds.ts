import { FEED_SETTINGS } from '../../account/feed.ts';
import { WeirError } from '../../errors.ts';
import { trimmedText } from '../../feed/trim.ts';
import type { measureJson } from '../../manage/operations/content.ts';
import type { feedJson } from '../../manage/operations/feeds.ts';
import type { freezeJson } from '../../manage/operations/freezes.ts';
import { countText } from '../../text/count.ts';
import type { Fields } from '../client/client.ts';
import { printable, table } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';
import { type Changed, deletionRows, edited, FEED_COLUMNS, subtractionText, targetText, without, withoutState } from './settings.ts';

type Feed = ReturnType<typeof feedJson>;
type Frozen = ReturnType<typeof freezeJson>;
type Thawed = Frozen & { readonly difference: { readonly added: number; readonly removed: number } | null };
type Named = { readonly id: string; readonly name: string };

const OPTIONS = { lists: { as: 'list', help: 'a list that the feed consists of, in this order' } };
const FLAGS = { '--lists <lists>': 'the same, separated by commas' };

function listsGiven({ options, given }: Call): Fields {
  const ways = [given.lists, options.lists, given.all_lists].filter((each) => each !== undefined);
  if (ways.length > 1) throw new WeirError('USAGE', 'give one of --list, --lists and --all-lists');
  return options.lists === undefined ? {} : { lists: options.lists.split(',').filter((each: string) => each !== '') };
}

const madeOf = { options: OPTIONS, flags: FLAGS, given: listsGiven };

export const FEED_ROWS: readonly AnyRow[] = [
  row<Changed>({
    words: 'feed create <name>',
    operation: 'createFeed',
    summary: 'make a feed of several lists',
    ...madeOf,
    given(call) {
      const lists = listsGiven(call);
      if (lists.lists === undefined && call.given.lists === undefined && !call.given.all_lists)
        throw new WeirError('USAGE', 'name the lists of the feed: --list, once for each list, or --all-lists');
      return lists;
    },
    json: withoutState,
    show: (feed) => `feed ${feed.name} ${feed.id}${targetText({ ...feed })}`,
  }),
  row<Changed>({
    words: 'feed set <feed>',
    operation: 'changeFeed',
    summary: 'change the lists or the stored defaults of a feed; an empty value unsets one',
    ...madeOf,
    run: (call) => edited(call, 'changeFeed', 'feed'),
    show: (feed) => `feed ${feed.name} ${feed.id} is changed${subtractionText(feed)}${targetText({ ...feed })}`,
  }),
  row<Shown>({
    words: 'feed show <feed>',
    operation: 'getFeed',
    summary: 'show a feed of several lists: its settings, its lists in their order, its entries, and what it leaves out',
    run: shownFeed,
    show: feedText,
  }),
  row<Feed[], (Feed & { readonly list_names: string[]; readonly always_names: string[] })[]>({
    words: 'feed ls',
    operation: 'listFeeds',
    summary: 'list the feeds of a workspace that consist of several lists',
    async json(feeds, { client }) {
      const names = new Map((await client.items<Named>('listLists')).map(({ id, name }) => [id, name]));
      const named = (ids: readonly string[]) => ids.map((id) => names.get(id) ?? id);
      return feeds.map((feed) => ({ ...withoutState(feed), list_names: named(feed.lists), always_names: named(feed.always) }));
    },
    columns: {
      ID: 'id',
      NAME: 'name',
      LISTS: (feed) => (feed.all_lists ? 'all' : feed.list_names.join(', ') || 'none'),
      AGREE: 'min_sources',
      ALWAYS: (feed) => feed.always_names.join(', ') || null,
      FIT: 'fit',
      ...(FEED_COLUMNS as Record<string, never>),
    },
  }),
  row<Frozen>({
    words: 'feed freeze [feed]',
    operation: 'freezeFeed',
    summary: "serve a feed (without one: the workspace's feed) as it is now until it is thawed; rules still expire",
    show: ({ name, rules }) => `feed ${printable(name)} is frozen with ${countText(rules)} rules`,
  }),
  row<Thawed>({
    words: 'feed thaw [feed]',
    operation: 'thawFeed',
    summary: 'serve a frozen feed as its rules are now',
    confirm: ({ name, frozen_since: since, difference }) =>
      difference === null
        ? undefined
        : `feed ${printable(name)}, frozen since ${since}: ${countText(difference.added)} networks more, ${countText(difference.removed)} less`,
    show: ({ name }) => `feed ${printable(name)} is thawed`,
  }),
  row<Frozen[]>({
    words: 'feed frozen',
    operation: 'listFreezes',
    summary: 'list the frozen feeds of a workspace',
    columns: { NAME: 'name', SINCE: 'frozen_since', RULES: 'rules', 'CANARY UNTIL': 'canary_until', REASON: 'reason' },
  }),
  ...(['stop', 'promote'] as const).map((word) =>
    row<Frozen>({
      words: `canary ${word} [feed]`,
      operation: `${word}Canary`,
      summary:
        word === 'stop'
          ? 'keep a large change from all keys but the canaries, until it is promoted or undone'
          : 'serve a large change of a feed to all keys now',
      show: ({ name }) =>
        word === 'stop' ? `the canary of ${printable(name)} is stopped` : `all keys receive the feed ${printable(name)} as it is now`,
    }),
  ),
  ...deletionRows('feed', 'delete a feed, not its lists; keys bound to it are revoked'),
];

type Measure = ReturnType<typeof measureJson>;

/** SPEC D29.6. */
interface Shown extends Feed {
  readonly members: readonly (Named & { readonly always: boolean; readonly copies: readonly string[] })[];
  readonly size: Measure;
  readonly left_out_text: string | null;
}

async function shownFeed({ client, given }: Call): Promise<Shown> {
  const feed = withoutState(await client.call<Feed>('getFeed', given));
  const { before: size } = await client.call<{ before: Measure }>('measureFeed', { feed: feed.id });
  const lists = await client.items<Named>('listLists');
  const ids = feed.all_lists ? lists.map(({ id }) => id) : feed.lists;
  const nameOf = (id: string) => lists.find((each) => each.id === id)?.name ?? id;
  const members = ids.map((id) => ({
    id,
    name: nameOf(id),
    always: feed.always.includes(id),
    copies: size.copies.find((each) => each.id === id)?.of ?? [],
  }));
  return {
    ...feed,
    members,
    size: without(size, 'by_list', 'by_key', 'of_rules', 'copies'),
    left_out_text: leftOutText(size.left_out, feed),
  };
}

const leftOutText = (left: Measure['left_out'], { min_sources: asked }: Feed): string | null =>
  left &&
  trimmedText(
    left.min_sources === null && left.entries !== null
      ? { fit: 'best', entries: left.entries }
      : left.min_sources === null
        ? { fit: 'lists', lists: left.lists }
        : { fit: 'sources', minSources: left.min_sources, entries: left.entries!, asked: asked ?? 1 },
  );

function feedText(feed: Shown): string {
  const { size } = feed;
  const settings = Object.values(FEED_SETTINGS).flatMap(({ field }) => {
    const value = (feed as unknown as Fields)[field];
    return value == null ? [] : [[field.replaceAll('_', ' '), String(value)]];
  });
  const isOver = size.over_cap ? ': it is not published, devices get 413' : '';
  const lines: readonly (readonly string[])[] = [
    ['feed', `${printable(feed.name)} ${feed.id}`],
    ...settings,
    ['entries', `${countText(size.entries)} of ${countText(size.entry_limit)}${isOver}`],
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
