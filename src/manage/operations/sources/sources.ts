/** SPEC D23. */
import { sourceSettingsJson } from '../../../account/source-change.ts';
import { stateTag } from '../../../account/tag.ts';
import { answerOf, flagField, Type } from '../../../json/schema.ts';
import type { SourceRecord } from '../../../ports/stored/source-store.ts';
import type { ManageContext } from '../../context.ts';
import { type Operation, operation } from '../../operation.ts';
import type { Outcome } from '../../outcome.ts';
import { BY_NUMBER, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../../page.ts';
import { SOURCE, SOURCE_BODY, Source, sourceJson, wantedOf } from '../../sources/source-json.ts';
import { changeSource, createSource, deleteSource, findSource, pauseSource } from '../../sources/sources.ts';
import { DELETE_QUERY, DELETION_FIELDS, DELETION_WORDS } from '../deleted.ts';
import { Name } from '../settings.ts';

const bodyOf = (record: SourceRecord, { now }: ManageContext) => sourceJson(record, now());

export const respond = (record: SourceRecord, context: ManageContext): Outcome => ({
  body: bodyOf(record, context),
  tag: stateTag(sourceSettingsJson(record.source)),
});

export const UNKNOWN = 'there is no source "spamhaus-drop"';
const BY_HOST = 'The minimum interval is that of the catalogue for the host.';

const pausing = (isPaused: boolean) =>
  operation(isPaused ? 'pauseSource' : 'resumeSource', `POST /sources/{source}/${isPaused ? 'pause' : 'resume'}`, 'manage', {
    summary: isPaused ? 'Pause a source; its list stays until it expires' : 'Resume a source and refresh it now',
    body: Type.Object({}),
    answer: Source,
    audit: isPaused ? 'source paused' : 'source resumed',
    refusals: { 404: UNKNOWN },
    examples: [{}],
    run: (context, { params }) => pauseSource(context, params.source!, isPaused),
    show: respond,
  });

export const SOURCE_OPERATIONS: readonly Operation[] = [
  operation('listSources', 'GET /sources', 'rules:read', {
    summary: 'List all sources, oldest first',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('Sources', 'sources', SOURCE, Source),
    run: ({ store, workspaceId }, { query }) => store.sourcePage(workspaceId, pageRequest(query, BY_NUMBER)),
    show: (page, context) => ({ body: pageBody('sources', page, (record) => bodyOf(record, context)) }),
  }),
  operation('getSource', 'GET /sources/{source}', 'rules:read', {
    summary: 'Get a source by UUID, by name, or by the UUID of its list',
    answer: Source,
    refusals: { 404: UNKNOWN },
    run: ({ store, workspaceId }, { params }) => findSource(store, workspaceId, params.source!),
    show: respond,
  }),
  operation('createSource', 'POST /sources', 'manage', {
    summary: 'Create a source and its list',
    description: `With \`catalogue\`, absent fields get the values of the catalogue. ${BY_HOST} Only the source changes the rules of its list.`,
    body: Type.Object({ name: Type.Optional(Name), catalogue: Type.Optional(Type.String({ maxLength: 100 })), ...SOURCE_BODY }),
    answer: Source,
    audit: 'source created',
    creates: 'in_store',
    refusals: { 409: 'the workspace has a list called "spamhaus-drop"; lists and feeds share their names' },
    examples: [
      { catalogue: 'spamhaus-drop' },
      { name: 'partners', url: 'https://partner.example/ranges.json', purpose: 'allow', paths: ['prefixes[].cidr'] },
    ],
    run: (context, { body: { name, catalogue, ...body } }) =>
      createSource(context, { ...wantedOf(body), name, ...(catalogue !== undefined && { catalogue }) }),
    status: 201,
    show: (record, context) => ({ ...respond(record, context), location: `/sources/${record.source.id}` }),
  }),
  operation('changeSource', 'PATCH /sources/{source}', 'manage', {
    summary: 'Change the settings of a source; null unsets',
    description: `A change of how the content is read triggers a fetch. ${BY_HOST} Another origin needs the secret again.`,
    body: Type.Object(SOURCE_BODY),
    answer: Source,
    audit: 'source changed',
    edits: true,
    refusals: {
      404: UNKNOWN,
      409: 'secrets of sources are stored encrypted, but the service has no key for that: its operator has to set SECRETS_KEY',
    },
    examples: [{ every: 43_200, change_percent: 80 }],
    run: (context, { params, body }) => changeSource(context, params.source!, wantedOf(body)),
    show: respond,
  }),
  operation('deleteSource', 'DELETE /sources/{source}', 'manage', {
    summary: 'Delete a source with its list and rules; revokes bound keys',
    description: `${DELETION_WORDS} Restoring its list restores the source, paused.`,
    query: Type.Object({
      ...DELETE_QUERY,
      keep_list: flagField('true: keeps the list and its rules, as an ordinary list.'),
    }),
    answer: answerOf('SourceDeletion', {
      ...DELETION_FIELDS,
      id: '0195a3c0-0000-7000-8000-000000000005',
      list_id: DELETION_FIELDS.id,
      list_kept: false,
    }),
    audit: 'source deleted',
    edits: true,
    refusals: {
      404: UNKNOWN,
      409: 'deleting the list "spamhaus-drop" also deletes 1204 rules: see the details with preview=1, delete with confirmed=1',
    },
    async touches({ store, workspaceId }, { params, query }) {
      if (query.preview || query.keep_list) return null;
      const { id, listId } = (await findSource(store, workspaceId, params.source!)).source;
      return { lists: [listId], of: id };
    },
    run: (context, { params, query: { for_good: forGood, keep_list: keepList, ...request } }) =>
      deleteSource(context, params.source!, { ...request, forGood, keepList }),
  }),
  pausing(true),
  pausing(false),
];
