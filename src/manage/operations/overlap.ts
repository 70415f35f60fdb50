/** What each list is good for (SPEC D30). */
import { WeirError } from '../../errors.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../../json/schema.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { findList } from '../find.ts';
import { type Operation, operation } from '../operation.ts';
import { listOverlapJson, overlapJson } from '../overlap.ts';
import { HITS } from './hits-schema.ts';

const SHARE: Fields = {
  entries: 412,
  addresses_v4: 9216,
  addresses_v6: [0, Type.Number({ description: 'As near as a double tells it.' })],
};
const UNIQUE: Fields = { ...SHARE, entries: [388, 'Entries none of whose addresses is in another list of the workspace.'] };
const WITNESS: Fields = {
  of: [1204, "Detections of the workspace's own lists, but this one."],
  before: [311, 'Of these, listed when they were detected.'],
  after: [58, 'Listed later.'],
  never: 835,
  lead_seconds: [93_600, nullable(Type.Integer({ description: 'How long before: the median.' }))],
};
const DROPPED: Fields = {
  days: 30,
  hits: [20_311, 'Packets and requests, as bouncers told.'],
  hit_bytes: 1_214_660,
  of_no_list: [512, 'Of these, what they told of no list.'],
};
const LIST: Fields = {
  id: ['0f8b5a6e-2c1d-4f3a-9b7e-6d5c4b3a2f10', Type.String({ format: 'uuid' })],
  name: 'spamhaus-drop',
  source: [true, 'Whether a source keeps it; the rules of other lists are detections.'],
  ...SHARE,
  added: [3, 'In the last 24 hours.'],
  gone: [1, 'Of the last 24 hours: what has gone and is not back.'],
  unique: [exampleOf(UNIQUE), objectOf(UNIQUE)],
  copies: listOf(
    { name: 'firehol-level1', entries: [24, 'Entries that have an address there.'] },
    { description: 'What its source says that it copies.' },
  ),
  detections: [exampleOf(WITNESS), objectOf(WITNESS)],
  never_block: [{ count: 1 }, objectOf({ count: [1, 'Never-block rules of the workspace that have an address of it.'] })],
  overlaps: listOf({ name: 'feodo', ...SHARE }, { description: 'What other lists have of it, most first; 50 at most.' }),
  ...HITS,
  idle: [false, 'Whether a source keeps it, and it had no detection in 30 days, before or after, and no hit.'],
};
const DETECTED: Fields = {
  days: 30,
  count: 1204,
  first: ['2026-10-25T08:11:09.000Z', nullable(Type.String({ description: 'The oldest that is known still.' }))],
};
const ALL = {
  at: ['2026-11-23T10:00:00.000Z', Type.String()],
  detections: [exampleOf(DETECTED), objectOf(DETECTED)],
  lists: listOf(LIST, { description: 'The 200 with most entries at most.' }),
  lists_left_out: [0, 'Lists that are not told; all are compared.'],
  dropped: [exampleOf(DROPPED), objectOf(DROPPED)],
} as const satisfies Fields;

const REFUSALS = { 413: 'counting what the lists of the workspace are worth takes longer than 180 s' };

export const WORTH_OPERATIONS: readonly Operation[] = [
  operation('worth', 'GET /worth', 'rules:read', {
    summary: 'What each list is good for: what only it has, what it shares, and what it had before it was detected',
    description:
      'Counted from the rules and their history when it is asked for; kept until they change, ten minutes at most (docs/worth.md).',
    answer: answerOf('Worth', ALL),
    refusals: REFUSALS,
    isLong: true,
    run: async (context) => overlapJson(context.store, context.workspaceId, await context.worth.lists(context.workspaceId)),
  }),
  operation('listWorth', 'GET /lists/{list}/worth', 'rules:read', {
    summary: 'The same of one list, with its days, what it must not block, and what it costs each feed',
    answer: answerOf('ListWorth', {
      at: ALL.at,
      detected: ALL.detections,
      dropped: ALL.dropped,
      ...LIST,
      days: listOf({ day: '2026-11-23', added: 3, expired: 0, removed: 1, undone: 0, hits: 18_211 }),
      never_block: { count: 1, first: listOf({ list: 'partners', value: '198.51.100.0/24' }) },
      protected: [['10.0.0.0/8 (private)'], Type.Array(Type.String(), { description: 'Protected networks that it would block.' })],
      feeds: listOf(
        {
          kind: ['workspace', Type.Enum(['workspace', 'list', 'composed'])],
          name: 'default',
          action: ['block', Type.Enum([...ACCESS_ACTIONS])],
          entries: 5680,
          entries_without: 4000,
          costs: 1680,
          entry_limit: 131_072,
        },
        { description: 'Feeds that have it, and what they would have without it.' },
      ),
      left_out: [0, 'Lists and feeds that there was no time for.'],
    }),
    refusals: { 404: 'there is no list "spamhaus-drop"', ...REFUSALS },
    isLong: true,
    async run({ store, workspaceId, worth }, { params }) {
      const found = await listOverlapJson(store, worth, workspaceId, await findList(store, workspaceId, params.list!));
      if (found === undefined) throw new WeirError('NOT_FOUND', `there is no list "${params.list}"`);
      return found;
    },
  }),
];
