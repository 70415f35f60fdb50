import { dayOf, isoTime } from '../../clock.ts';
import { hasCode } from '../../errors.ts';
import { answerOf, durationOf, type Fields, listOf, nullable, Type, textField } from '../../json/schema.ts';
import {
  ACTIVITY_FIELDS,
  ACTIVITY_MINUTES,
  ACTIVITY_STEPS,
  type ActivityCounts,
  MOST_ACTIVITY,
  NO_ACTIVITY,
} from '../../ports/activity.ts';
import { type RuleHour, STORED_DAYS } from '../../ports/history.ts';
import { devicePage } from '../../ports/stored/paginate.ts';
import type { ManageContext } from '../context.ts';
import { deviceJson, deviceNames } from '../devices/device-json.ts';
import { anyFeedId, findKeyNamed } from '../find.ts';
import { dayJson, ruleDaysJson } from '../history.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';
import { PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';

const count = Type.Integer();
const instant = Type.String({ format: 'date-time' });
const DEVICE = {
  id: 'b6Xk0y3JrG1Qd2Wv',
  key_id: ['0195a3c0-0000-7000-8000-000000000002', Type.String()],
  key_name: ['edge firewall', nullable(Type.String({ description: 'null: a deleted key.' }))],
  user_agent: 'FortiGate/7.4',
  address: '192.0.2.10',
  first_pull: '2026-11-01T10:00:00.000Z',
  last_pull: '2026-11-20T10:00:00.000Z',
  last_status: 304,
  pulls: 5000,
  interval_seconds: [300, nullable(Type.Integer({ description: 'Its usual interval between fetches; null: not known yet.' }))],
  answers: { '200': 120, '304': 4880, '4xx': 0, '5xx': 0 },
  sends_validators: [true, 'Whether it has ever sent a conditional request.'],
  stopped_at: [null, nullable(Type.String({ description: 'Since when it has stopped fetching.' }))],
  documents: [
    [],
    Type.Array(
      Type.Object({
        feed_id: nullable(Type.String()),
        format: Type.String(),
        family: Type.String(),
        action: Type.String(),
        etag: Type.String(),
        last_modified: instant,
        at: instant,
        behind_seconds: nullable(Type.Integer({ description: 'By how much the latest content is newer; null: unknown.' })),
      }),
      { description: 'Its last version of each document, newest first.' },
    ),
  ],
  refusals: [
    [],
    Type.Array(
      Type.Object({
        feed_id: nullable(Type.String({ description: "null: the workspace's feed, or no feed has this name." })),
        feed_name: nullable(Type.String({ description: "null: the workspace's feed." })),
        format: nullable(Type.String({ description: 'null: it was refused before the document was determined.' })),
        family: nullable(Type.String()),
        action: nullable(Type.String()),
        status: Type.Integer(),
        since: instant,
        at: instant,
        count: count,
      }),
      { description: 'Documents that it has been refused (4xx) since its last successful fetch, with status, start and count.' },
    ),
  ],
} as const satisfies Fields;

const counts = Type.Array(count);
const Activity = answerOf('Activity', {
  since: ['2026-11-20T08:00:00.000Z', Type.String({ format: 'date-time', description: 'When this process began to count.' })],
  to: '2026-11-20T10:00:00.000Z',
  step_minutes: 60,
  accepted: [[1200, 900], counts],
  failed: [[0, 3], counts],
  landed: [[1200, 900], counts],
  pulls: [[600, 600], counts],
  not_modified: [[580, 590], counts],
  refused: [[0, 2], Type.Array(count, { description: 'Polls with a 4xx response.' })],
});

const sizes = nullable(Type.Object({ last: count, max: count }));
const DAY = {
  day: '2026-11-20',
  added: 1200,
  expired: 300,
  removed: 4,
  undone: 0,
  hits: [18211, 'Packets and requests dropped, as reported by bouncers.'],
  hit_bytes: 1102933,
  v4: [{ last: 1180, max: 1200 }, sizes],
  v6: [null, sizes],
} as const satisfies Fields;

const HOUR = 3_600_000;
/** Changes of rules are stored for seven days. */
const MOST_HOURS = 7 * 24;
const NO_CHANGES: RuleHour = { hour: 0, added: 0, renewed: 0, removed: 0, expired: 0 };
const perDay = Type.Array(nullable(count), { description: 'At the end of each day (UTC), of today now; null: not known.' });
const RuleHistory = answerOf('RuleHistory', {
  days: [['2026-11-19', '2026-11-20'], Type.Array(Type.String())],
  lists: listOf({ id: '0195a3c0-0000-7000-8000-000000000001', name: 'edge', rules: [[1200, 1180], perDay] }),
  others: { lists: 2, rules: [[0, 3], perDay] },
  hours_from: '2026-11-20T09:00:00.000Z',
  hours: listOf({
    added: [12, 'New rules, including ones that had expired.'],
    renewed: 3,
    removed: [1, 'Unblocked, deleted, or removed by an undo.'],
    expired: 4,
  }),
});

/** Per `step` minutes up to now. */
async function countsOf({ store, activity, workspaceId, now }: ManageContext, minutes: number, step: number): Promise<ActivityCounts[]> {
  // Hourly counts are stored for longer.
  const [length] = ACTIVITY_STEPS.findLast(([each]) => step % each === 0 && (each === 1 || minutes > ACTIVITY_MINUTES))!;
  const last = Math.floor(now() / 60_000 / length);
  const slots = Math.ceil(minutes / length);
  const known = await store.activity(workspaceId, { step: length, from: last - slots + 1, to: last });
  const counts = Array.from({ length: Math.ceil(minutes / step) }, () => ({ ...NO_ACTIVITY }));
  const add = (slot: number, more: ActivityCounts) => {
    const at = counts[counts.length - 1 - Math.floor(((last - slot) * length) / step)];
    if (at !== undefined) for (const field of ACTIVITY_FIELDS) at[field] += more[field];
  };
  for (const each of known) add(each.slot, each);
  if (activity !== undefined) add(last, activity.of(workspaceId));
  return counts;
}

export const ACTIVITY_OPERATIONS: readonly Operation[] = [
  operation('getActivity', 'GET /activity', 'rules:read', {
    summary: 'Count accepted, failed and landed entries and polls, up to 30 days',
    description:
      'Covers all processes, which write their counts once a minute; the process that responds adds its latest ones. Counts per minute are stored for a day, per hour for 30 days: more than 1,440 minutes need steps of whole hours.',
    query: Type.Object({
      minutes: Type.Optional(durationOf('m', 'Length of the period; default 60', { minimum: 1, maximum: MOST_ACTIVITY })),
      step: Type.Optional(durationOf('m', 'Minutes per count; default 1', { minimum: 1, maximum: 1440 })),
    }),
    answer: Activity,
    async run(context, { query: { minutes = 60, step = 1 } }) {
      if (minutes > ACTIVITY_MINUTES && step % 60 !== 0) throw fieldFault('step', 'must be whole hours, such as 60, for more than a day');
      const rows = await countsOf(context, minutes, step);
      const of = (field: keyof ActivityCounts) => rows.map((each) => each[field]);
      const { activity, now } = context;
      return {
        since: isoTime(activity?.since ?? now()),
        to: isoTime(now()),
        step_minutes: step,
        accepted: of('accepted'),
        failed: of('failed'),
        landed: of('landed'),
        pulls: of('pulls'),
        not_modified: of('notModified'),
        refused: of('refused'),
      };
    },
  }),
  operation('getHistory', 'GET /history', 'rules:read', {
    summary: 'Get changes of rules and the size of the block feed per day',
    query: Type.Object({
      feed: textField(200, "UUID or name of a list or feed; default: the workspace's feed."),
      days: Type.Optional(durationOf('d', 'Number of days, including today; default 30', { minimum: 1, maximum: STORED_DAYS })),
    }),
    answer: answerOf('History', { days: listOf(DAY) }),
    refusals: { 404: 'there is no list or feed "edge"' },
    async run({ store, workspaceId, now }, { query: { feed, days = 30 } }) {
      const to = dayOf(now());
      const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
      return { days: (await store.feedDays(workspaceId, feedId, { from: to - days + 1, to })).map(dayJson) };
    },
  }),
  operation('getRuleHistory', 'GET /history/rules', 'rules:read', {
    summary: 'Count the active access rules of each list per day, and their changes per hour',
    description: 'Of existing lists, the ten with the most rules; the others as a sum. Changes include all lists, also deleted ones.',
    query: Type.Object({
      days: Type.Optional(durationOf('d', 'Number of days, including today; default 30', { minimum: 1, maximum: STORED_DAYS })),
      hours: Type.Optional(durationOf('h', 'Number of hours, including the current one; default 24', { minimum: 1, maximum: MOST_HOURS })),
    }),
    answer: RuleHistory,
    async run({ store, workspaceId, now, step }, { query: { days = 30, hours = 24 } }) {
      const [today, last] = [dayOf(now()), Math.floor(now() / HOUR)];
      const first = today - days + 1;
      const found: RuleHour[] = [];
      // A day at a time: an hour may have many rows.
      for (let from = last - hours + 1; from <= last; from += 24)
        found.push(...(await step(() => store.ruleHours(workspaceId, { from, to: Math.min(last, from + 23) }))));
      const known = await store.ruleDays(workspaceId, first);
      return {
        ...ruleDaysJson(known, first, today),
        hours_from: isoTime((last - hours + 1) * HOUR),
        hours: Array.from({ length: hours }, (_, i) => {
          const { hour: _hour, ...counts } = found.find(({ hour }) => hour === last - hours + 1 + i) ?? NO_CHANGES;
          return counts;
        }),
      };
    },
  }),
  operation('listDevices', 'GET /devices', 'rules:read', {
    summary: 'List the devices that fetch feeds, with address, responses and delay',
    query: Type.Object({
      ...PAGE_QUERY,
      key: textField(200, 'Only devices with this key (id or unique name).'),
    }),
    answer: pageSchema('Devices', 'devices', DEVICE),
    async run({ store, workspaceId }, { query: { key, ...query } }) {
      // An unknown key has no devices.
      const keyId =
        key === undefined
          ? undefined
          : await findKeyNamed(store, workspaceId, key).then(
              ({ id }) => id,
              (error) => {
                if (!hasCode(error, 'NOT_FOUND')) throw error;
                return key;
              },
            );
      const page = await devicePage(store, workspaceId, pageRequest(query, BY_ID), keyId === undefined ? {} : { keyId });
      return { page, names: await deviceNames(store, workspaceId, page.items) };
    },
    show: ({ page, names }) => ({ body: pageBody('devices', page, (each) => deviceJson(each, names)) }),
  }),
];

const BY_ID = /^[\w-]{1,43}$/;
