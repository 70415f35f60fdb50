/** SPEC D33.1. */
import { managedBySource, requireOwnList } from '../../../account/managed-list.ts';
import { isoTime } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import { type ForecastFields, forecastFields } from '../../../feed/monitor/forecast-fields.ts';
import { answerOf, flagField, listOf, nullable, type Static, Type, textField } from '../../../json/schema.ts';
import { plural } from '../../../text/count.ts';
import type { ManageContext } from '../../context.ts';
import { findList } from '../../find.ts';
import { allLanded } from '../../operate.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { changeRules, foreseenMessages, MOST_CHANGED } from '../../rules/rule-change.ts';
import { ALL_LANDED, type Change, changeFields, changeOutcome, landed, operatorOf, PREVIEW, portsOf } from '../../rules/rule-changes.ts';
import { type EditPlan, planEdit, type RefusedRule, type RuleEdit, readExpiry } from '../../rules/rule-edit.ts';
import { originRuleJson, ruleName } from '../../rules/rule-json.ts';
import { withOrigins } from '../../rules/rule-search.ts';
import { deletable } from '../../sources/managed-lists.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { CONDITIONS, RULE, RULE_EXAMPLE, Rule, readConditions } from './rule-schema.ts';
import { requireSelection, SELECTION, selectedRules } from './rule-selection.ts';

const SAMPLE = 10;

const SET = Type.Object(
  {
    expires: textField(40, 'A duration from now such as 3600 or 7d, an instant, or never.'),
    reason: Type.Optional(nullable(Type.String({ maxLength: 2048 }), { description: 'null: none.' })),
    list: textField(200, 'Access rules only: UUID or name of the list to move to.', { minLength: 1 }),
  },
  { additionalProperties: false, description: 'The new values; absent fields stay.' },
);

interface Changed extends Change, ForecastFields {
  readonly changed: number;
  readonly moved: number;
  readonly unchanged: number;
  readonly left_out: number;
  readonly refused: number;
  readonly refusals: readonly { readonly rule: string; readonly why: string }[];
  readonly needs_confirmation: boolean;
  readonly expires_at?: string | null;
  readonly preview: boolean;
  readonly sample: readonly object[];
  readonly next: string | null;
}

const CHANGED = answerOf(
  'ChangedRules',
  {
    changed: [2, `Rules that change, at most ${MOST_CHANGED}.`],
    moved: [0, 'Of these, rules that move to another list. They become new rules there, from the same signal.'],
    unchanged: [0, 'Rules that have these values already.'],
    left_out: [0, 'Rules managed by sources; they stay.'],
    refused: [1, 'Rules that stay because of guard rails, or because the list already has such a rule.'],
    refusals: listOf({ rule: '10.0.0.1', why: 'it overlaps the protected network 10.0.0.0/8' }, { description: 'Some of them.' }),
    needs_confirmation: [true, 'True if some rules are refused, so that changing the others needs `confirmed`.'],
    preview: true,
    sample: [[RULE_EXAMPLE], Type.Array(Rule, { description: 'Some of the rules that change, with their previous values.' })],
    next: [null, nullable(Type.String({ description: 'Repeat the request with this as after to continue; null: no more rules.' }))],
    ...changeFields(RULE.batch_id[0]),
  },
  {
    expires_at: Type.Optional(nullable(Type.String({ format: 'date-time' }), { description: 'The resulting expiry; null: never.' })),
    ...FEED_FIELDS,
  },
);

async function readEdit(context: ManageContext, kind: string, { expires, reason, list }: Static<typeof SET>): Promise<RuleEdit> {
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
    body: Type.Object({
      ...CONDITIONS,
      ...SELECTION,
      set: SET,
      preview: PREVIEW,
      confirmed: flagField('true: changes the other rules if some are refused.'),
    }),
    answer: CHANGED,
    audit: 'rules changed',
    creates: 'elsewhere',
    isLong: true,
    refusals: { 404: 'there is no list "edge"', 409: managedBySource('spamhaus-drop') },
    examples: [
      { reason: 'port scan', set: { expires: '30d' }, preview: true },
      { ids: [7, 8], set: { list: 'edge', reason: null } },
    ],
    async run(context, { body: { ids, after, set, preview = false, confirmed = false, ...given } }): Promise<Changed> {
      const { kind: _kind, ...narrowing } = given;
      const { store, workspaceId } = context;
      requireSelection(ids, narrowing);
      const conditions = await readConditions(context, given);
      const edit = await readEdit(context, conditions.kind, set);
      await allLanded(context);
      const found = await selectedRules(context, conditions, { ids, after, most: MOST_CHANGED });
      const { rules, leftOut } = await deletable(store, workspaceId, found.rules, ids !== undefined || conditions.listId !== undefined);
      const planned = { reads: store, workspaceId, now: context.now(), blockFaults: context.blockFaults(context.caller) };
      const plan = await planEdit(planned, rules, edit);
      const { set: stay, moved, unchanged, refused } = plan;
      const changing = [...moved, ...stay];
      const sampled = await withOrigins(store, workspaceId, changing.slice(0, SAMPLE));
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
        sample: sampled.map(originRuleJson),
        next: found.next,
      };
      if (preview) return { ...summary, ...(await feedsThen(context, plan, edit)), batches: [], ...ALL_LANDED };
      if (summary.needs_confirmation && !confirmed) throw notConfirmed(refused);
      const ports = { ...portsOf(context), untilLanded: async () => 0 };
      const { batches } = await changeRules(ports, operatorOf(context), plan, edit);
      const asked = { kind: conditions.kind, ...(ids === undefined ? narrowing : { ids }), set, rules: changing.length };
      return { ...summary, ...(await landed(context, 'rules changed', batches, asked)) };
    },
    show: changeOutcome,
  }),
];
