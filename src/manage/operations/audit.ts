/** The audit log of the workspace. */

import { type Fields, nullable, Type, textField } from '../../json/schema.ts';
import { AUDIT_KEPT } from '../../ports/stored/account-store.ts';
import { inWords } from '../../text/duration.ts';
import { auditNames } from '../audit-json.ts';
import { auditSearch } from '../audit-search.ts';
import { findKeyNamed } from '../find.ts';
import { type Operation, operation } from '../operation.ts';
import { BY_NUMBER, PAGE_QUERY, pageRequest, pageSchema } from '../page.ts';
import { sinceGiven } from './changes/changes.ts';

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
    summary: `Who changed what, newest first; kept for ${inWords(AUDIT_KEPT)}`,
    description: 'Newest first. A page may have fewer entries than limit, or none, although others follow: only next tells.',
    query: Type.Object({
      event: textField(100, 'Words that the event has, such as list deleted, or key.'),
      by: textField(200, 'A person by name or by PROVIDER:SUBJECT, or a system user.'),
      key: textField(200, 'What was done with this key: id or name.'),
      object: textField(200, 'What was changed, by its id or name, or an act.'),
      since: textField(40, 'An instant (ISO 8601), or how long ago, such as 2h.'),
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
