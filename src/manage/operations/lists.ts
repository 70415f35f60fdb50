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
import { isDescriptive, Name, SETTABLE, settingFields, settingsPatch } from './settings.ts';

/** Rejects with REFUSED at the limit, or if the name is in use. */
export const createList = (context: ChangeContext, { name, ...settings }: ListPatch & { readonly name: string }): Promise<AccessList> =>
  context.store.createList(context.workspaceId, name, { ...NO_SETTINGS, ...settings }, context.maxLists, changeOptions(context));

/** Absent settings stay. */
export async function changeList(context: ChangeContext, ref: string, patch: ListPatch): Promise<AccessList> {
  const { id } = await findList(context.store, context.workspaceId, ref);
  return context.store.updateList(context.workspaceId, id, patch, changeOptions(context));
}

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
  default: [false, 'Access rules land here if they name no list; it cannot be deleted.'],
  source_id: [null, nullable(Type.String(), { description: 'The source that manages it: its rules cannot be changed otherwise.' })],
  ...settingFields({ ...NO_SETTINGS, description: 'hosts that scan us', maxEntries: 50_000 }, LIST_SETTINGS),
  feed: FEED_STATE,
} as const satisfies Fields;
const List = answerOf('List', LIST);

const listBody = (list: AccessList, context: ManageContext) => ({ ...listJson(list), feed: feedStateJson(context, list.id) });

const respond = (list: AccessList, context: ManageContext): Outcome => ({ body: listBody(list, context), tag: stateTag(listState(list)) });

async function listNamed({ store, workspaceId }: ManageContext, ref: string) {
  const { id } = await findList(store, workspaceId, ref);
  return { lists: [id], of: id };
}

const AMBIGUOUS = '2 lists are called "edge"; use the id: 0195a3c0-0000-7000-8000-000000000001, 0195a3c0-0000-7000-8000-000000000004';
const UNKNOWN = 'there is no list "edge"';

export const LIST_OPERATIONS: readonly Operation[] = [
  operation('listLists', 'GET /lists', 'rules:read', {
    summary: 'List all lists, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Lists', 'lists', LIST, List),
    run: ({ store, workspaceId }, { query }) => store.listPage(workspaceId, pageRequest(query, BY_NUMBER)),
    show: (page, context) => ({ body: pageBody('lists', page, (list) => listBody(list, context)) }),
  }),
  operation('getList', 'GET /lists/{list}', 'rules:read', {
    summary: 'Get a list by UUID or unique name',
    answer: List,
    refusals: { 404: UNKNOWN, 409: AMBIGUOUS },
    run: ({ store, workspaceId }, { params }) => findList(store, workspaceId, params.list!),
    show: respond,
  }),
  operation('createList', 'POST /lists', 'manage', {
    summary: 'Create a list',
    body: Type.Object({ name: Name, ...SETTABLE }),
    answer: List,
    audit: 'list created',
    creates: 'in_store',
    refusals: { 409: 'the workspace has a feed called "edge"; lists and feeds share their names' },
    examples: [{ name: 'edge', description: 'hosts that scan us', max_entries: 50_000 }],
    run: (context, { body }) => createList(context, { ...settingsPatch(body), name: body.name }),
    status: 201,
    show: (list, context) => ({ ...respond(list, context), location: `/lists/${list.id}` }),
  }),
  operation('changeList', 'PATCH /lists/{list}', 'manage', {
    summary: 'Change the settings of a list; null unsets',
    body: Type.Object(SETTABLE),
    answer: List,
    audit: 'list changed',
    edits: true,
    refusals: { 404: UNKNOWN, 409: AMBIGUOUS },
    examples: [{ max_entries: 100_000, description: null }],
    touches: async (context, { params, body }) => (isDescriptive(body) ? null : listNamed(context, params.list!)),
    run: (context, { params, body }) => changeList(context, params.list!, settingsPatch(body)),
    show: respond,
  }),
  operation('deleteList', 'DELETE /lists/{list}', 'manage', {
    summary: 'Delete a list with its rules; revokes bound keys',
    description: DELETION_WORDS,
    query: Type.Object(DELETE_QUERY),
    answer: DELETION,
    audit: 'list deleted',
    edits: true,
    refusals: {
      404: UNKNOWN,
      409: 'deleting the list "edge" also deletes 1204 rules, revokes 1 key: see the details with preview=1, delete with confirmed=1',
    },
    touches: async (context, { params, query }) => (query.preview ? null : listNamed(context, params.list!)),
    run: (context, { params, query: { for_good: forGood, ...request } }) =>
      deleteNamed(context, 'list', params.list!, { ...request, forGood }),
    show: (deletion) => ({ body: deletionBody(deletion) }),
  }),
];
