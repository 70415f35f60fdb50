import {
  type ComposedFeed,
  FEED_SETTINGS,
  type FeedMaking,
  type FeedPatch,
  feedSettingsJson,
  feedState,
  type Members,
  makingJson,
  NO_MAKING,
} from '../../account/feed.ts';
import { NO_SETTINGS } from '../../account/list.ts';
import { stateTag } from '../../account/tag.ts';
import { answerOf, type Fields, flagField, Type } from '../../json/schema.ts';
import { type ChangeContext, changeOptions, type ManageContext } from '../context.ts';
import { deleteNamed } from '../deletion.ts';
import { FEED_STATE, feedStateJson } from '../feed-state.ts';
import { findFeed, listIdOf } from '../find.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';
import { BY_NUMBER, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';
import { DELETE_QUERY, DELETION, DELETION_WORDS, deletionBody } from './deleted.ts';
import { isDescriptive, Name, settable, settingFields, settingsPatch } from './settings.ts';

const MOST_LISTS = 1000;

/** Rejects with REFUSED if the name is in use, with NOT_FOUND for an unknown list. */
export async function createFeed(
  context: ChangeContext,
  wanted: FeedPatch & { readonly name: string; readonly lists: Members },
): Promise<ComposedFeed> {
  const feed = { ...NO_SETTINGS, ...NO_MAKING, ...wanted };
  requireMaking(feed);
  return context.store.createFeed(context.workspaceId, feed, { ...changeOptions(context), most: context.maxFeeds });
}

/** Absent fields stay. */
export async function changeFeed(context: ChangeContext, ref: string, patch: FeedPatch): Promise<ComposedFeed> {
  const feed = await findFeed(context.store, context.workspaceId, ref);
  if (patch.minSources !== undefined || patch.always !== undefined || patch.lists !== undefined) {
    const { lists } = { ...feed, ...patch };
    requireMaking({ ...feed, always: feed.always.filter((id) => lists?.includes(id) ?? true), ...patch, lists });
  }
  return context.store.updateFeed(context.workspaceId, feed.id, patch, changeOptions(context));
}

/** Lists may be ids or names. Throws USAGE. */
export function requireMaking({
  lists,
  minSources,
  always,
}: Pick<FeedMaking, 'minSources' | 'always'> & { readonly lists: Members }): void {
  if (lists === null) return;
  if (minSources !== null && minSources > Math.max(1, lists.length))
    throw fieldFault('min_sources', `exceeds the number of lists of the feed, ${lists.length}`);
  if (always.some((id) => !lists.includes(id))) throw fieldFault('always', 'names a list that is not part of the feed');
}

export const feedJson = (feed: ComposedFeed) => ({
  id: feed.id,
  workspace_id: feed.workspaceId,
  name: feed.name,
  all_lists: feed.lists === null,
  lists: feed.lists ?? [],
  ...feedSettingsJson(feed),
  ...makingJson(feed),
});

const FEED = {
  id: '0195a3c0-0000-7000-8000-000000000003',
  workspace_id: '0195a3c0-0000-7000-8000-000000000000',
  name: ['perimeter', Name],
  all_lists: [false, 'Contains all lists, including future ones.'],
  lists: [['0195a3c0-0000-7000-8000-000000000001'], Type.Array(Type.String({ format: 'uuid' }), { description: 'In this order.' })],
  ...settingFields({ ...NO_SETTINGS, ...NO_MAKING }, FEED_SETTINGS),
  always: [[], Type.Array(Type.String({ format: 'uuid' }), { description: 'Trusted lists: always included, no second source needed.' })],
  feed: FEED_STATE,
} as const satisfies Fields;
const Feed = answerOf('Feed', FEED);

const listNames = (description: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 200, format: 'text' }), { maxItems: MOST_LISTS, description }));

export const MAKING = {
  lists: listNames('UUIDs or unique names of lists, in this order.'),
  all_lists: flagField('All lists, including future ones.'),
  always: listNames('Trusted lists of the feed, such as own detections: always included, no second source needed.'),
  ...settable(FEED_SETTINGS),
};

export async function feedPatch(context: ManageContext, body: Readonly<Record<string, unknown>>): Promise<FeedPatch> {
  const { lists, all_lists: all = false, always } = body as { lists?: string[]; all_lists?: boolean; always?: string[] };
  if (all && lists !== undefined) throw fieldFault('lists', 'cannot be combined with all_lists');
  return {
    ...settingsPatch(body, FEED_SETTINGS),
    ...(all ? { lists: null } : lists !== undefined && { lists: await idsOf(context, lists) }),
    ...(always !== undefined && { always: await idsOf(context, always) }),
  };
}

async function idsOf({ store, workspaceId }: ManageContext, refs: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const ref of refs) ids.push(await listIdOf(store, workspaceId, ref));
  return [...new Set(ids)];
}

/** null: all lists. */
const listsOf = (...lists: readonly (readonly string[] | null)[]) =>
  lists.includes(null) ? undefined : [...new Set(lists.flatMap((each) => each ?? []))];

const feedBody = (feed: ComposedFeed, context: ManageContext) => ({ ...feedJson(feed), feed: feedStateJson(context, feed.id) });
const respond = (feed: ComposedFeed, context: ManageContext): Outcome => ({
  body: feedBody(feed, context),
  tag: stateTag(feedState(feed)),
});

const UNKNOWN = 'there is no feed "perimeter"';
const NAME_IN_USE = 'the workspace has a list called "perimeter"; lists and feeds share their names';

export const FEED_OPERATIONS: readonly Operation[] = [
  operation('listFeeds', 'GET /feeds', 'rules:read', {
    summary: 'List the composed feeds, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Feeds', 'feeds', FEED, Feed),
    run: ({ store, workspaceId }, { query }) => store.feedPage(workspaceId, pageRequest(query, BY_NUMBER)),
    show: (page, context) => ({ body: pageBody('feeds', page, (feed) => feedBody(feed, context)) }),
  }),
  operation('getFeed', 'GET /feeds/{feed}', 'rules:read', {
    summary: 'Get a composed feed by UUID or name',
    answer: Feed,
    refusals: { 404: UNKNOWN },
    run: ({ store, workspaceId }, { params }) => findFeed(store, workspaceId, params.feed!),
    show: respond,
  }),
  operation('createFeed', 'POST /feeds', 'manage', {
    summary: 'Create a feed of several lists, or of all',
    body: Type.Object({ name: Name, ...MAKING }),
    answer: Feed,
    audit: 'feed created',
    creates: 'in_store',
    refusals: { 404: 'there is no list "edge"', 409: NAME_IN_USE },
    examples: [
      { name: 'perimeter', lists: ['edge', 'scanners'] },
      { name: 'everything', all_lists: true },
      { name: 'agreed', lists: ['soc', 'edge', 'scanners'], min_sources: 2, always: ['soc'] },
    ],
    async run(context, { body }) {
      const { lists, ...patch } = await feedPatch(context, body);
      if (lists === undefined) throw fieldFault('lists', 'is required unless all_lists is true');
      return createFeed(context, { ...patch, name: body.name, lists });
    },
    status: 201,
    show: (feed, context) => ({ ...respond(feed, context), location: `/feeds/${feed.id}` }),
  }),
  operation('changeFeed', 'PATCH /feeds/{feed}', 'manage', {
    summary: 'Change the lists or settings of a feed; null unsets',
    body: Type.Object(MAKING),
    answer: Feed,
    audit: 'feed changed',
    edits: true,
    refusals: { 404: UNKNOWN },
    examples: [{ lists: ['edge'], format: 'commented' }],
    async touches(context, { params, body }) {
      const { id, lists: before } = await findFeed(context.store, context.workspaceId, params.feed!);
      const { lists, always } = await feedPatch(context, body);
      return isDescriptive(body) ? null : { lists: listsOf(before, lists ?? []), of: [id, lists, always] };
    },
    run: async (context, { params, body }) => changeFeed(context, params.feed!, await feedPatch(context, body)),
    show: respond,
  }),
  operation('deleteFeed', 'DELETE /feeds/{feed}', 'manage', {
    summary: 'Delete a feed but not its lists; revokes bound keys',
    description: DELETION_WORDS,
    query: Type.Object(DELETE_QUERY),
    answer: DELETION,
    audit: 'feed deleted',
    edits: true,
    refusals: {
      404: UNKNOWN,
      409: 'deleting the feed "perimeter" also revokes 1 key: see the details with preview=1, delete with confirmed=1',
    },
    async touches({ store, workspaceId }, { params, query }) {
      const { id, lists } = await findFeed(store, workspaceId, params.feed!);
      return query.preview ? null : { lists: listsOf(lists), of: id };
    },
    run: (context, { params, query: { for_good: forGood, ...request } }) =>
      deleteNamed(context, 'composed', params.feed!, { ...request, forGood }),
    show: (deletion) => ({ body: deletionBody(deletion) }),
  }),
];
