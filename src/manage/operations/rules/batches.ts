/** SPEC D15.37. */

import { answerOf, type Fields, listOf, nullable, objectOf, Type, textField } from '../../../json/schema.ts';
import { RULE_RETENTION } from '../../../ports/stored/account-store.ts';
import { pageOf } from '../../../ports/stored/paginate.ts';
import { BATCH_DEEDS } from '../../../ports/stored/rule-store.ts';
import { inWords } from '../../../text/duration.ts';
import { batchJson, knownBatch, notUndoable, OLDER, type PlannedUndo, planUndo, previewJson, undoBatches } from '../../batches.ts';
import { allLanded } from '../../operate.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { pageSchema } from '../../page.ts';
import { type FeedSetting, requireManage, setFeeds, settingsBefore } from '../../rules/allow.ts';
import { MOST_CHECKED, notedBlocks } from '../../rules/noted-blocks.ts';
import { type Change, changeFields, changeOutcome, landed, operatorOf, PREVIEW, portsOf } from '../../rules/rule-changes.ts';
import { namesIn } from '../../rules/rule-json.ts';
import { FEED_SETTING } from '../feed-fields.ts';

const ID = '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000';
const UNDOING = '0199f3c2-9a51-7c3e-9d0b-4f1e2a6b7000';
const id = nullable(Type.String());
const UNDONE_BY = nullable(Type.String({ description: 'null: a preview, or another request came first.' }));
const BATCH = {
  id: ID,
  what: [
    'sent',
    nullable(Type.Enum([...BATCH_DEEDS]), {
      description:
        'What the batch did: sent entries, a refresh of a source, rules deleted or changed by conditions, an undo; null: unknown.',
    }),
  ],
  list_id: [
    '0195a3c0-0000-7000-8000-000000000001',
    nullable(Type.String({ description: 'The list of its access rules, the first if there are several; null: deleted, or no list.' })),
  ],
  lists: [1, 'Number of lists, including deleted ones.'],
  has_targets: [
    true,
    nullable(Type.Boolean(), {
      description: 'Whether it contains access rules; false: only expression rules; null: unknown for batches of old versions.',
    }),
  ],
  key_id: [
    '0195a3c0-0000-7000-8000-000000000002',
    nullable(Type.String({ description: 'null: a command, a person, or another producer.' })),
  ],
  key_name: ['siem', nullable(Type.String({ description: 'Its name; null: a command, or a deleted key.' }))],
  actor: [null, nullable(Type.String({ description: 'The named person, or the system user of a command.' }))],
  person: [null, nullable(Type.String({ description: 'The provider and its id of the person.' }))],
  received_at: '2026-11-20T10:00:00.000Z',
  landed_at: '2026-11-20T10:00:00.020Z',
  entries: [3, 'Entries that have landed; deleted and changed rules count one per list and 1,000 rules.'],
  undoes: [null, id],
  undone_by: [null, id],
  undoable: [true, 'false: too much has changed since, and the replaced rules are no longer known; or its list is deleted.'],
} as const satisfies Fields;
const EFFECT = {
  removes: [2, 'Rules created by it.'],
  restores: [1, 'Rules replaced or deleted by it.'],
  keeps: [0, 'Rules that a later batch has changed: they stay.'],
  sample: [['remove block 8.8.8.8'], Type.Array(Type.String())],
} as const satisfies Fields;
const WARNED = {
  rules: [
    0,
    `Blocks that guard rails only report, of the first ${MOST_CHECKED} entries, without rules that another batch has changed since.`,
  ],
  first: listOf({ target: '203.0.113.7', why: 'overlaps the protected network 203.0.113.0/24' }),
} as const satisfies Fields;
const REPEATED = {
  rules: [0, `Blocks that last longer than sent (\`repeat\` of their list), of the first ${MOST_CHECKED} entries.`],
  first: listOf({ target: '203.0.113.7', why: 'third block, each within 30 days: four days instead of one day' }),
} as const satisfies Fields;
const UNKNOWN = `there is no batch "${ID}" of the last ${inWords(RULE_RETENTION)}; ${OLDER}`;
/** Each batch is a query of its own. */
const MOST = 200;
const MOST_UNDONE = 50;

const NOTHING = { batches: [], unlanded: 0 };

interface Undone extends Change {
  readonly settings: readonly FeedSetting[];
  readonly preview: boolean;
  readonly undone: readonly object[];
}

export const BATCH_OPERATIONS: readonly Operation[] = [
  operation('listBatches', 'GET /batches', 'rules:read', {
    summary: `List the batches of the last ${inWords(RULE_RETENTION)}, newest first`,
    query: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST, description: 'Items per page; default 50.' })),
      after: textField(40, 'The next of the previous page.'),
    }),
    answer: pageSchema('Batches', 'batches', BATCH, objectOf(BATCH, { title: 'Batch' })),
    async run({ store, workspaceId }, { query: { limit = 50, after } }) {
      if (after !== undefined && !/^[0-9a-f-]{36}$/i.test(after)) throw fieldFault('after', 'must be the value of next in a page');
      const found = await store.batches(workspaceId, { limit: limit + 1, ...(after !== undefined && { before: after.toLowerCase() }) });
      const { items, next } = pageOf(found, limit, ({ id }) => id);
      const { keys } = await namesIn(store, workspaceId);
      return { batches: items.map((batch) => batchJson(batch, keys)), next };
    },
  }),
  operation('getBatch', 'GET /batches/{batch}', 'rules:read', {
    summary: 'Get a batch, with the effect of undoing it now',
    answer: answerOf(
      'BatchEffect',
      { ...BATCH, undo: EFFECT, warned: WARNED, repeated: REPEATED },
      { not_undoable: Type.Optional(Type.String({ description: 'The reason, if `undoable` is false.' })) },
    ),
    refusals: { 404: UNKNOWN },
    async run(context, { params }) {
      const { store, workspaceId, step } = context;
      const batch = await knownBatch(store, workspaceId, params.batch!);
      const { keys } = await namesIn(store, workspaceId);
      const why = batch.undoable ? {} : { not_undoable: notUndoable(batch) };
      const undo = previewJson(await store.undoPreview(workspaceId, batch.id, step));
      return { ...batchJson(batch, keys), ...why, undo, ...(await notedBlocks(context, batch)) };
    },
  }),
  operation('undoBatches', 'POST /undo', 'rules:write', {
    summary: 'Undo batches',
    description:
      'Restores what the batches replaced or deleted and removes what they created, the newest first. Each undo is a batch of its own that can itself be undone. The effect of each is given as if it were undone alone. Waits until earlier entries have landed.',
    body: Type.Object({
      batches: Type.Array(Type.String({ maxLength: 40 }), { minItems: 1, maxItems: MOST_UNDONE }),
      preview: PREVIEW,
    }),
    answer: answerOf('Undone', {
      settings: listOf(FEED_SETTING, {
        description: 'Feeds that get their earlier `subtract_allow` back, if `POST /allow` set them and they are unchanged since.',
      }),
      undone: listOf({ batch: ID, undone_by: [UNDOING, UNDONE_BY], ...EFFECT }),
      preview: false,
      ...changeFields(UNDOING),
    }),
    audit: 'batches undone',
    creates: 'elsewhere',
    isLong: true,
    refusals: { 404: UNKNOWN, 409: 'there is nothing to undo: removes 0 rules, restores 0' },
    examples: [{ batches: [ID], preview: true }],
    async run(context, { body: { batches: ids, preview = false } }): Promise<Undone> {
      const { store, workspaceId, step } = context;
      const plan = async () => {
        await allLanded(context);
        return planUndo(store, workspaceId, ids, step);
      };
      const settingsOf = async (planned: readonly PlannedUndo[]) =>
        (await Promise.all(planned.map(({ batch }) => settingsBefore(context, batch)))).flat();
      const undo = async () => {
        const planned = await plan();
        const settings = await settingsOf(planned);
        if (settings.length > 0) requireManage(context);
        const done = await undoBatches(portsOf(context), operatorOf(context), planned);
        await setFeeds(context, settings, done.batches.find((id) => id !== null)!);
        return { planned, settings, ...done };
      };
      // A concurrent request sees this undo before it publishes.
      const seen = preview ? await plan() : [];
      const { planned, settings, batches, unlanded } = preview
        ? { planned: seen, settings: await settingsOf(seen), ...NOTHING }
        : await context.inTurn(undo, `undo ${workspaceId}`);
      const done = batches.filter((id) => id !== null);
      const undone = planned.map(({ batch, preview: effect }, i) => ({
        batch: batch.id,
        undone_by: batches[i] ?? null,
        ...previewJson(effect),
      }));
      const undoes = planned.filter((_, i) => batches[i] !== null).map(({ batch }) => batch.id);
      return { settings, undone, preview, ...(await landed(context, 'batches undone', done, { undoes }, unlanded)) };
    },
    show: changeOutcome,
  }),
];
