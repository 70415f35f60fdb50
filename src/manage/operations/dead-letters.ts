/** SPEC D4.6, D15.39. */
import { answerOf, type Fields, Type, textField } from '../../json/schema.ts';
import type { ManageContext } from '../context.ts';
import { deadLetterJson, dropLetters, findLetters, isOfWorkspace, replayLetters } from '../dead-letters.ts';
import { type Operation, operation } from '../operation.ts';
import { BY_NUMBER, pageRequest, pageSchema } from '../page.ts';
import { portsOf } from '../rules/rule-changes.ts';

/** Letters per page, and characters of their values: a message may be large. */
const MOST = 50;
const MOST_CHARACTERS = 400;
const MOST_IDS = 100;

const LETTER = {
  id: 3,
  at: '2026-11-20T10:00:00.020Z',
  reason: 'unknown schema_version "3"',
  stream_id: ['0195a3c0-0000-7000-8000-000000000009', Type.String()],
  partition: 0,
  offset: 1204,
  timestamp: '2026-11-20T10:00:00.000Z',
  key: ['0195a3c0-0000-7000-8000-000000000000', Type.String()],
  headers: [{ schema_version: '3', workspace_id: '0195a3c0-0000-7000-8000-000000000000' }, Type.Unsafe<object>({ type: 'object' })],
  value: ['{"kind":"access_rule"}', `In pages the first ${MOST_CHARACTERS} characters.`],
} as const satisfies Fields;
const Letter = answerOf('DeadLetter', LETTER);
const UNKNOWN = 'there is no dead letter "3"';
const IDS = Type.Object({
  ids: Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { minItems: 1, maxItems: MOST_IDS }),
});

const own = ({ store, workspaceId }: ManageContext, ids: readonly (string | number)[]) =>
  findLetters(store, ids.map(String), isOfWorkspace(workspaceId));
const changeOf = ({ workspaceId, by }: ManageContext) => ({ workspaceId, by });

export const DEAD_LETTER_OPERATIONS: readonly Operation[] = [
  operation('listDeadLetters', 'GET /dead-letters', 'manage', {
    summary: 'List the messages that could not be applied, newest first',
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, description: `Items per page; default ${MOST}.` })),
      after: textField(20, 'The next of the previous page.'),
    }),
    answer: pageSchema('DeadLetters', 'dead_letters', LETTER, Letter),
    async run({ store, workspaceId }, { query: { limit = MOST, ...query } }) {
      const { items, next } = await store.deadLetterPage(workspaceId, pageRequest({ ...query, limit }, BY_NUMBER));
      const letters = items.filter(isOfWorkspace(workspaceId)).map(deadLetterJson);
      return { dead_letters: letters.map((each) => ({ ...each, value: each.value.slice(0, MOST_CHARACTERS) })), next };
    },
  }),
  operation('getDeadLetter', 'GET /dead-letters/{letter}', 'manage', {
    summary: 'Get a complete dead letter',
    answer: Letter,
    refusals: { 404: UNKNOWN },
    async run(context, { params }) {
      const [letter] = await own(context, [params.letter!]);
      return deadLetterJson(letter!);
    },
  }),
  operation('replayDeadLetters', 'POST /dead-letter-replays', 'manage', {
    summary: 'Send messages again, with their original time of receipt',
    description: 'A message that still cannot be applied becomes a dead letter again, with another id.',
    body: IDS,
    answer: answerOf('Replayed', { replayed: [[3], Type.Array(Type.Integer())] }),
    audit: 'dead letter dropped',
    refusals: { 404: UNKNOWN },
    examples: [{ ids: [3] }],
    // Concurrent replays would both publish a letter before either drops it.
    run: (context, { body }) =>
      context.inTurn(async () => {
        const letters = await own(context, body.ids);
        await replayLetters(context.store, portsOf(context).publish, letters, changeOf(context));
        return { replayed: letters.map(({ id }) => id) };
      }, `dead letters of ${context.workspaceId}`),
  }),
  operation('dropDeadLetter', 'DELETE /dead-letters/{letter}', 'manage', {
    summary: 'Delete a dead letter',
    answer: answerOf('Dropped', { id: 3, dropped: true }),
    audit: 'dead letter dropped',
    refusals: { 404: UNKNOWN },
    async run(context, { params }) {
      const letters = await own(context, [params.letter!]);
      await dropLetters(context.store, letters, changeOf(context));
      return { id: letters[0]!.id, dropped: true };
    },
  }),
];
