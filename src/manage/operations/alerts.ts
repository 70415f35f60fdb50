/** What needs attention is put off, and told again. */

import { LONGEST_REASON, LONGEST_SNOOZE, SHORTEST_SNOOZE, snoozeJson } from '../../account/snooze.ts';
import { answerOf, durationOf, type Fields, nullable, Type } from '../../json/schema.ts';
import { inWords } from '../../text/duration.ts';
import { type Operation, operation } from '../operation.ts';
import { keyNames } from '../rules/rule-json.ts';
import { snooze } from '../snoozes.ts';

const optional = nullable(Type.String());

/** A snooze in an answer. */
export const SNOOZE = {
  id: '4f1d7c57-60a1-4b7c-9d0a-8e6a0c2d6b11',
  reason: 'the firewall is being replaced, ticket 4711',
  since: '2026-11-20T10:00:00.000Z',
  until: '2026-11-23T10:00:00.000Z',
  actor: ['Jana Novák', optional],
  person: [null, optional],
  key_id: ['0195a3c0-0000-7000-8000-000000000002', optional],
  key_name: ['console', optional],
} as const satisfies Fields;

const NONE = 'there is no snooze "4f1d7c57-60a1-4b7c-9d0a-8e6a0c2d6b11"';

export const ATTENTION_OPERATIONS: readonly Operation[] = [
  operation('snoozeAttention', 'POST /attention/snoozes', 'rules:write', {
    summary: 'Put off what needs attention, for a while and for a reason',
    description:
      'It is one of the `items` of `GET /status`, and is told again when its state is another one, and when the time is over. Programs are told it all the same: `attention`, `weir status`, webhooks.',
    body: Type.Object({
      key: Type.String({ maxLength: 500, description: 'Of an item that needs attention now.' }),
      reason: Type.String({ format: 'text', minLength: 1, maxLength: LONGEST_REASON }),
      expires_in: durationOf('s', `Seconds, ${inWords(LONGEST_SNOOZE * 1000)} at most`, {
        minimum: SHORTEST_SNOOZE,
        maximum: LONGEST_SNOOZE,
      }),
    }),
    answer: answerOf('Snooze', SNOOZE),
    audit: 'attention snoozed',
    refusals: { 404: 'nothing needs attention with the key "geo/country"', 409: 'the workspace has 200 snoozed alerts, its limit' },
    examples: [{ key: 'guard_rails', reason: 'ticket 4711', expires_in: 86_400 }],
    async run(context, { body: { key, reason, expires_in: seconds } }) {
      const { store, workspaceId } = context;
      const made = await context.inTurn(() => snooze(context, { key, reason, seconds }), `snooze ${workspaceId}`);
      return snoozeJson(made, await keyNames(store, workspaceId));
    },
  }),
  operation('endSnooze', 'DELETE /attention/snoozes/{snooze}', 'rules:write', {
    summary: 'Tell again what was put off',
    answer: answerOf('SnoozeEnd', { id: SNOOZE.id, ended: true }),
    audit: 'attention snooze ended',
    refusals: { 404: NONE },
    async run({ store, workspaceId, by }, { params }) {
      await store.endSnooze(workspaceId, params.snooze!, by);
      return { id: params.snooze!, ended: true };
    },
  }),
];
