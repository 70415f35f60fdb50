/** SPEC D15.32, D33.2 to D33.4. */

import type { TObject } from 'typebox';
import { WeirError } from '../../../errors.ts';
import { answerOf, flagField, listOf, Type, textField, wordField } from '../../../json/schema.ts';
import type { StepPlace } from '../../../ports/stored/rule-queries.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import { KINDS, type Kind } from '../../../rule.ts';
import type { ManageContext } from '../../context.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { PAGE_QUERY, pageSchema } from '../../page.ts';
import { repeatTexts } from '../../rules/repeats.ts';
import { namesIn, originRuleJson } from '../../rules/rule-json.ts';
import { placeText, type RuleConditions, readPlace, rulePage, withOrigins } from '../../rules/rule-search.ts';
import { MOST_SORTED, type RuleOrder, readSortedPlace, sortedPage } from '../../rules/rule-selections.ts';
import { hasSort, SORT_NAMES } from '../../rules/rule-sort.ts';
import { CONDITIONS, RULE, Rule, readConditions } from './rule-schema.ts';

const USUAL = 100;
/** Limit of results. */
const NAMED = 10;

export async function searchRules(context: ManageContext, conditions: RuleConditions, after: string | undefined, limit: number) {
  const { store, workspaceId, now, pause } = context;
  return rulePage(store, workspaceId, conditions, {
    now: now(),
    after: placeOf(after, (text) => readPlace(conditions.kind, text)),
    limit,
    pause,
  });
}

function placeOf<P extends StepPlace | object>(after: string | undefined, read: (text: string) => P | undefined): P | undefined {
  const place = after === undefined ? undefined : read(after);
  if (after !== undefined && place === undefined) throw fieldFault('after', 'must be the value of next in a page');
  return place;
}

export async function ruleById({ store, workspaceId }: ManageContext, params: Readonly<Record<string, string>>): Promise<StoredRule> {
  const kind = KINDS.find((known) => known === params.kind);
  const isId = /^\d{1,15}$/.test(params.rule!);
  const [rule] = kind !== undefined && isId ? await store.rulesById(workspaceId, kind, [Number(params.rule)]) : [];
  if (rule === undefined) throw new WeirError('NOT_FOUND', `there is no rule "${params.rule}" of this kind`);
  return rule;
}

/** For orders without an index. */
async function pageInOrder(
  context: ManageContext,
  asked: object,
  conditions: RuleConditions,
  { order, after, limit }: { readonly order: RuleOrder; readonly after: string | undefined; readonly limit: number },
) {
  if (!hasSort(conditions.kind, order.sort)) throw fieldFault('sort', 'does not apply to rules of this kind');
  const place = placeOf(after, readSortedPlace);
  const selection = await context.selections.find(context, asked, conditions, order);
  return sortedPage(context, conditions, selection, { after: place, limit, descending: order.descending });
}

async function rulesJson({ store, workspaceId }: ManageContext, rules: readonly StoredRule[]) {
  const repeats = await repeatTexts(store, workspaceId, rules);
  const json = (await withOrigins(store, workspaceId, rules)).map((rule) => {
    const repeated = repeats.get(rule.stored.id);
    return { ...originRuleJson(rule), ...(repeated !== undefined && { repeated }) } as ReturnType<typeof originRuleJson>;
  });
  if (json.every(({ key_id }) => key_id === null)) return json;
  const { keys } = await namesIn(store, workspaceId);
  return json.map((rule) => ({ ...rule, key_name: keys.get(String(rule.key_id)) ?? null }));
}

const QUERY: TObject = Type.Object(CONDITIONS);

export const RULE_READS: readonly Operation[] = [
  operation('listRules', 'GET /rules', 'rules:read', {
    summary: 'List the active rules of a kind that match all conditions',
    description: `Access rules are sorted by list and id, others by evaluation order. With \`sort\`, at most ${MOST_SORTED} rules can be sorted (else 409), as of up to a minute ago. A page may be short or empty although more rules follow: only next shows the end.`,
    query: Type.Object({
      ...CONDITIONS,
      sort: wordField(SORT_NAMES, 'The sort order; rules without the value come last.'),
      descending: flagField('true: with `sort`, the largest first.'),
      limit: PAGE_QUERY.limit,
      after: textField(1000, 'The next of the previous page.'),
    }),
    answer: pageSchema('RulePage', 'rules', RULE, Rule),
    refusals: { 404: 'there is no list "edge"', 409: 'Too many rules to sort' },
    async run(context, { query: { limit = USUAL, after, sort, descending = false, ...given } }) {
      const conditions = await readConditions(context, given);
      if (sort !== undefined) {
        const order = { sort, descending };
        const { rules, next } = await pageInOrder(context, given, conditions, { order, after, limit });
        return { rules: await rulesJson(context, rules), next };
      }
      const { rules, next } = await searchRules(context, conditions, after, limit);
      return { rules: await rulesJson(context, rules), next: next && placeText(next) };
    },
  }),
  operation('countRules', 'GET /rules/count', 'rules:read', {
    summary: 'Count the active rules of a kind that match all conditions',
    description: 'As of up to a minute ago.',
    query: QUERY,
    answer: answerOf('RuleCount', {
      rules: 102_000,
      whole: [true, `false: there are more. Counting stops at ${MOST_SORTED} rules or after 15 seconds.`],
    }),
    refusals: { 404: 'there is no list "edge"' },
    async run(context, { query: given }) {
      const { total, isComplete } = await context.selections.find(context, given, await readConditions(context, given));
      return { rules: total, whole: isComplete };
    },
  }),
  operation('countReasons', 'GET /rules/reasons', 'rules:read', {
    summary: 'Count the active rules of a kind that match all conditions, by reason',
    description: `Returns the ${NAMED} reasons with the most rules. As of up to a minute ago.`,
    query: QUERY,
    answer: answerOf('ReasonCounts', {
      reasons: listOf({ reason: 'port scan', rules: 17 }),
      rules: [102_000, 'Counted rules, also those without a reason.'],
      whole: [true, `false: there are more. Counting stops at ${MOST_SORTED} rules or after 15 seconds.`],
    }),
    refusals: { 404: 'there is no list "edge"' },
    async run(context, { query: given }) {
      const { total, isComplete, reasons } = await context.selections.find(context, given, await readConditions(context, given));
      const most = [...reasons].sort(([, a], [, b]) => b - a).slice(0, NAMED);
      return { reasons: most.map(([reason, rules]) => ({ reason, rules })), rules: total, whole: isComplete };
    },
  }),
  operation('findNamedRules', 'GET /rules/named', 'rules:read', {
    summary: 'Find rules by the beginning of their rule_ref, and reasons by a part',
    description: `Returns at most ${NAMED} of each. Reasons are as of up to a minute ago, from ${MOST_SORTED} rules of each kind.`,
    query: Type.Object({ text: Type.String({ minLength: 2, maxLength: 200, description: 'At least two characters.' }) }),
    answer: answerOf('NamedRules', {
      rules: [[], Type.Array(Rule, { description: 'By rule_ref, case-sensitive.' })],
      reasons: listOf(
        { kind: ['access_rule', Type.Enum([...KINDS])], reason: 'port scan', rules: 17 },
        { description: 'Case-insensitive; reasons with the most rules first.' },
      ),
      whole: [true, 'false: not all rules were searched for reasons.'],
    }),
    async run(context, { query: { text } }) {
      const { store, workspaceId, now, selections } = context;
      const wanted = text.toLowerCase();
      const rules: StoredRule[] = [];
      const reasons: { kind: Kind; reason: string; rules: number }[] = [];
      let whole = true;
      for (const kind of KINDS) {
        rules.push(...(await store.rulesByRef(workspaceId, kind, text, { now: now(), limit: NAMED })));
        const found = await selections.find(context, { kind }, { kind });
        whole &&= found.isComplete;
        for (const [reason, count] of found.reasons)
          if (reason.toLowerCase().includes(wanted)) reasons.push({ kind, reason, rules: count });
      }
      reasons.sort((a, b) => b.rules - a.rules);
      return { rules: await rulesJson(context, rules.slice(0, NAMED)), reasons: reasons.slice(0, NAMED), whole };
    },
  }),
  operation('getRule', 'GET /rules/{kind}/{rule}', 'rules:read', {
    summary: 'Get a rule, even if it expired recently',
    answer: Rule,
    refusals: { 404: 'there is no rule "7" of this kind' },
    async run(context, { params }) {
      const [json] = await rulesJson(context, [await ruleById(context, params)]);
      return json!;
    },
  }),
];
