/** The audit log of the workspace. */

import { isoTime } from '../../clock.ts';
import { type Fields, nullable, Type } from '../../json-schema.ts';
import type { AuditRow } from '../../ports/account-store.ts';
import { type Operation, operation } from '../operation.ts';
import { BY_NUMBER, PAGE_QUERY, pageBody, pageRequest, pageSchema } from '../page.ts';

const auditJson = ({ id, at, event, object, by, change }: AuditRow) => ({
  id,
  at: isoTime(at),
  event,
  object,
  key_id: by.keyId,
  actor: by.actor,
  person: by.personId ?? null,
  before: change?.before ?? null,
  after: change?.after ?? null,
});

const changed = nullable(Type.Record(Type.String(), Type.Unknown()), {
  description: 'The fields that the change concerns; null: it was not there, or what changed is large.',
});
const ENTRY = {
  id: 17,
  at: '2026-11-22T09:59:31.000Z',
  event: 'list changed',
  object: ['0195a3c0-0000-7000-8000-000000000001', Type.String({ description: 'The id of what was changed.' })],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', nullable(Type.String(), { description: 'null: a command.' })],
  actor: ['Jana Novák', nullable(Type.String(), { description: 'The person, as the request named it, or a provider.' })],
  person: [null, nullable(Type.String(), { description: 'The provider that has named the person, and who that is there.' })],
  before: [{ max_entries: null }, changed],
  after: [{ max_entries: 100_000 }, changed],
} as const satisfies Fields;

export const AUDIT_OPERATIONS: readonly Operation[] = [
  operation('listAudit', 'GET /audit', {
    summary: 'Who changed what, newest first; kept for 90 days',
    permission: 'manage',
    query: Type.Object(PAGE_QUERY),
    answer: pageSchema('AuditLog', 'entries', ENTRY),
    run: ({ store, workspaceId }, { query }) => store.auditPage(workspaceId, pageRequest(query, BY_NUMBER)),
    show: (page) => ({ body: pageBody('entries', page, auditJson) }),
  }),
];
