import { LONGEST_REASON, LONGEST_SNOOZE, SHORTEST_SNOOZE, snoozeJson } from '../../account/snooze.ts';
import { answerOf, durationOf, type Fields, nullable, Type } from '../../json/schema.ts';
import { inWords } from '../../text/duration.ts';
import { type Operation, operation } from '../operation.ts';
import { keyNames } from '../rules/rule-json.ts';
import { snooze } from '../snoozes.ts';

const optional = nullable(Type.String());

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
    summary: 'Snooze an alert for a while, with a reason',
    description:
      'The alert is one of the `items` of `GET /status`. It reappears when its state changes or the time is over. `attention`, `weir status` and webhooks still report it.',
    body: Type.Object({
      key: Type.String({ maxLength: 500, description: 'The key of a current alert.' }),
      reason: Type.String({ format: 'text', minLength: 1, maxLength: LONGEST_REASON }),
      expires_in: durationOf('s', `Seconds, at most ${inWords(LONGEST_SNOOZE * 1000)}`, {
        minimum: SHORTEST_SNOOZE,
        maximum: LONGEST_SNOOZE,
      }),
    }),
    answer: answerOf('Snooze', SNOOZE),
    audit: 'attention snoozed',
    refusals: { 404: 'there is no alert with the key "geo/country"', 409: 'the workspace has 200 snoozed alerts, its limit' },
    examples: [{ key: 'guard_rails', reason: 'ticket 4711', expires_in: 86_400 }],
    async run(context, { body: { key, reason, expires_in: seconds } }) {
      const { store, workspaceId } = context;
      const made = await context.inTurn(() => snooze(context, { key, reason, seconds }), `snooze ${workspaceId}`);
      return snoozeJson(made, await keyNames(store, workspaceId));
    },
  }),
  operation('endSnooze', 'DELETE /attention/snoozes/{snooze}', 'rules:write', {
    summary: 'End a snooze',
    answer: answerOf('SnoozeEnd', { id: SNOOZE.id, ended: true }),
    audit: 'attention snooze ended',
    refusals: { 404: NONE },
    async run({ store, workspaceId, by }, { params }) {
      await store.endSnooze(workspaceId, params.snooze!, by);
      return { id: params.snooze!, ended: true };
    },
  }),
];
