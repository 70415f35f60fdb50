/** Changes and deletions of selected rules (SPEC D33.1). */
import { managedBySource, requireOwnList } from '../../../account/managed-list.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { type ForecastFields, forecastFields } from '../../../feed/monitor/forecast-fields.ts';
import { answerOf, flagField, listOf, nullable, type Static, Type, textField } from '../../../json/schema.ts';
import { plural } from '../../../text/count.ts';
import type { ManageContext } from '../../context.ts';
import { findList } from '../../find.ts';
import { operate } from '../../operate.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { changeRules, deletions, foreseenMessages, MOST_CHANGED } from '../../rules/rule-change.ts';
import { ALL_LANDED, changeOutcome, landed, operatorOf, portsOf } from '../../rules/rule-changes.ts';
import { type EditPlan, planEdit, type RefusedRule, type RuleEdit, readExpiry } from '../../rules/rule-edit.ts';
import { ruleName } from '../../rules/rule-json.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { ruleById } from './rule-reads.ts';
import { ownRules, SAMPLE, SELECTION, type Selected, type Selection, sampleOf, selectionFields, selectRules } from './rule-selection.ts';

const SET = Type.Object(
  {
    expires: textField(40, 'A duration from now such as 3600 or 7d, an instant, or never.'),
    reason: Type.Optional(nullable(Type.String({ maxLength: 2048 }), { description: 'null: none.' })),
    list: textField(200, 'Access rules only: UUID or name of the list to move to.', { minLength: 1 }),
  },
  { additionalProperties: false, description: 'The new values; absent fields stay.' },
);

export interface Changed extends Selected, ForecastFields {
  readonly changed: number;
  readonly moved: number;
  readonly unchanged: number;
  readonly refused: number;
  readonly refusals: readonly { readonly rule: string; readonly why: string }[];
  readonly needs_confirmation: boolean;
  readonly expires_at?: string | null;
}

const CHANGED = answerOf(
  'ChangedRules',
  {
    changed: [2, `Rules that change, at most ${MOST_CHANGED}.`],
    moved: [0, 'Of these, rules that move to another list. They become new rules there, from the same signal.'],
    unchanged: [0, 'Rules that have these values already.'],
    refused: [1, 'Rules that stay because of guard rails, or because the list already has such a rule.'],
    refusals: listOf({ rule: '10.0.0.1', why: 'it overlaps the protected network 10.0.0.0/8' }, { description: 'Some of them.' }),
    needs_confirmation: [true, 'True if some rules are refused, so that changing the others needs `confirmed`.'],
    ...selectionFields(true, 'Some of the rules that change, with their previous values.'),
  },
  {
    expires_at: Type.Optional(nullable(Type.String({ format: 'date-time' }), { description: 'The resulting expiry; null: never.' })),
    ...FEED_FIELDS,
  },
);

async function readEdit(
  context: ManageContext,
  { expires, reason, list }: Static<typeof SET>,
  kind: unknown = 'access_rule',
): Promise<RuleEdit> {
  if (expires === undefined && reason === undefined && list === undefined) throw fieldFault('set', 'must contain expires, reason or list');
  if (list !== undefined && kind !== 'access_rule') throw fieldFault('set.list', 'is for access rules only');
  const expiresAt = expires === undefined ? undefined : readExpiry(expires, context.now());
  if (typeof expiresAt === 'object') throw fieldFault('set.expires', expiresAt.fault);
  const found = list === undefined ? undefined : await findList(context.store, context.workspaceId, list);
  if (found !== undefined) requireOwnList(found);
  return { expiresAt, ...(reason !== undefined && { reason: reason === '' ? null : reason }), list: found };
}

const refusalJson = ({ rule, why }: RefusedRule) => ({ rule: ruleName(rule), why });

/** Only moves to another list have an effect. */
async function feedsThen(context: ManageContext, plan: EditPlan, edit: RuleEdit): Promise<ForecastFields> {
  const [first] = plan.moved;
  if (first === undefined) return { feeds: [] };
  const messages = foreseenMessages(operatorOf(context), plan, edit, context.now());
  return forecastFields(context.forecast, { workspaceId: context.workspaceId, listId: edit.list!.id, messages }, false);
}

const notConfirmed = (refused: readonly RefusedRule[]): WeirError => {
  const { rule, why } = refused[0]!;
  const others = refused.length === 1 ? '' : `, and ${plural(refused.length - 1, 'more rule')}`;
  return new WeirError('REFUSED', `${ruleName(rule)} cannot be changed: ${why}${others}; to change only the other rules, send confirmed`);
};

export const RULE_CHANGING: readonly Operation[] = [
  operation('changeRules', 'POST /rules/change', 'rules:write', {
    summary: 'Change expiry, reason or list of rules, by id or conditions',
    description: `Waits until earlier entries have landed. The change is one batch and can be undone as one. Rules managed by sources are skipped and counted. Limit: ${MOST_CHANGED} rules; if next is not null, repeat the request with it as after.`,
    body: Type.Object({ ...SELECTION, set: SET, confirmed: flagField('true: changes the other rules if some are refused.') }),
    answer: CHANGED,
    audit: 'rules changed',
    creates: 'elsewhere',
    isLong: true,
    refusals: { 404: 'there is no list "edge"', 409: managedBySource('spamhaus-drop') },
    examples: [
      { reason: 'port scan', set: { expires: '30d' }, preview: true },
      { ids: [7, 8], set: { list: 'edge', reason: null } },
    ],
    async run(context, { body: { set, confirmed = false, ...selecting } }): Promise<Changed> {
      const { store, workspaceId } = context;
      const { preview = false } = selecting;
      const edit = await readEdit(context, set, selecting.kind);
      const { rules, leftOut, next, asked } = await selectRules(context, selecting, MOST_CHANGED);
      const planned = { reads: store, workspaceId, now: context.now(), blockFaults: context.blockFaults(context.caller) };
      const plan = await planEdit(planned, rules, edit);
      const { set: stay, moved, unchanged, refused } = plan;
      const changing = [...moved, ...stay];
      const summary = {
        changed: changing.length,
        moved: moved.length,
        unchanged,
        left_out: leftOut,
        refused: refused.length,
        refusals: refused.slice(0, SAMPLE).map(refusalJson),
        needs_confirmation: refused.length > 0 && changing.length > 0,
        ...(edit.expiresAt !== undefined && { expires_at: edit.expiresAt === 'never' ? null : isoTime(edit.expiresAt) }),
        preview,
        sample: await sampleOf(context, changing),
        next,
      };
      if (preview) return { ...summary, ...(await feedsThen(context, plan, edit)), batches: [], ...ALL_LANDED };
      if (summary.needs_confirmation && !confirmed) throw notConfirmed(refused);
      const batches = await changeRules(portsOf(context), operatorOf(context), plan, edit);
      return { ...summary, ...(await landed(context, 'rules changed', batches, { ...asked, set, rules: changing.length })) };
    },
    show: changeOutcome,
  }),
];

const MOST_DELETED = 5000;

export interface Deleted extends Selected {
  readonly deleted: number;
}

async function deleteRules(context: ManageContext, { rules, leftOut, next, asked }: Selection, preview: boolean): Promise<Deleted> {
  const summary = { deleted: rules.length, preview, left_out: leftOut, sample: await sampleOf(context, rules), next };
  if (preview || rules.length === 0) return { ...summary, batches: [], ...ALL_LANDED };
  const { batches } = await operate({ ...portsOf(context), untilLanded: async () => 0 }, operatorOf(context), deletions(rules));
  return { ...summary, ...(await landed(context, 'rules deleted', batches, { ...asked, rules: rules.length })) };
}

const DELETED = answerOf('DeletedRules', {
  deleted: [1, `Deleted rules, at most ${MOST_DELETED}.`],
  ...selectionFields(false, 'Some of them.'),
});

export const RULE_DELETIONS: readonly Operation[] = [
  operation('deleteRule', 'DELETE /rules/{kind}/{rule}', 'rules:write', {
    summary: 'Delete a rule by id',
    answer: DELETED,
    audit: 'rules deleted',
    refusals: { 404: 'there is no rule "7" of this kind', 409: managedBySource('spamhaus-drop') },
    async run(context, { params }) {
      await context.untilLanded();
      const rule = await ruleById(context, params);
      const asked = { kind: rule.kind, id: rule.id };
      return deleteRules(context, { ...(await ownRules(context, [rule], true)), next: null, asked }, false);
    },
    show: changeOutcome,
  }),
  operation('deleteRules', 'POST /rules/delete', 'rules:write', {
    summary: 'Delete rules, by id or conditions',
    description: `Waits until earlier entries have landed. Rules managed by sources are skipped and counted. Limit: ${MOST_DELETED} rules; if next is not null, repeat the request with it as after.`,
    body: Type.Object(SELECTION),
    answer: DELETED,
    audit: 'rules deleted',
    creates: 'elsewhere',
    isLong: true,
    refusals: { 404: 'there is no list "edge"', 409: managedBySource('spamhaus-drop') },
    examples: [{ label: 'source:spamhaus', preview: true }, { ids: [7, 8] }],
    run: async (context, { body }) => deleteRules(context, await selectRules(context, body, MOST_DELETED), body.preview === true),
    show: changeOutcome,
  }),
];
