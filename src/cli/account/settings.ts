/** Settings of lists, feeds and the workspace as commands print and change them, and deletion. */
import { SHARED_SETTINGS } from '../../account/feed.ts';
import { LIST_SETTINGS, type ListSetting } from '../../account/list.ts';
import { TARGETS } from '../../account/target.ts';
import { DEFAULT_ENTRY_LIMIT } from '../../feed/variant.ts';
import type { Deletion, DeletionPreview, deletedJson } from '../../manage/deletion.ts';
import { RECENTLY_WORDS, type RecentUses } from '../../manage/devices/recent-use.ts';
import { RESTORE_PERIOD, type RestoredFeed } from '../../ports/stored/account-store.ts';
import { plural } from '../../text/count.ts';
import { inWords } from '../../text/duration.ts';
import type { Fields } from '../client/client.ts';
import { printable } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';

const isText = (setting: ListSetting) => 'longest' in setting && setting.format === undefined;

const firstWord = (field: string) => field.split('_')[0]!;

/** Long texts come last. A heading is the first word of a name, or the name if another one begins with this word. */
const columnsOf = (settings: Readonly<Record<string, ListSetting>>): Readonly<Record<string, string>> => {
  const fields = Object.values(settings).toSorted((a, b) => Number(isText(a)) - Number(isText(b)));
  const isAlone = (word: string) => fields.filter(({ field }) => firstWord(field) === word).length === 1;
  return Object.fromEntries(
    fields.map(({ field }) => [(isAlone(firstWord(field)) ? firstWord(field) : field.replaceAll('_', ' ')).toUpperCase(), field]),
  );
};

export const LIST_COLUMNS = columnsOf(LIST_SETTINGS);
export const FEED_COLUMNS = columnsOf(SHARED_SETTINGS);

export interface Changed {
  readonly id: string;
  readonly name: string;
  readonly subtraction?: { readonly entries: number; readonly entries_without_subtraction: number };
}

export const without = <T extends object>(answer: T, ...names: string[]): T =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => !names.includes(name))) as T;

/** `weir status` reports the state of feeds. */
export const withoutState = <T extends object>(answer: T): T => without(answer, 'feed');

/** Counts the effect of cutting out never-block rules first (SPEC D7.6): if the count fails, nothing is changed. */
export async function edited(call: Call, operation: string, ref: 'list' | 'feed' | undefined): Promise<Changed> {
  const { client, given, change } = call;
  const { list: _list, feed: _feed, ...patch } = given;
  const counts: { subtraction?: Changed['subtraction'] } = {};
  if (patch.subtract_allow != null) {
    const feed = ref && ((await client.state(operation, given)).body as Changed).id;
    const measure = async (subtract: unknown) => {
      const request = { ...patch, feed, format: 'plain', family: 'both', action: 'block', subtract_allow: subtract };
      return (await client.call<{ after: { entries: number } }>('measureFeed', request)).after.entries;
    };
    counts.subtraction = { entries: await measure(patch.subtract_allow), entries_without_subtraction: await measure('off') };
  }
  return { ...without(await client.edit<Changed>(operation, given, change), 'feed', 'service'), ...counts };
}

export function subtractionText({ subtraction }: Changed): string {
  if (subtraction === undefined) return '';
  const { entries, entries_without_subtraction: others } = subtraction;
  const more = entries - others;
  const change = more === 0 ? 'as many as' : `${Math.abs(more)} ${more > 0 ? 'more' : 'fewer'} than`;
  return `; its block feed has ${plural(entries, 'entry', 'entries')} now, ${change} with never-block rules left in`;
}

/** Reminds the operator of the cap if the vendor publishes no limit (SPEC D25.2). */
export function targetText(row: Fields): string {
  const target = TARGETS[String(row.target)];
  if (target === undefined || target.maxEntries !== null || row.max_entries !== null) return '';
  return `\n${target.title}: ${target.source}. Until --max-entries is set its cap is ${DEFAULT_ENTRY_LIMIT} entries`;
}

const FOR_GOOD = 'it cannot be restored, and its rules no longer count';
const OPTIONS = { for_good: { help: FOR_GOOD } };

/** SPEC D15.50, D15.51. */
export function deletionRows(what: 'list' | 'feed', summary: string): AnyRow[] {
  const kind = what === 'list' ? 'list' : 'composed';
  const name = what === 'list' ? 'List' : 'Feed';
  return [
    row<Deletion>({
      words: `${what} delete <${what}>`,
      operation: `delete${name}`,
      summary: `${summary}; lists what goes with it, and asks`,
      options: OPTIONS,
      confirm: (preview, call) => deletionQuestion(preview, what, call),
      show: ({ id, name, restorable_until: until }) =>
        `${what} ${printable(name)} ${id} is deleted${until === null ? ' for good' : `; weir ${what} restore brings it back until ${until}`}`,
    }),
    row<RestoredFeed>({
      words: `${what} restore <${what}>`,
      operation: `restore${name}`,
      summary: `restore a ${what} that was deleted in the last ${inWords(RESTORE_PERIOD)}, by its id or the name that it had`,
      options: { name: { help: 'another name, if its own is in use' } },
      show: ({ id, name, keys, feeds }) =>
        [
          `${what} ${printable(name)} ${id} is back${keys === 0 ? '' : `, and ${plural(keys, 'key')} with it`}`,
          ...(feeds.length === 0 ? [] : [`feeds that have it again: ${feeds.map((feed) => printable(feed.name)).join(', ')}`]),
        ].join('\n'),
    }),
    row<ReturnType<typeof deletedJson>[]>({
      words: `${what} deleted`,
      operation: 'listDeleted',
      summary: `list the ${what}s that can be restored`,
      json: (all) => all.filter((each) => each.kind === kind),
      columns: { ID: 'id', NAME: 'name', DELETED: 'deleted_at', UNTIL: 'restorable_until', KEYS: 'keys' },
    }),
  ];
}

/** undefined: nothing goes with it. */
export function deletionQuestion(preview: DeletionPreview, what: string, { options }: Call): string | undefined {
  const { name, rules, more_rules: more, feeds, keys } = preview;
  if (!preview.needs_confirmation) return undefined;
  const names = (each: { readonly name: string | null; readonly id: string }) => printable(each.name ?? each.id);
  const list = (preview as { readonly list_id?: string }).list_id;
  const restore = `weir ${what === 'feed' ? 'feed' : 'list'} restore ${list ?? preview.id}`;
  return [
    `deleting the ${what} ${printable(name)} removes`,
    ...(rules === 0 ? [] : [`  ${more ? 'more than ' : ''}${plural(rules, 'rule')}`]),
    ...(feeds.length === 0 ? [] : [`  its part of the feeds ${feeds.map(names).join(', ')}`]),
    ...(keys.length === 0 ? [] : [`  the keys bound to it: ${keys.map(names).join(', ')}`]),
    ...useLines(preview, `  fetched ${RECENTLY_WORDS} by`),
    options.forGood ? 'it cannot be restored' : `for ${inWords(RESTORE_PERIOD)}, ${restore} brings all of it back`,
  ].join('\n');
}

export function useLines({ pulled, pulled_left_out: more }: RecentUses, heading: string): string[] {
  if (pulled.length === 0) return [];
  const lines = pulled.map(({ kind, key_name, key_id, user_agent, address, last_pull }) =>
    printable(`    ${kind} ${address}  ${user_agent}  key ${key_name ?? key_id}  last fetch ${last_pull}`),
  );
  return [heading, ...lines, ...(more > 0 ? [`    and ${more} others`] : [])];
}
