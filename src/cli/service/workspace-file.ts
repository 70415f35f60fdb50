/** An export of a workspace (docs/moving.md): head, settings, lists, feeds, sources, keys, repeated blocks, rules, end, one JSON object a line. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { SavedFeed } from '../../account/feed.ts';
import type { SavedKey } from '../../account/key.ts';
import type { SavedList } from '../../account/list.ts';
import type { SavedRepeat } from '../../account/repeat.ts';
import type { SavedSource } from '../../account/source-change.ts';
import type { Workspace, WorkspaceSettings } from '../../account/workspace.ts';
import { DAY, isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { parsedJson } from '../../json/json.ts';
import { ACCEPTANCE, LIMITS } from '../../signal/limits.ts';
import { readLines, readUtf8 } from '../../source/readers/lines.ts';
import type { Line } from './line-shapes.ts';
import { REPEAT_LINE } from './repeat-line.ts';
import { SOURCE_LINE } from './source-line.ts';
import { FEED_LINE, KEY_LINE, LIST_LINE, RULE_LINE, type SavedRule, SETTINGS_LINE } from './workspace-line.ts';

const VERSION = 1;

/** A line between head and end. */
export type Entry =
  | { readonly settings: WorkspaceSettings }
  | { readonly list: SavedList }
  | { readonly feed: SavedFeed }
  | { readonly source: SavedSource }
  | { readonly key: SavedKey }
  | { readonly repeat: SavedRepeat }
  | { readonly rule: SavedRule };
export interface Counts {
  lists: number;
  feeds: number;
  sources: number;
  keys: number;
  repeats: number;
  rules: number;
}
export const noCounts = (): Counts => ({ lists: 0, feeds: 0, sources: 0, keys: 0, repeats: 0, rules: 0 });

export const headLine = ({ id, name }: Workspace, now: number): string =>
  JSON.stringify({ weir_export: VERSION, at: isoTime(now), workspace: { id, name } });
export const settingsLine = (settings: WorkspaceSettings): string => JSON.stringify({ settings: SETTINGS_LINE.write(settings) });
export const listLine = (list: SavedList): string => JSON.stringify({ list: LIST_LINE.write(list) });
export const feedLine = (feed: SavedFeed): string => JSON.stringify({ feed: FEED_LINE.write(feed) });
export const sourceLine = (source: SavedSource): string => JSON.stringify({ source: SOURCE_LINE.write(source) });
export const keyLine = (key: SavedKey): string => JSON.stringify({ key: KEY_LINE.write(key) });
export const repeatLine = (state: SavedRepeat): string => JSON.stringify({ repeat: REPEAT_LINE.write(state) });
/** `now`: the time of the export, ms. */
export const ruleLine = (rule: SavedRule, now: number): string => JSON.stringify({ rule: RULE_LINE.write(withinReach(rule, now)) });
export const endLine = (counts: Counts): string => JSON.stringify({ end: counts });

/** Limits times to the range of signals: other producers may have sent others. */
function withinReach(saved: SavedRule, now: number): SavedRule {
  const past = (ms: number) => (ms > ACCEPTANCE.first ? Math.min(ms, now + DAY) : ACCEPTANCE.first);
  const updatedAt = past(saved.updatedAt);
  const createdAt = Math.min(past(saved.createdAt), updatedAt);
  const { expiresAt } = saved.rule;
  const last = (Math.ceil(updatedAt / 1000) + LIMITS.expirySeconds) * 1000;
  const before = saved.before && withinReach(saved.before, now);
  // A replaced rule is dropped if no signal can create it: the file must stay readable.
  const kept = before !== undefined && typeof RULE_LINE.read(RULE_LINE.write(before)) === 'string' ? undefined : before;
  return {
    ...saved,
    ...(saved.before && { before: kept }),
    createdAt,
    updatedAt,
    rule: { ...saved.rule, expiresAt: expiresAt === null ? null : Math.min(expiresAt, last) },
  };
}

/** Bytes. */
export async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile())
    throw new WeirError('USAGE', `the file "${path}" cannot be read; it must be a file, which is read twice`);
  return found.size;
}

/** Streams the entries. Rejects at the first wrong line, and at the end if the file is incomplete. `onLine` gets the bytes of each line. */
export async function* readEntries(path: string, onLine: (bytes: number) => void): AsyncGenerator<Entry> {
  const check = fileChecker();
  let number = 0;
  for await (const line of readLines(createReadStream(path))) {
    number = line.number;
    const text = readUtf8(line.bytes);
    const found = text === undefined ? 'this is not UTF-8' : check.line(text);
    if (typeof found === 'string') throw new WeirError('USAGE', `line ${number} of ${path}: ${found}`);
    if (found !== undefined) yield found;
    onLine(line.bytes.length + 1);
  }
  if (!check.ended()) throw new WeirError('USAGE', `${path} is not whole: it was cut after line ${number}; export the workspace again`);
}

const WORDS = ['weir_export', 'settings', 'list', 'feed', 'source', 'key', 'repeat', 'rule', 'end'] as const;
type Word = (typeof WORDS)[number];

/** Checks the order of lines, references to lists, and the counts at the end. */
function fileChecker() {
  const counts = noCounts();
  /** Whether the list has `repeat`. */
  const lists = new Map<string, boolean>();
  const feeds = new Set<string>();
  const sources = new Set<string>();
  let defaultList: string | undefined;
  let last: Word | undefined;
  const UNKNOWN_LIST = 'list_id: no line before is this list';

  const readers: Record<Word, (value: unknown) => Entry | string | undefined> = {
    weir_export: (version) => (version === VERSION ? undefined : `weir_export must be ${VERSION}: the file is of another version of weir`),
    settings: entry('settings', SETTINGS_LINE, (settings) => ({ settings })),
    list: entry('list', LIST_LINE, (list) => {
      counts.lists += 1;
      if (lists.has(list.id)) return 'id: an earlier line has it';
      if (list.isDefault && defaultList !== undefined) return 'default: an earlier list is the default one';
      lists.set(list.id, list.repeat !== null);
      if (list.isDefault) defaultList = list.id;
      return { list };
    }),
    feed: entry('feed', FEED_LINE, (feed) => {
      counts.feeds += 1;
      if (lists.has(feed.id) || feeds.has(feed.id)) return 'id: an earlier line has it';
      feeds.add(feed.id);
      const there = (id: string) => lists.has(id);
      if (feed.lists?.every(there) === false) return 'lists: no line before is one of them';
      return feed.always.every(there) ? { feed } : 'always: no line before is one of them';
    }),
    source: entry('source', SOURCE_LINE, (source) => {
      counts.sources += 1;
      if (sources.has(source.listId)) return 'list_id: an earlier line has it';
      sources.add(source.listId);
      if (source.listId === defaultList) return 'list_id: the default list has no source';
      return lists.has(source.listId) ? { source } : UNKNOWN_LIST;
    }),
    key: entry('key', KEY_LINE, (key) => {
      counts.keys += 1;
      // Deleting a list or feed revokes its keys.
      if (key.revokedAt !== null) return { key };
      if (key.feedId !== null && !feeds.has(key.feedId)) return 'feed_id: no line before is this feed';
      return key.listId === null || lists.has(key.listId) ? { key } : UNKNOWN_LIST;
    }),
    repeat: entry('repeat', REPEAT_LINE, (repeat) => {
      counts.repeats += 1;
      return lists.get(repeat.listId) ? { repeat } : 'list_id: no line before is this list with "repeat"';
    }),
    rule: entry('rule', RULE_LINE, (rule) => {
      counts.rules += 1;
      return rule.listId === null || lists.has(rule.listId) ? { rule } : UNKNOWN_LIST;
    }),
    end: (given) => {
      if (defaultList === undefined) return 'no list before is the default one';
      const odd = (Object.keys(counts) as (keyof Counts)[]).find((what) => countOf(given, what) !== counts[what]);
      return odd && `end.${odd}: the file has ${counts[odd]}; lines were removed or added`;
    },
  };

  return {
    /** undefined for head and end; a text describes a fault. */
    line(text: string): Entry | string | undefined {
      const member = Object.entries(parsedJson(text) ?? {})[0];
      if (last === undefined && member?.[0] !== 'weir_export') return 'this is not the first line of a file that weir export has written';
      if (member === undefined) return 'this is not a JSON object; the file may have been cut here';
      const [name, value] = member;
      const word = WORDS.find((known) => known === name);
      if (word === undefined) return `"${name.slice(0, 40)}" is none of: ${WORDS.join(', ')}`;
      if (last !== undefined && !follows(word, last)) return `"${word}" must not come after "${last}"`;
      last = word;
      return readers[word](value);
    },
    ended: () => last === 'end',
  };
}

/** Older files have no such counts. */
const LATER: readonly (keyof Counts)[] = ['feeds', 'sources', 'repeats'];
const countOf = (end: unknown, what: keyof Counts): unknown =>
  (end as Partial<Counts> | null)?.[what] ?? (LATER.includes(what) ? 0 : undefined);

const ONCE: readonly Word[] = ['weir_export', 'settings', 'end'];
const follows = (word: Word, last: Word) => WORDS.indexOf(word) > WORDS.indexOf(last) || (word === last && !ONCE.includes(word));

const entry =
  <T extends object>(word: Word, line: Line<T>, accept: (item: T) => Entry | string) =>
  (value: unknown): Entry | string => {
    const item = line.read(value);
    const found = typeof item === 'string' ? item : accept(item);
    return typeof found === 'string' ? `${word}.${found}` : found;
  };
