/** What the feed of a list, or one made of lists, is like now, as far as this process has built it. */

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

/** Entries and cap of the variants of a feed that always have the same ones. */
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

/** The state of a feed; null in a process that builds none. A feed that nobody has asked for yet has nothing built. */
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

/** What is left out of a feed. */
export const LEFT_OUT = [
  null,
  nullable(
    objectOf({
      lists: listOf({ name: 'firehol', entries: [4021, 'By itself.'] }),
      min_sources: [null, nullable(Type.Integer({ description: 'How many lists have to agree for now.' }))],
      entries: [null, nullable(Type.Integer({ description: 'Of what fewer lists have.' }))],
    }),
    { description: 'What it leaves out to keep within its cap (docs/feeds.md); null: nothing.' },
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
      over_cap: [false, 'The feed is not published: polls are answered 413.'],
      left_out: LEFT_OUT,
      built_at: '2026-11-20T10:00:00.000Z',
    },
    { description: 'What this process has built; empty when nobody has asked for the feed yet.' },
  ),
  stale_since: [null, nullable(Type.String(), { description: 'Since when it is served from memory; null: it is up to date.' })],
  events: [
    [],
    Type.Array(objectOf({ kind: '', text: '', since: '2026-11-20T10:00:00.000Z' }), {
      description: 'What needs attention (docs/status.md).',
    }),
  ],
} as const satisfies Fields;

/** A feed's state, as a field of what it is the feed of. */
export const FEED_STATE = [
  exampleOf(STATE),
  nullable(objectOf(STATE), { description: 'What the feed is like; not in the ETag. null: this process builds no feeds.' }),
] as const;
