/** The audit log of the workspace. */

import { type Fields, nullable, Type } from '../../json-schema.ts';
import { auditJson, auditNames } from '../audit-json.ts';
import { type Operation, operation } from '../operation.ts';
import { BY_NUMBER, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';

const changed = nullable(Type.Record(Type.String(), Type.Unknown()), {
  description: 'The fields that the change concerns; null: it was not there, or what changed is large.',
});
const ENTRY = {
  id: 17,
  at: '2026-11-22T09:59:31.000Z',
  event: 'list changed',
  object: ['0195a3c0-0000-7000-8000-000000000001', Type.String({ description: 'The id of what was changed.' })],
  name: ['edge', nullable(Type.String(), { description: 'Of that; what is gone has the name that it had. null: it has none.' })],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', nullable(Type.String(), { description: 'null: a command.' })],
  key_name: ['console', nullable(Type.String(), { description: 'null: a command, or a key that is forgotten.' })],
  actor: ['Jana Novák', nullable(Type.String(), { description: 'The person, as the request named it, or a provider.' })],
  person: [null, nullable(Type.String(), { description: 'The provider that has named the person, and who that is there.' })],
  act: [null, nullable(Type.String(), { description: 'What the change was a part of: equal for all that were made together.' })],
  before: [{ max_entries: null }, changed],
  after: [{ max_entries: 100_000 }, changed],
  names: [{}, Type.Record(Type.String(), Type.String(), { description: 'The names of the ids in before and after.' })],
} as const satisfies Fields;

export const AUDIT_OPERATIONS: readonly Operation[] = [
  operation('listAudit', 'GET /audit', 'manage', {
    summary: 'Who changed what, newest first; kept for 90 days',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('AuditLog', 'entries', ENTRY),
    async run({ store, workspaceId }, { query }) {
      const page = await store.auditPage(workspaceId, pageRequest(query, BY_NUMBER));
      const names = await auditNames(store, workspaceId);
      return pageBody('entries', page, (row) => auditJson(row, names));
    },
    show: (body) => ({ body }),
  }),
];
