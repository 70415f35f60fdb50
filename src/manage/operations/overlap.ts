/** SPEC D30. */
import { WeirError } from '../../errors.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type } from '../../json/schema.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { findList } from '../find.ts';
import { HITS } from '../hits.ts';
import { type Operation, operation } from '../operation.ts';
import { listOverlapJson, overlapJson } from '../overlap.ts';

const SHARE: Fields = {
  entries: 412,
  addresses_v4: 9216,
  addresses_v6: [0, Type.Number({ description: 'Rounded to double precision.' })],
};
const UNIQUE: Fields = { ...SHARE, entries: [388, 'Entries without an address in any other list of the workspace.'] };
const WITNESS: Fields = {
  of: [1204, "Detections of the workspace's own lists, without this list."],
  before: [311, 'Detected when already listed here.'],
  after: [58, 'Listed here later.'],
  never: 835,
  lead_seconds: [93_600, nullable(Type.Integer({ description: 'Median lead of the list, seconds.' }))],
};
const DROPPED: Fields = {
  days: 30,
  hits: [20_311, 'Packets and requests, as reported by bouncers.'],
  hit_bytes: 1_214_660,
  of_no_list: [512, 'Of these, reported without a list.'],
};
const LIST: Fields = {
  id: ['0f8b5a6e-2c1d-4f3a-9b7e-6d5c4b3a2f10', Type.String({ format: 'uuid' })],
  name: 'spamhaus-drop',
  source: [true, 'Whether a source manages it; the rules of other lists count as detections.'],
  ...SHARE,
  added: [3, 'In the last 24 hours.'],
  gone: [1, 'Removed in the last 24 hours and not added again.'],
  unique: [exampleOf(UNIQUE), objectOf(UNIQUE)],
  copies: listOf(
    { name: 'firehol-level1', entries: [24, 'Entries with an address there.'] },
    { description: 'Lists that its source declares as copied.' },
  ),
  detections: [exampleOf(WITNESS), objectOf(WITNESS)],
  never_block: [{ count: 1 }, objectOf({ count: [1, 'Allow rules of the workspace with an address of the list.'] })],
  overlaps: listOf({ name: 'feodo', ...SHARE }, { description: 'Overlap with other lists, largest first; at most 50.' }),
  ...HITS,
  idle: [false, 'Whether a source manages it and it had no detection (before or after) and no hit in 30 days.'],
};
const DETECTED: Fields = {
  days: 30,
  count: 1204,
  first: ['2026-10-25T08:11:09.000Z', nullable(Type.String({ description: 'The oldest detection that is still known.' }))],
};
const ALL = {
  at: ['2026-11-23T10:00:00.000Z', Type.String()],
  detections: [exampleOf(DETECTED), objectOf(DETECTED)],
  lists: listOf(LIST, { description: 'At most 200, those with the most entries.' }),
  lists_left_out: [0, 'Number of further lists; all are compared.'],
  dropped: [exampleOf(DROPPED), objectOf(DROPPED)],
} as const satisfies Fields;

const REFUSALS = { 413: 'counting the overlap of the lists takes longer than 180 s' };

export const OVERLAP_OPERATIONS: readonly Operation[] = [
  operation('worth', 'GET /worth', 'rules:read', {
    summary: 'Compare lists: unique entries, overlap, lead over detections',
    description: 'Counted on request from the rules and their history; cached until they change, for at most ten minutes.',
    answer: answerOf('Worth', ALL),
    refusals: REFUSALS,
    isLong: true,
    run: async (context) => overlapJson(context.store, context.workspaceId, await context.overlap.lists(context.workspaceId)),
  }),
  operation('listWorth', 'GET /lists/{list}/worth', 'rules:read', {
    summary: 'Get the value of one list, with days, conflicts and cost per feed',
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
        { description: 'Feeds that contain it, and their size without it.' },
      ),
      left_out: [0, 'Lists and feeds skipped for lack of time.'],
    }),
    refusals: { 404: 'there is no list "spamhaus-drop"', ...REFUSALS },
    isLong: true,
    async run({ store, workspaceId, overlap }, { params }) {
      const found = await listOverlapJson(store, overlap, workspaceId, await findList(store, workspaceId, params.list!));
      if (found === undefined) throw new WeirError('NOT_FOUND', `there is no list "${params.list}"`);
      return found;
    },
  }),
];
