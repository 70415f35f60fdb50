/** SPEC D32. */

import { answerOf, exampleOf, type Fields, nullable, objectOf, Type, textField, wordField } from '../../../json/schema.ts';
import { readSince } from '../../../text/duration.ts';
import { changesJson } from '../../changes/changes.ts';
import { CHANGE_KINDS } from '../../changes/entry.ts';
import { findKeyNamed } from '../../find.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { PAGE_QUERY } from '../../page.ts';

const DAY = 86_400_000;
const text = (example: string | null, description: string) => [example, nullable(Type.String(), { description })] as const;
const number = (example: number | null, description: string) => [example, nullable(Type.Integer(), { description })] as const;
const changed = nullable(Type.Record(Type.String(), Type.Unknown()), { description: 'As in the audit log.' });

const CHANGE: Fields = {
  id: ['1795427460000 r access_rule …', 'Unique.'],
  at: ['2026-11-23T09:41:00.000Z', 'For rules, the last minute of the change.'],
  from: text('2026-11-23T09:02:00.000Z', 'For rules, the first minute.'),
  kind: ['rules', Type.Enum([...CHANGE_KINDS])],
  event: [
    'added',
    'added, renewed, removed, changed, expired or undone; for sources refreshed, failed, held, …; otherwise the audit event.',
  ],
  list_id: text('0195a3c0-0000-7000-8000-000000000001', 'null: expression rules, or a list deleted for good.'),
  list_name: text('edge', 'A deleted list keeps its last name.'),
  rule_kind: text('access_rule', 'For rules.'),
  added: number(312, 'New rules, including ones that had expired.'),
  renewed: number(40, 'Rules that were sent again or changed.'),
  removed: number(0, 'Rules that were unblocked, deleted, or removed by an undo.'),
  expired: number(0, 'Rules that expired.'),
  reason: text('ssh brute force', 'null: no reason, or different ones.'),
  several_reasons: [false, Type.Boolean({ description: 'True if the rules have different reasons, or only some have one.' })],
  batch_id: text('0195a3c0-0000-7000-8000-000000000000', 'null: none or several.'),
  undoes: text(null, 'The undone batch.'),
  object: text(null, 'The id of the changed object, for audit events.'),
  name: text(null, 'Its name.'),
  text: text(null, 'The message of a refresh.'),
  actor: text('Jana Novák', 'The person.'),
  person: text(null, 'The provider and its id of the person.'),
  key_id: text('0195a3c0-0000-7000-8000-000000000002', 'null: a command, a source, or a person without a key.'),
  key_name: text('sensor', 'Its name.'),
  before: [null, changed],
  after: [null, changed],
  names: [{}, Type.Record(Type.String(), Type.String(), { description: 'The names of the ids in before and after.' })],
};
const KNOWN: Fields = {
  rules: ['2026-11-16T10:00:00.000Z', 'Changes of rules.'],
  settings: text('2026-08-25T10:00:00.000Z', 'Settings, lists and keys; null: the key may not see them.'),
  refreshes: ['2026-11-20T10:00:00.000Z', 'Refreshes that failed or were put on hold.'],
};

export const CHANGES_OPERATIONS: readonly Operation[] = [
  operation('listChanges', 'GET /changes', 'rules:read', {
    summary: 'List all changes in one timeline, newest first',
    description:
      'Changes of one sender to the rules of a list form one entry per hour (per ten minutes for periods up to three hours). Settings, lists and keys need the permission manage. A page may be short or empty although more entries follow.',
    query: Type.Object({
      ...PAGE_QUERY,
      since: textField(40, 'An instant or an age such as 2h; default: a day. Rounded down to the minute.'),
      until: textField(40, 'An instant or an age; default: now.'),
      feed: textField(200, 'UUID or name of a list or feed: only changes that concern it.'),
      list: textField(200, 'UUID or name of a list: only changes that concern it.'),
      kind: wordField(CHANGE_KINDS, 'Only changes of this kind.'),
      person: textField(300, 'Only changes by this person: name, or PROVIDER:SUBJECT.'),
      key: textField(200, 'Only changes by this key: id or name.'),
    }),
    answer: answerOf('Changes', {
      since: '2026-11-22T10:00:00.000Z',
      until: '2026-11-23T10:00:00.000Z',
      known_since: [exampleOf(KNOWN), objectOf(KNOWN, { description: 'The start of complete records; earlier changes may be missing.' })],
      changes: [[exampleOf(CHANGE)], Type.Array(objectOf(CHANGE))],
      next: [null, nullable(Type.String(), { description: 'Pass as after to get the next page; null: this is the last.' })],
    }),
    refusals: { 404: 'there is no list or feed "edge"' },
    async run(
      { store, workspaceId, now, caller, quota, step, pause, inTurn, isDisconnected },
      { query: { since, until, kind, key, limit = 100, ...query } },
    ) {
      const at = now();
      const asked = {
        ...query,
        key: key === undefined ? undefined : (await findKeyNamed(store, workspaceId, key)).id,
        kind: CHANGE_KINDS.find((each) => each === kind),
        limit,
        since: since === undefined ? at - DAY : sinceGiven('since', since, at),
        until: until === undefined ? undefined : sinceGiven('until', until, at),
      };
      // Concurrent calls would each add a step between two polls.
      return inTurn(async () => {
        if (isDisconnected()) await pause();
        return changesJson(store, workspaceId, asked, {
          now: at,
          withAudit: caller.permissions.includes('manage'),
          quota: quota.audit,
          step,
        });
      }, `changes ${workspaceId}`);
    },
  }),
];

/** An instant, or an age; ms. Throws USAGE. */
export function sinceGiven(field: string, text: string, now: number): number {
  const at = readSince(text, now);
  if (at === undefined) throw fieldFault(field, 'must be an instant such as 2026-11-22T08:00:00Z, or an age such as 2h');
  return at;
}
