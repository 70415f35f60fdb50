import { type Fields, nullable, Type, textField } from '../../json/schema.ts';
import { AUDIT_RETENTION } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import { auditNames, auditSearch } from '../audit.ts';
import { findKeyNamed } from '../find.ts';
import { type Operation, operation } from '../operation.ts';
import { BY_NUMBER, PAGE_QUERY, pageRequest, pageSchema } from '../page.ts';
import { sinceGiven } from './changes/changes.ts';

const changed = nullable(Type.Record(Type.String(), Type.Unknown()), {
  description: 'The changed fields; null: the object did not exist, or the change is too large.',
});
const ENTRY = {
  id: 17,
  at: '2026-11-22T09:59:31.000Z',
  event: 'list changed',
  object: ['0195a3c0-0000-7000-8000-000000000001', Type.String({ description: 'The id of the changed object.' })],
  name: ['edge', nullable(Type.String(), { description: 'Its name; a deleted object keeps the last one. null: none.' })],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', nullable(Type.String(), { description: 'null: a command.' })],
  key_name: ['console', nullable(Type.String(), { description: 'null: a command, or a deleted key.' })],
  actor: ['Jana Novák', nullable(Type.String(), { description: 'The person, as named by the request or by a provider.' })],
  person: [null, nullable(Type.String(), { description: 'The provider and its id of the person.' })],
  act: [null, nullable(Type.String(), { description: 'The same for all changes that were made together.' })],
  before: [{ max_entries: null }, changed],
  after: [{ max_entries: 100_000 }, changed],
  names: [{}, Type.Record(Type.String(), Type.String(), { description: 'The names of the ids in before and after.' })],
} as const satisfies Fields;

export const AUDIT_OPERATIONS: readonly Operation[] = [
  operation('listAudit', 'GET /audit', 'manage', {
    summary: `List changes of settings, newest first; stored for ${inWords(AUDIT_RETENTION)}`,
    description: 'A page may be short or empty although more entries follow: only next tells.',
    query: Type.Object({
      event: textField(100, 'A part of the event, such as list deleted, or key.'),
      by: textField(200, 'A person by name or by PROVIDER:SUBJECT, or a system user.'),
      key: textField(200, 'Only changes with this key: id or name.'),
      object: textField(200, 'The id or name of the changed object, or an act.'),
      since: textField(40, 'An instant (ISO 8601) or an age such as 2h.'),
      ...PAGE_QUERY,
    }),
    answer: pageSchema('AuditLog', 'entries', ENTRY),
    refusals: { 404: 'there is no key "siem"' },
    async run(context, { query: { event, by, key, object, since, ...page } }) {
      const { store, workspaceId, now } = context;
      const from = since === undefined ? undefined : sinceGiven('since', since, now());
      const keyId = key === undefined ? undefined : (await findKeyNamed(store, workspaceId, key)).id;
      const names = await auditNames(store, workspaceId);
      return auditSearch(context, names, { event, by, keyId, object, since: from }, pageRequest(page, BY_NUMBER));
    },
    show: (body) => ({ body }),
  }),
];
