import { managedBySource } from '../../../account/managed-list.ts';
import { answerOf, nullable, Type } from '../../../json/schema.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { ManageContext } from '../../context.ts';
import { allLanded, operate } from '../../operate.ts';
import { type Operation, operation } from '../../operation.ts';
import { ALL_LANDED, type Change, changeFields, changeOutcome, landed, operatorOf, PREVIEW, portsOf } from '../../rules/rule-changes.ts';
import { deletions } from '../../rules/rule-deletion.ts';
import { originRuleJson } from '../../rules/rule-json.ts';
import { withOrigins } from '../../rules/rule-search.ts';
import { deletable } from '../../sources/managed-lists.ts';
import { ruleById } from './rule-reads.ts';
import { CONDITIONS, RULE, RULE_EXAMPLE, Rule, readConditions } from './rule-schema.ts';
import { requireSelection, SELECTION, selectedRules } from './rule-selection.ts';

const MOST_DELETED = 5000;
const SAMPLE = 10;

interface Deleted extends Change {
  readonly deleted: number;
  readonly preview: boolean;
  /** Managed by sources. */
  readonly left_out: number;
  readonly sample: readonly object[];
  /** null: no more rules. */
  readonly next: string | null;
}

async function deleteRules(
  context: ManageContext,
  found: readonly StoredRule[],
  { preview, next, isNamed }: { readonly preview: boolean; readonly next: string | null; readonly isNamed: boolean },
  asked: Readonly<Record<string, unknown>>,
): Promise<Deleted> {
  const { rules, leftOut } = await deletable(context.store, context.workspaceId, found, isNamed);
  const sampled = await withOrigins(context.store, context.workspaceId, rules.slice(0, SAMPLE));
  const sample = sampled.map(originRuleJson);
  const summary = { deleted: rules.length, preview, left_out: leftOut, sample, next };
  if (preview || rules.length === 0) return { ...summary, batches: [], ...ALL_LANDED };
  const { batches } = await operate({ ...portsOf(context), untilLanded: async () => 0 }, operatorOf(context), deletions(rules));
  return { ...summary, ...(await landed(context, 'rules deleted', batches, { ...asked, rules: rules.length })) };
}

const DELETED = answerOf('DeletedRules', {
  deleted: [1, `Deleted rules, at most ${MOST_DELETED}.`],
  preview: false,
  left_out: [0, 'Rules managed by sources; they stay.'],
  sample: [[RULE_EXAMPLE], Type.Array(Rule, { description: 'Some of them.' })],
  next: [null, nullable(Type.String({ description: 'Repeat the request with this as after to continue; null: no more rules.' }))],
  ...changeFields(RULE.batch_id[0]),
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
      return deleteRules(context, [rule], { preview: false, next: null, isNamed: true }, { kind: rule.kind, id: rule.id });
    },
    show: changeOutcome,
  }),
  operation('deleteRules', 'POST /rules/delete', 'rules:write', {
    summary: 'Delete rules, by id or conditions',
    description: `Waits until earlier entries have landed. Rules managed by sources are skipped and counted. Limit: ${MOST_DELETED} rules; if next is not null, repeat the request with it as after.`,
    body: Type.Object({
      ...CONDITIONS,
      ...SELECTION,
      preview: PREVIEW,
    }),
    answer: DELETED,
    audit: 'rules deleted',
    creates: 'elsewhere',
    isLong: true,
    refusals: { 404: 'there is no list "edge"', 409: managedBySource('spamhaus-drop') },
    examples: [{ label: 'source:spamhaus', preview: true }, { ids: [7, 8] }],
    async run(context, { body: { ids, after, preview = false, ...given } }) {
      const { kind: _kind, ...narrowing } = given;
      requireSelection(ids, narrowing);
      await allLanded(context);
      const conditions = await readConditions(context, given);
      const { rules, next } = await selectedRules(context, conditions, { ids, after, most: MOST_DELETED });
      const isNamed = ids !== undefined || conditions.listId !== undefined;
      return deleteRules(
        context,
        rules,
        { preview, next, isNamed },
        { kind: conditions.kind, ...(ids === undefined ? narrowing : { ids }) },
      );
    },
    show: changeOutcome,
  }),
];
