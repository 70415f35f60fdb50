import { isoTime } from '../clock.ts';
import { capPercent } from '../feed/facts.ts';
import { FORMAT_NAMES, FORMATS } from '../feed/formats/table.ts';
import type { WatchedFeed } from '../feed/monitor/feed-watch.ts';
import { trimmedJson } from '../feed/trim.ts';
import { FAMILIES } from '../feed/variant.ts';
import { exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../json/schema.ts';
import { ACCESS_ACTIONS } from '../rule.ts';
import type { ManageContext } from './context.ts';

const formatsOf = (rated: boolean) => FORMAT_NAMES.filter((name) => FORMATS[name].rated === rated);

/** Counts shared by all variants of a feed with the same content. */
const builtJson = ({ action, family, rated, facts, builtAt }: WatchedFeed) => ({
  formats: formatsOf(rated),
  family,
  action,
  entries: facts.entryCount,
  entry_limit: facts.entryLimit,
  cap_use_percent: capPercent(facts),
  over_cap: facts.entryCount > facts.entryLimit,
  left_out: trimmedJson(facts.trimmed?.leftOut),
  built_at: isoTime(builtAt),
});

/** null in a process that builds no feeds; empty before the first request. */
export function feedStateJson({ feeds, workspaceId }: Pick<ManageContext, 'feeds' | 'workspaceId'>, feedId: string | null) {
  if (feeds === undefined) return null;
  const watched = feeds.of({ workspaceId, feedId });
  const staleSince = watched.find((each) => each.staleSince !== undefined)?.staleSince;
  return {
    built: watched.map(builtJson),
    stale_since: staleSince === undefined ? null : isoTime(staleSince * 1000),
    events: watched.flatMap(({ open }) => open).map(({ kind, text, since }) => ({ kind, text, since: isoTime(since) })),
  };
}

export const LEFT_OUT = [
  null,
  nullable(
    objectOf({
      lists: listOf({ name: 'firehol', entries: [4021, 'Entries of this list alone.'] }),
      min_sources: [null, nullable(Type.Integer({ description: 'The number of lists that currently have to agree.' }))],
      entries: [null, nullable(Type.Integer({ description: 'Entries of networks that fewer lists have, or of the lowest rank.' }))],
    }),
    { description: 'Content left out to stay within the limit; null: nothing.' },
  ),
] as const;

const STATE = {
  built: listOf(
    {
      formats: [formatsOf(false), Type.Array(Type.Enum([...FORMAT_NAMES]))],
      family: ['both', Type.Enum([...FAMILIES])],
      action: ['block', Type.Enum([...ACCESS_ACTIONS])],
      entries: 1200,
      entry_limit: 50_000,
      cap_use_percent: 2,
      over_cap: [false, 'The feed exceeds its limit: it is not published, and polls get a 413.'],
      left_out: LEFT_OUT,
      built_at: '2026-11-20T10:00:00.000Z',
    },
    { description: 'The variants this process has built; empty until a client requests the feed.' },
  ),
  stale_since: [null, nullable(Type.String(), { description: 'The time since when it is served from memory; null: it is up to date.' })],
  events: [
    [],
    Type.Array(objectOf({ kind: '', text: '', since: '2026-11-20T10:00:00.000Z' }), {
      description: 'Current alerts of the feed.',
    }),
  ],
} as const satisfies Fields;

export const FEED_STATE = [
  exampleOf(STATE),
  nullable(objectOf(STATE), { description: 'The state of the feed; not part of the ETag. null: this process builds no feeds.' }),
] as const;
