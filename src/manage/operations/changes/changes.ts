/** What has changed (SPEC D32). */

import { answerOf, exampleOf, type Fields, nullable, objectOf, Type, textField, wordField } from '../../../json/schema.ts';
import { readSince } from '../../../text/duration.ts';
import { changesJson } from '../../changes/changes.ts';
import { CHANGE_KINDS } from '../../changes/entry.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { PAGE_QUERY } from '../../page.ts';

const DAY = 86_400_000;
const text = (example: string | null, description: string) => [example, nullable(Type.String(), { description })] as const;
const number = (example: number | null, description: string) => [example, nullable(Type.Integer(), { description })] as const;
const changed = nullable(Type.Record(Type.String(), Type.Unknown()), { description: 'As in the audit log.' });

const CHANGE: Fields = {
  id: ['1795427460000 r access_rule …', 'What tells it from all others.'],
  at: ['2026-11-23T09:41:00.000Z', 'Of rules the last minute in which it happened.'],
  from: text('2026-11-23T09:02:00.000Z', 'Of rules the first minute.'),
  kind: ['rules', Type.Enum([...CHANGE_KINDS])],
  event: [
    'added',
    'added, renewed, removed, changed, expired or undone; of a source refreshed, failed, held, …; else that of the audit log.',
  ],
  list_id: text('0195a3c0-0000-7000-8000-000000000001', 'null: expression rules, or a list that is gone for good.'),
  list_name: text('edge', 'Of a deleted list the name that it had.'),
  rule_kind: text('access_rule', 'Of rules.'),
  added: number(312, 'Rules that are there and were not, those that had expired included.'),
  renewed: number(40, 'Rules that were sent again or changed.'),
  removed: number(0, 'Rules that were unblocked, deleted, or removed by an undo.'),
  expired: number(0, 'Rules whose expiry passed.'),
  reason: text('ssh brute force', 'null: none, or not one for all.'),
  several_reasons: [false, Type.Boolean({ description: 'Not one reason for all: several, or some have none.' })],
  batch_id: text('0195a3c0-0000-7000-8000-000000000000', 'null: none, or several.'),
  undoes: text(null, 'The batch that it undid.'),
  object: text(null, 'Of what the audit log tells.'),
  name: text(null, 'Of that.'),
  text: text(null, 'What a refresh says of itself.'),
  actor: text('Jana Novák', 'The person.'),
  person: text(null, 'Who a provider says that the person is.'),
  key_id: text('0195a3c0-0000-7000-8000-000000000002', 'null: a command, a source, or a person without a key.'),
  key_name: text('sensor', 'Of that.'),
  before: [null, changed],
  after: [null, changed],
  names: [{}, Type.Record(Type.String(), Type.String(), { description: 'The names of the ids in before and after.' })],
};
const KNOWN: Fields = {
  rules: ['2026-11-16T10:00:00.000Z', 'Changes of rules.'],
  settings: text('2026-08-25T10:00:00.000Z', 'Settings, lists and keys; null: the key may not see them.'),
  refreshes: ['2026-11-20T10:00:00.000Z', 'Refreshes of sources that did not end as they should.'],
};

export const CHANGES_OPERATIONS: readonly Operation[] = [
  operation('listChanges', 'GET /changes', 'rules:read', {
    summary: 'What has changed: rules, sources, settings, lists and keys in one timeline, newest first',
    description:
      'What one sender did to the rules of a list is one entry for each hour (each ten minutes, where three hours or less are asked for), counted by the minute. Settings, lists and keys are for keys with manage. A page may have fewer entries than limit, or none, although others follow.',
    query: Type.Object({
      ...PAGE_QUERY,
      since: textField(40, 'An instant, or how long ago, such as 2h; a day when absent. What happened in its minute is told.'),
      until: textField(40, 'An instant, or how long ago; now when absent.'),
      feed: textField(200, 'UUID or name of a list or feed: only what concerns it.'),
      list: textField(200, 'UUID or name of a list: only what concerns it.'),
      kind: wordField(CHANGE_KINDS, 'Only this.'),
    }),
    answer: answerOf('Changes', {
      since: '2026-11-22T10:00:00.000Z',
      until: '2026-11-23T10:00:00.000Z',
      known_since: [exampleOf(KNOWN), objectOf(KNOWN, { description: 'Since when all is known: what was before is not told.' })],
      changes: [[exampleOf(CHANGE)], Type.Array(objectOf(CHANGE))],
      next: [null, nullable(Type.String(), { description: 'The after of the next page; null: the last.' })],
    }),
    refusals: { 404: 'there is no list or feed "edge"' },
    async run(
      { store, workspaceId, now, caller, room, step, pause, inTurn, isGone },
      { query: { since, until, kind, limit = 100, ...query } },
    ) {
      const at = now();
      const asked = {
        ...query,
        kind: CHANGE_KINDS.find((each) => each === kind),
        limit,
        since: since === undefined ? at - DAY : sinceGiven('since', since, at),
        until: until === undefined ? undefined : sinceGiven('until', until, at),
      };
      // Many at once would each have their step between two polls.
      return inTurn(async () => {
        if (isGone()) await pause();
        return changesJson(store, workspaceId, asked, {
          now: at,
          withAudit: caller.permissions.includes('manage'),
          room: room.audit,
          step,
        });
      }, `changes ${workspaceId}`);
    },
  }),
];

/** The instant (ms) that a parameter says, or how long before `now`. Throws USAGE. */
export function sinceGiven(field: string, text: string, now: number): number {
  const at = readSince(text, now);
  if (at === undefined) throw fieldFault(field, 'must be an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h');
  return at;
}
