/** What happened in a list or the workspace day by day. */
import { Type } from 'typebox';
import type { FeedDay } from '../../ports/history.ts';
import { findListOrFeed } from '../find.ts';
import { type Operation, operation } from '../operation.ts';

/** ms. */
export const DAY = 86_400_000;
/** Days that are kept. */
export const YEAR = 366;

/** A day as JSON has it. */
export const dayJson = ({ day, v4, v6, ...counts }: FeedDay) => ({
  day: new Date(day * DAY).toISOString().slice(0, 10),
  ...counts,
  v4: v4 && { last: v4.last, max: v4.most },
  v6: v6 && { last: v6.last, max: v6.most },
});

const Size = Type.Union([Type.Object({ last: Type.Integer(), max: Type.Integer() }), Type.Null()], {
  description: 'Networks of the block feed; null: not known.',
});

export const HISTORY_OPERATIONS: readonly Operation[] = [
  operation({
    name: 'getHistory',
    summary: 'What came, lapsed, was undone and deleted day by day (UTC), and how large the block feed was',
    method: 'GET',
    path: '/history',
    permission: 'rules:read',
    query: Type.Object({
      feed: Type.Optional(
        Type.String({ maxLength: 200, format: 'text', description: "A list or feed, by UUID or name; absent: the workspace's." }),
      ),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: YEAR, description: 'How many days, today included; 30 when absent.' })),
    }),
    answer: Type.Object(
      {
        days: Type.Array(
          Type.Object({
            day: Type.String({ format: 'date' }),
            came: Type.Integer(),
            lapsed: Type.Integer(),
            undone: Type.Integer(),
            deleted: Type.Integer(),
            v4: Size,
            v6: Size,
          }),
        ),
      },
      {
        title: 'History',
        examples: [
          { days: [{ day: '2026-11-22', came: 120, lapsed: 80, undone: 0, deleted: 3, v4: { last: 1200, max: 1300 }, v6: null }] },
        ],
      },
    ),
    audit: null,
    refusals: { 404: 'there is no list or feed "edge"' },
    async run({ store, workspaceId, now }, { query }) {
      const { feed, days = 30 } = query;
      const to = Math.floor(now() / DAY);
      const feedId = feed === undefined ? null : await findListOrFeed(store, workspaceId, feed);
      return store.feedDays(workspaceId, feedId, { from: to - days + 1, to });
    },
    show: (days) => ({ body: { days: days.map(dayJson) } }),
  }),
];
