/** Making a list equal to a content of any size, which comes in parts (SPEC D11.4, D15.42). */
import { managedBySource } from '../../../account/managed-list.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import type { Replacement } from '../../../ports/stored/replacement-store.ts';
import { FIRST_TOLD, needsConfirmation } from '../../../source/sync.ts';
import type { ManageContext } from '../../context.ts';
import { findList } from '../../find.ts';
import { keepPart, MOST_LINES, MOST_PARTS, partsOf } from '../../imports/replacement-content.ts';
import { headOf, openReplacement, planReplacement, type ReplacementHead, runReplacement, syncPorts } from '../../imports/replacements.ts';
import { type Operation, operation } from '../../operation.ts';
import { ADDRESSES } from './addresses.ts';

const BODY = 1024 * 1024;
const ID = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7001';
const count = (description: string) => Type.Integer({ description });
const PLAN = Type.Object(
  {
    present: count('Rules of the list that are known by their value.'),
    added: count('Rules that are made.'),
    changed: count('Rules that are given what the content says of them, or another expiry.'),
    removed: count('Rules that are removed. None where an entry failed.'),
    unchanged: count('Rules that stay as they are.'),
    kept: count('Rules with a rule_ref that the content does not have: they stay.'),
    listed: count('Rules that the list has afterwards.'),
    addresses: ADDRESSES,
    failed: count('Entries that cannot be read or taken.'),
    refused: count('Entries that guard rails refuse.'),
    expired: count('Entries that have expired, which are left out.'),
    wide: count('Whole countries and ASNs among what is added, which have to be confirmed.'),
    passed: Type.Object({}, { additionalProperties: true, description: 'Rows that ask for nothing, by the reason.' }),
    errors: Type.Array(Type.Object({ place: Type.String(), message: Type.String() }), { description: FIRST_TOLD }),
  },
  { description: 'null until it is compared.' },
);
const REPLACEMENT = answerOf('Replacement', {
  id: ID,
  list: ['default', 'The name of the list.'],
  state: [
    'done',
    Type.Enum(['open', 'planning', 'planned', 'held', 'running', 'done', 'failed'], {
      description:
        'open: its content comes in. planning: it is compared. planned: it waits for somebody to be sure. held: the same of a refresh of a source. running: its changes go onto the stream, whatever ends meanwhile. done, failed: it has ended.',
    }),
  ],
  created_at: '2026-11-20T10:00:00.000Z',
  reason: [null, nullable(Type.String({ description: 'Why it failed.' }))],
  plan: [null, nullable(PLAN)],
  needs_confirmation: [
    false,
    'More than half of the list would be removed, more added than it has, more than half of its addresses changed, or whole countries or ASNs.',
  ],
  batches: [[], Type.Array(Type.String(), { description: 'The batches that it is.' })],
  steps: 0,
  steps_published: 0,
});
const UNKNOWN = `there is no replacement "${ID}" of the last seven days`;
const NOT_OPEN = 'it is not open any more';

const replacementJson = (found: Replacement) => {
  const { list, plan, steps, batches, reason } = headOf(found);
  const { isLarge = false, wide = 0, faults, ...counts } = plan ?? {};
  return {
    id: found.id,
    list,
    state: found.state,
    created_at: isoTime(found.createdAt),
    reason: reason ?? null,
    plan: plan === undefined ? null : { ...counts, wide, errors: faults },
    needs_confirmation: needsConfirmation({ isLarge, wide }),
    batches,
    steps,
    steps_published: found.published,
  };
};

async function known({ store, workspaceId, caller }: ManageContext, id: string): Promise<Replacement> {
  const found = await store.replacement(workspaceId, id.toLowerCase());
  if (found === undefined || (caller.listId !== null && caller.listId !== found.listId))
    throw new WeirError('NOT_FOUND', `there is no replacement "${id}" of the last seven days`);
  return found;
}

const shown = async (context: ManageContext, id: string) => replacementJson(await known(context, id));

/** A key that sends signals may do all of it, also one that is bound to the list. */
export const REPLACEMENT_OPERATIONS: readonly Operation[] = [
  operation('openReplacement', 'POST /replacements', 'signal:write', {
    bound: true,
    summary: 'Begin to make a list equal to a content of any size',
    description:
      'Its parts follow; nothing of the list changes before they are all there and it is started. What is not started within a day is given up, and what is idle for ten minutes once others need its slot: four of a workspace at once.',
    body: Type.Object({
      list: textField(200, 'UUID or name; the default list when absent.', { minLength: 1 }),
      action: wordField(['block', 'allow'], 'Of the rules that are concerned, besides those of the entries; block when absent.'),
      refused: wordField(
        ['keep', 'skip'],
        'Entries that guard rails refuse hold back every removal (keep, when absent), or count as absent (skip).',
      ),
    }),
    answer: REPLACEMENT,
    refusals: { 404: 'No such access-rules list', 409: managedBySource('spamhaus-drop') },
    examples: [{ list: 'default' }],
    async run(context, { body: { list, action = 'block', refused = 'keep' } }) {
      const { store, workspaceId, caller } = context;
      const ref = caller.listId ?? list ?? (await store.defaultList(workspaceId))!;
      const found = await findList(store, workspaceId, ref);
      if (caller.listId !== null && list !== undefined && list !== found.id && list !== found.name)
        throw new WeirError('FORBIDDEN', 'The key is bound to another list');
      return shown(
        context,
        await openReplacement(context, caller, found, { action: action as 'block', refused: refused as 'keep' }, 'open'),
      );
    },
    status: 201,
    show: (body) => ({ body, location: `/replacements/${body.id}` }),
  }),
  operation('getReplacement', 'GET /replacements/{replacement}', 'signal:write', {
    bound: true,
    summary: 'How far making a list equal to a content is',
    answer: REPLACEMENT,
    refusals: { 404: UNKNOWN },
    run: (context, { params }) => shown(context, params.replacement!),
  }),
  operation('addReplacementPart', 'POST /replacements/{replacement}/parts', 'signal:write', {
    bound: true,
    summary: 'Add a part of the content',
    description: `One JSON object a line, ${MOST_LINES} of them at most: \`value\` or another field that names a target, and what else an entry may say (\`place\`: where it stands, for messages). A part that is sent again takes the place of the one before.`,
    query: Type.Object({
      n: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_PARTS - 1, description: 'The number of the part; 0 when absent.' })),
    }),
    bodyBytes: BODY,
    rawBody: { type: 'application/x-ndjson', example: '{"value":"192.0.2.1"}\n' },
    answer: answerOf('ReplacementPart', { lines: 1 }),
    refusals: { 404: UNKNOWN, 409: NOT_OPEN },
    async run(context, { params, query: { n = 0 }, bytes }) {
      const found = await known(context, params.replacement!);
      if (found.state !== 'open') throw new WeirError('REFUSED', NOT_OPEN);
      return { lines: await keepPart(context.store, found, n, bytes, context.now()) };
    },
  }),
  operation('startReplacement', 'POST /replacements/{replacement}/start', 'signal:write', {
    bound: true,
    summary: 'Compare the content with the list, and send what differs',
    description:
      'Answered at once; its state tells how far it is. With `confirmed` it is sent whatever goes; else one that needs confirmation stays `planned`, and is started again with it.',
    body: Type.Object({
      parts: Type.Integer({ minimum: 0, maximum: MOST_PARTS, description: 'How many parts the content has.' }),
      lines: Type.Integer({
        minimum: 0,
        maximum: MOST_PARTS * MOST_LINES,
        description: 'How many lines they have: a content that is cut is refused.',
      }),
      confirmed: Type.Optional(Type.Boolean()),
    }),
    answer: REPLACEMENT,
    audit: 'list replacement started',
    refusals: { 404: UNKNOWN, 409: NOT_OPEN },
    examples: [{ parts: 1, lines: 2 }],
    async run(context, { params, body: { parts, lines, confirmed = false } }) {
      const { store, workspaceId, by, now } = context;
      const found = await known(context, params.replacement!);
      const { id } = found;
      const head = headOf(found);
      const from = found.state;
      if (from !== 'open' && from !== 'planned')
        throw new WeirError('REFUSED', head.reason === undefined ? NOT_OPEN : `${NOT_OPEN}: ${head.reason}`);
      if (from === 'planned' && !confirmed) throw new WeirError('REFUSED', 'it needs confirmation: start it with confirmed');
      // Whoever comes first compares it. What waited for somebody to be sure is compared again: its list may have changed.
      if (!(await store.moveReplacement(id, { from, to: 'planning', now: now(), heldUntil: now() + FIRST_HOLD })))
        throw new WeirError('REFUSED', NOT_OPEN);
      await store.noteChange(workspaceId, 'list replacement started', id, { list: head.list, lines, confirmed }, by);
      // Whoever started it need not wait for it.
      const pause = () => context.stepsOf(workspaceId)(async () => undefined);
      inBackground(planned({ ...context, pause }, found, head, { parts, lines }, confirmed));
      return shown(context, id);
    },
    status: 202,
    show: (body) => ({ body, location: `/replacements/${body.id}` }),
  }),
];

/** Until the plan says for itself that it goes on, ms. */
const FIRST_HOLD = 15_000;

/** What goes wrong is in the replacement, or is gone on with by whoever looks for what was left behind. */
const inBackground = (work: Promise<void>): void => void work.catch(() => undefined);

async function planned(
  context: ManageContext,
  { id, listId, workspaceId }: Replacement,
  head: ReplacementHead,
  counted: { readonly parts: number; readonly lines: number },
  isSure: boolean,
): Promise<void> {
  const { caller, store } = context;
  const defaults = { action: head.action, expiresIn: undefined, reason: undefined, labels: {} };
  const planned = await planReplacement(
    context,
    syncPorts(context, caller, context.sleep),
    { id, caller, listId, isSure },
    head,
    partsOf(store, { id }, counted, defaults),
  );
  if (needsConfirmation(planned.plan!) && !isSure) return;
  await runReplacement(context, workspaceId, id);
}
