/** SPEC D60. */
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { FeedDifference } from '../../feed/whatif/difference/difference.ts';
import { answerOf, exampleOf, flagField, listOf, nullable, objectOf, Type, textField } from '../../json/schema.ts';
import type { StoreReads } from '../../ports/store.ts';
import { alreadyFrozen, type Freeze } from '../../ports/stored/freeze-store.ts';
import { changeOptions, type ManageContext } from '../context.ts';
import { anyFeedId } from '../find.ts';
import { type Operation, operation } from '../operation.ts';

/** Networks in a preview, added and removed ones each. */
const MOST_NAMED = 1000;

const Feed = textField(200, "UUID or name of a list or feed; default: the workspace's feed.", { format: 'text' });
const Reason = textField(200, 'Recorded in the audit log.', { format: 'text' });
const FREEZE = {
  feed_id: ['0195a3c0-0000-7000-8000-000000000003', nullable(Type.String())],
  name: ['perimeter', 'As of the freeze.'],
  frozen_since: '2026-11-20T10:00:00.000Z',
  reason: ['investigating a wrong block', nullable(Type.String())],
  rules: [1200, 'Stored rules of the frozen feed.'],
  canary_keys: [
    ['0195a3c0-0000-7000-8000-00000000000a'],
    nullable(Type.Array(Type.String()), { description: 'Keys that receive the large change first; null: a person froze the feed.' }),
  ],
  canary_until: [
    '2026-11-20T10:10:00.000Z',
    nullable(Type.String(), { description: 'All keys receive the change then; null: a person decides.' }),
  ],
} as const;
const SIZE = { entries: 1180, over_cap: false };
const networks = (example: string) => [[example], Type.Array(Type.String())] as const;
const DIFFERENCE = {
  before: SIZE,
  after: SIZE,
  added: 3,
  removed: 1,
  added_networks: networks('198.51.100.7'),
  removed_networks: networks('203.0.113.0/24'),
} as const;

export const freezeJson = ({ feedId, name, since, reason, rules, canary }: Freeze) => ({
  feed_id: feedId,
  name,
  frozen_since: isoTime(since),
  reason,
  rules,
  canary_keys: canary?.keys ?? null,
  canary_until: isoTime(canary?.until ?? null),
});

const sizeJson = ({ entries, overCap }: FeedDifference['before']) => ({ entries, over_cap: overCap });
const differenceJson = ({ before, after, added, removed }: FeedDifference) => ({
  ...{ before: sizeJson(before), after: sizeJson(after), added: added.count, removed: removed.count },
  ...{ added_networks: added.first, removed_networks: removed.first },
});

/** Of each frozen feed, by id. */
export async function frozenSince(
  store: Pick<StoreReads, 'freezes'>,
  workspaceId: string,
): Promise<ReadonlyMap<string | null, string | null>> {
  return new Map((await store.freezes(workspaceId)).map(({ feedId, since }) => [feedId, isoTime(since)]));
}

const feedIdOf = ({ store, workspaceId }: ManageContext, feed: string | undefined) =>
  feed === undefined ? null : anyFeedId(store, workspaceId, feed);

const NO_CANARY = 'the feed has no canary in progress';
const NO_FEED = 'there is no list or feed "edge"';

/** Ends or stops the canary of a feed. */
const canaryOperation = (
  name: string,
  path: `/${string}`,
  of: Pick<Operation, 'summary' | 'description' | 'audit'>,
  isStop: boolean,
): Operation =>
  operation(name, `POST ${path}`, 'manage', {
    ...of,
    body: Type.Object({ feed: Feed, reason: Reason }),
    answer: answerOf(isStop ? 'StoppedCanary' : 'PromotedCanary', FREEZE),
    refusals: { 404: NO_FEED, 409: NO_CANARY },
    examples: [{ feed: 'perimeter', reason: 'checked by the network team' }, {}],
    async run(context, { body: { feed, reason = null } }) {
      const { store, workspaceId } = context;
      const feedId = await feedIdOf(context, feed);
      const freeze = (await store.freezes(workspaceId)).find((each) => each.feedId === feedId);
      if (freeze?.canary == null) throw new WeirError('REFUSED', NO_CANARY);
      const change = isStop ? store.stopCanary.bind(store) : store.thawFeed.bind(store);
      return freezeJson(await change(workspaceId, feedId, reason, changeOptions(context)));
    },
  });

export const FREEZE_OPERATIONS: readonly Operation[] = [
  canaryOperation(
    'stopCanary',
    '/canary/stop',
    {
      summary: 'Keep a large change from all keys but the canaries',
      description: 'The other keys keep the feed, with small changes, until a person promotes or undoes the large change.',
      audit: 'feed canary stopped',
    },
    true,
  ),
  canaryOperation(
    'promoteCanary',
    '/canary/promote',
    { summary: 'Serve a large change to all keys now', description: 'Also after a stop.', audit: 'feed canary promoted' },
    false,
  ),
  operation('listFreezes', 'GET /freezes', 'rules:read', {
    summary: 'List frozen feeds, oldest first',
    answer: answerOf('Freezes', { freezes: listOf(FREEZE) }),
    run: async ({ store, workspaceId }) => ({ freezes: (await store.freezes(workspaceId)).map(freezeJson) }),
  }),
  operation('freezeFeed', 'POST /freeze', 'manage', {
    summary: 'Serve a feed as it is now until it is thawed',
    description:
      'Rules still expire, and the protected networks of the service and geo data stay current. Nothing else changes the feed: neither blocks, unblocks and never-block rules, nor settings and guard rails of the workspace. Lists of rules and agent configurations are not frozen.',
    body: Type.Object({ feed: Feed, reason: Reason }),
    answer: answerOf('Freeze', FREEZE),
    audit: 'feed frozen',
    isLong: true,
    refusals: { 404: NO_FEED, 409: 'the feed is frozen: thaw it first', 413: 'reading the feed takes longer than 60 s' },
    examples: [{ feed: 'perimeter', reason: 'investigating a wrong block' }, {}],
    async run(context, { body: { feed, reason = null } }) {
      const { store, workspaceId, freezer } = context;
      const feedId = await feedIdOf(context, feed);
      const known = (await store.freezes(workspaceId)).find((each) => each.feedId === feedId);
      if (known !== undefined) throw alreadyFrozen(known.canary);
      return freezeJson(await store.freezeFeed(workspaceId, await freezer(workspaceId, feedId), reason, changeOptions(context)));
    },
  }),
  operation('thawFeed', 'POST /thaw', 'manage', {
    summary: 'Serve a frozen feed as its rules are now',
    description: 'With preview: true nothing changes, and the answer has the difference.',
    body: Type.Object({ feed: Feed, reason: Reason, preview: flagField('Shows what changes.') }),
    answer: answerOf('Thaw', {
      ...FREEZE,
      thawed: false,
      difference: [
        exampleOf(DIFFERENCE),
        nullable(objectOf(DIFFERENCE), { description: 'In previews only, with the first 1,000 networks each.' }),
      ],
    }),
    audit: 'feed thawed',
    isLong: true,
    refusals: { 404: NO_FEED, 409: 'the feed is not frozen', 413: 'comparing two states of a feed takes longer than 60 s' },
    examples: [{ feed: 'perimeter', preview: true }, { feed: 'perimeter', reason: 'the block is corrected' }, {}],
    async run(context, { body: { feed, reason = null, preview = false } }) {
      const { store, workspaceId, difference } = context;
      const feedId = await feedIdOf(context, feed);
      const freeze = (await store.freezes(workspaceId)).find((each) => each.feedId === feedId);
      if (freeze === undefined) throw new WeirError('REFUSED', 'the feed is not frozen');
      if (preview) {
        const found = await difference(workspaceId, { thawed: feedId, limit: MOST_NAMED });
        return { ...freezeJson(freeze), thawed: false, difference: differenceJson(found) };
      }
      return { ...freezeJson(await store.thawFeed(workspaceId, feedId, reason, changeOptions(context))), thawed: true, difference: null };
    },
  }),
];
