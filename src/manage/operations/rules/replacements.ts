/** SPEC D11.4, D15.42. */
import { managedBySource } from '../../../account/managed-list.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { answerOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import type { Replacement } from '../../../ports/stored/replacement-store.ts';
import { FIRST_FAULTS, needsConfirmation, type SyncPlan } from '../../../source/sync.ts';
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
    present: count('Rules of the list that are identified by their value.'),
    added: count('New rules.'),
    changed: count('Rules whose fields or expiry change.'),
    removed: count('Rules to remove; none if an entry failed.'),
    unchanged: count('Unchanged rules.'),
    kept: count('Rules with a rule_ref that the content does not contain: they stay.'),
    listed: count('Rules of the list afterwards.'),
    addresses: ADDRESSES,
    failed: count('Unreadable or invalid entries.'),
    refused: count('Entries refused by guard rails.'),
    expired: count('Skipped: expired entries.'),
    wide: count('Whole countries and ASNs among the new rules, to be confirmed.'),
    passed: Type.Object({}, { additionalProperties: true, description: 'Skipped rows, by reason.' }),
    errors: Type.Array(Type.Object({ place: Type.String(), message: Type.String() }), { description: FIRST_FAULTS }),
  },
  { description: 'null before the comparison.' },
);
const REPLACEMENT = answerOf('Replacement', {
  id: ID,
  list: ['default', 'The name of the list.'],
  state: [
    'done',
    Type.Enum(['open', 'planning', 'planned', 'held', 'running', 'done', 'failed'], {
      description:
        'open: the content is being uploaded. planning: it is being compared. planned: waiting for confirmation. held: the same for a refresh of a source. running: the changes are being published, even if a process ends. done, failed: finished.',
    }),
  ],
  created_at: '2026-11-20T10:00:00.000Z',
  reason: [null, nullable(Type.String({ description: 'The reason of a failure.' }))],
  plan: [null, nullable(PLAN)],
  needs_confirmation: [
    false,
    'True if more than half of the list would be removed, more rules added than it has, more than half of its addresses changed, or whole countries or ASNs added.',
  ],
  batches: [[], Type.Array(Type.String(), { description: 'The batches of the replacement.' })],
  steps: 0,
  steps_published: 0,
});
const UNKNOWN = `there is no replacement "${ID}" in the last seven days`;
const NOT_OPEN = 'the replacement is no longer open';

const planJson = ({ isLarge: _, wide = 0, faults, ...counts }: SyncPlan) => ({ ...counts, wide, errors: faults });

export const replacementJson = (found: Replacement) => {
  const { list, plan, steps, batches, reason } = headOf(found);
  return {
    id: found.id,
    list,
    state: found.state,
    created_at: isoTime(found.createdAt),
    reason: reason ?? null,
    plan: plan === undefined ? null : planJson(plan),
    needs_confirmation: plan !== undefined && needsConfirmation(plan),
    batches,
    steps,
    steps_published: found.published,
  };
};

async function known({ store, workspaceId, caller }: ManageContext, id: string): Promise<Replacement> {
  const found = await store.replacement(workspaceId, id.toLowerCase());
  if (found === undefined || (caller.listId !== null && caller.listId !== found.listId))
    throw new WeirError('NOT_FOUND', `there is no replacement "${id}" in the last seven days`);
  return found;
}

const respond = async (context: ManageContext, id: string) => replacementJson(await known(context, id));

/** signal:write is enough, even for a bound key. */
export const REPLACEMENT_OPERATIONS: readonly Operation[] = [
  operation('openReplacement', 'POST /replacements', 'signal:write', {
    bound: true,
    summary: 'Start to replace the content of a list',
    description:
      'Upload its parts next. The list does not change before all parts are uploaded and the replacement is started. A replacement that is not started within a day is cancelled, and one that is idle for ten minutes loses its slot if another needs it. Limit: four per workspace at a time.',
    body: Type.Object({
      list: textField(200, 'UUID or name; default: the default list.', { minLength: 1 }),
      action: wordField(['block', 'allow'], 'The action of the rules that are compared, and the default for entries; default: block.'),
      refused: wordField(
        ['keep', 'skip'],
        'Entries refused by guard rails prevent all removals (keep, default), or count as absent (skip).',
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
      return respond(
        context,
        await openReplacement(context, caller, found, { action: action as 'block', refused: refused as 'keep' }, 'open'),
      );
    },
    status: 201,
    show: (body) => ({ body, location: `/replacements/${body.id}` }),
  }),
  operation('getReplacement', 'GET /replacements/{replacement}', 'signal:write', {
    bound: true,
    summary: 'Get the progress of a replacement',
    answer: REPLACEMENT,
    refusals: { 404: UNKNOWN },
    run: (context, { params }) => respond(context, params.replacement!),
  }),
  operation('addReplacementPart', 'POST /replacements/{replacement}/parts', 'signal:write', {
    bound: true,
    summary: 'Upload a part of the content',
    description: `One JSON object per line, at most ${MOST_LINES} lines: \`value\` or another field with the target, and further fields of an entry (\`place\`: its position, for messages). A part that is sent again replaces the previous one.`,
    query: Type.Object({
      n: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_PARTS - 1, description: 'The number of the part; default 0.' })),
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
    summary: 'Compare the content with the list and send the differences',
    description:
      'Responds immediately; the state of the replacement shows the progress. With `confirmed` every change is sent; without it, a large change stays `planned` and has to be started again with it.',
    body: Type.Object({
      parts: Type.Integer({ minimum: 0, maximum: MOST_PARTS, description: 'Number of parts.' }),
      lines: Type.Integer({
        minimum: 0,
        maximum: MOST_PARTS * MOST_LINES,
        description: 'Total number of lines, to detect truncated content.',
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
      if (from === 'planned' && !confirmed) throw new WeirError('REFUSED', 'this change is large: start it with confirmed');
      // Compares a confirmed replacement again: the list may have changed.
      if (!(await store.moveReplacement(id, { from, to: 'planning', now: now(), lockedUntil: now() + FIRST_LOCK })))
        throw new WeirError('REFUSED', NOT_OPEN);
      await store.noteChange(workspaceId, 'list replacement started', id, { list: head.list, lines, confirmed }, by);
      const pause = () => context.stepsOf(workspaceId)(async () => undefined);
      inBackground(planned({ ...context, pause }, found, head, { parts, lines }, confirmed));
      return respond(context, id);
    },
    status: 202,
    show: (body) => ({ body, location: `/replacements/${body.id}` }),
  }),
];

/** Until the comparison renews it, ms. */
const FIRST_LOCK = 15_000;

/** A failure is stored, or another process takes over. */
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
