/** Lists: their names, stored defaults, and what their feeds are like. */

import { type AccessList, LIST_SETTINGS, type ListPatch, listState, NO_SETTINGS, settingsJson } from '../../account/list.ts';
import { stateTag } from '../../account/tag.ts';
import { answerOf, type Fields, nullable, Type } from '../../json/schema.ts';
import { type ChangeContext, changeOptions, type ManageContext } from '../context.ts';
import { deleteNamed } from '../deletion.ts';
import { FEED_STATE, feedStateJson } from '../feed-state.ts';
import { findList } from '../find.ts';
import { type Operation, operation } from '../operation.ts';
import type { Outcome } from '../outcome.ts';
import { BY_NUMBER, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';
import { DELETE_QUERY, DELETION, DELETION_WORDS, deletionBody } from './deleted.ts';
import { Name, SETTABLE, settingFields, settingsPatch } from './settings.ts';

/** Makes a list. Rejects with REFUSED when the workspace has as many as it may, or a feed of that name. */
export const createList = (context: ChangeContext, { name, ...settings }: ListPatch & { readonly name: string }): Promise<AccessList> =>
  context.store.createList(context.workspaceId, name, { ...NO_SETTINGS, ...settings }, context.maxLists, changeOptions(context));

/** Changes what is set of a list; what the patch does not name stays. */
export async function changeList(context: ChangeContext, ref: string, patch: ListPatch): Promise<AccessList> {
  const { id } = await findList(context.store, context.workspaceId, ref);
  return context.store.updateList(context.workspaceId, id, patch, changeOptions(context));
}

/** A list as JSON has it. */
export const listJson = (list: AccessList) => ({
  id: list.id,
  workspace_id: list.workspaceId,
  name: list.name,
  default: list.isDefault,
  source_id: list.sourceId,
  ...settingsJson(list),
});

const LIST = {
  id: '0195a3c0-0000-7000-8000-000000000001',
  workspace_id: '0195a3c0-0000-7000-8000-000000000000',
  name: ['edge', Name],
  default: [false, 'Access rules land there when nothing names another list; it cannot be deleted.'],
  source_id: [null, nullable(Type.String(), { description: 'The source that keeps it: nothing else changes its rules.' })],
  ...settingFields({ ...NO_SETTINGS, description: 'hosts that scan us', maxEntries: 50_000 }, LIST_SETTINGS),
  feed: FEED_STATE,
} as const satisfies Fields;
const List = answerOf('List', LIST);

const listBody = (list: AccessList, context: ManageContext) => ({ ...listJson(list), feed: feedStateJson(context, list.id) });

/** The answer to every request that leaves a list as it is now. */
const shown = (list: AccessList, context: ManageContext): Outcome => ({ body: listBody(list, context), tag: stateTag(listState(list)) });

const AMBIGUOUS = '2 lists are called "edge"; use the id: 0195a3c0-0000-7000-8000-000000000001, 0195a3c0-0000-7000-8000-000000000004';
const UNKNOWN = 'there is no list "edge"';

export const LIST_OPERATIONS: readonly Operation[] = [
  operation('listLists', 'GET /lists', 'rules:read', {
    summary: 'The lists of the workspace, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Lists', 'lists', LIST, List),
    run: ({ store, workspaceId }, { query }) => store.listPage(workspaceId, pageRequest(query, BY_NUMBER)),
    show: (page, context) => ({ body: pageBody('lists', page, (list) => listBody(list, context)) }),
  }),
  operation('getList', 'GET /lists/{list}', 'rules:read', {
    summary: 'One list, by UUID or unique name',
    answer: List,
    refusals: { 404: UNKNOWN, 409: AMBIGUOUS },
    run: ({ store, workspaceId }, { params }) => findList(store, workspaceId, params.list!),
    show: shown,
  }),
  operation('createList', 'POST /lists', 'manage', {
    summary: 'Make a list',
    body: Type.Object({ name: Name, ...SETTABLE }),
    answer: List,
    audit: 'list created',
    creates: 'in_store',
    refusals: { 409: 'the workspace has a feed called "edge"; lists and feeds share their names' },
    examples: [{ name: 'edge', description: 'hosts that scan us', max_entries: 50_000 }],
    run: (context, { body }) => createList(context, { ...settingsPatch(body), name: body.name }),
    status: 201,
    show: (list, context) => ({ ...shown(list, context), location: `/lists/${list.id}` }),
  }),
  operation('changeList', 'PATCH /lists/{list}', 'manage', {
    summary: 'Change what is set of a list; null unsets, what is not named stays',
    body: Type.Object(SETTABLE),
    answer: List,
    audit: 'list changed',
    edits: true,
    refusals: { 404: UNKNOWN, 409: AMBIGUOUS },
    examples: [{ max_entries: 100_000, description: null }],
    run: (context, { params, body }) => changeList(context, params.list!, settingsPatch(body)),
    show: shown,
  }),
  operation('deleteList', 'DELETE /lists/{list}', 'manage', {
    summary: 'Delete a list with its rules; keys that are bound to it are revoked',
    description: DELETION_WORDS,
    query: Type.Object(DELETE_QUERY),
    answer: DELETION,
    audit: 'list deleted',
    edits: true,
    refusals: {
      404: UNKNOWN,
      409: 'with the list "edge" goes 1204 rules, 1 key: with preview=1 it is told in full, with confirmed=1 it is done',
    },
    run: (context, { params, query: { for_good: forGood, ...request } }) =>
      deleteNamed(context, 'list', params.list!, { ...request, forGood }),
    show: (deletion) => ({ body: deletionBody(deletion) }),
  }),
];
