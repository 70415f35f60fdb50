/** Rules selected by ids or by conditions, to delete or change them (SPEC D15.35, D33.1). */
import { managedBySource } from '../../../account/managed-list.ts';
import { WeirError } from '../../../errors.ts';
import { nullable, type Static, Type } from '../../../json/schema.ts';
import { everyItem } from '../../../ports/stored/paginate.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { Kind } from '../../../rule.ts';
import type { ManageContext } from '../../context.ts';
import { allLanded } from '../../operate.ts';
import { fieldFault } from '../../operation.ts';
import { PAGE_QUERY } from '../../page.ts';
import { type Change, changeFields, PREVIEW } from '../../rules/rule-changes.ts';
import { originRuleJson } from '../../rules/rule-json.ts';
import { placeText, withOrigins } from '../../rules/rule-search.ts';
import { searchRules } from './rule-reads.ts';
import { CONDITIONS, RULE, RULE_EXAMPLE, Rule, readConditions } from './rule-schema.ts';

const MOST_IDS = 4000;
const PAGE = 1000;
export const SAMPLE = 10;

/** Fields of the request. */
export const SELECTION = {
  ...CONDITIONS,
  ids: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: MOST_IDS })),
  after: PAGE_QUERY.after,
  preview: PREVIEW,
};
const Selecting = Type.Object(SELECTION);

export interface Selected extends Change {
  readonly preview: boolean;
  readonly left_out: number;
  readonly sample: readonly object[];
  readonly next: string | null;
}

/** Fields of the answer. */
export const selectionFields = (preview: boolean, sample: string) =>
  ({
    preview,
    left_out: [0, 'Rules managed by sources; they stay.'],
    sample: [[RULE_EXAMPLE], Type.Array(Rule, { description: sample })],
    next: [null, nullable(Type.String({ description: 'Repeat the request with this as after to continue; null: no more rules.' }))],
    ...changeFields(RULE.batch_id[0]),
  }) as const;

export interface Selection {
  /** Without managed lists, which are counted in `leftOut`. */
  readonly rules: readonly StoredRule[];
  readonly leftOut: number;
  /** null: no more rules. */
  readonly next: string | null;
  /** For the audit log. */
  readonly asked: Readonly<Record<string, unknown>> & { readonly kind: Kind };
}

/** Waits for landing. Requires either ids or at least one condition. At most `most` rules. */
export async function selectRules(
  context: ManageContext,
  { ids, after, preview: _preview, ...given }: Static<typeof Selecting>,
  most: number,
): Promise<Selection> {
  const { kind: _kind, ...narrowing } = given;
  const isNarrow = Object.keys(narrowing).length > 0;
  if ((ids === undefined) !== isNarrow) throw fieldFault('ids', 'or conditions have to select the rules, but not both');
  await allLanded(context);
  const conditions = await readConditions(context, given);
  const { kind, listId } = conditions;
  if (ids !== undefined) {
    const rules = await context.store.rulesById(context.workspaceId, kind, [...new Set(ids)]);
    return { ...(await ownRules(context, rules, true)), next: null, asked: { kind, ids } };
  }
  const rules: StoredRule[] = [];
  let next = after ?? null;
  do {
    const page = await searchRules(context, conditions, next ?? undefined, Math.min(PAGE, most - rules.length));
    rules.push(...page.rules);
    next = page.next && placeText(page.next);
    // The page reached the limit of one request.
    if (page.rules.length < PAGE) break;
  } while (next !== null && rules.length < most);
  return { ...(await ownRules(context, rules, listId !== undefined)), next, asked: { kind, ...narrowing } };
}

export const sampleOf = async ({ store, workspaceId }: ManageContext, rules: readonly StoredRule[]): Promise<object[]> =>
  (await withOrigins(store, workspaceId, rules.slice(0, SAMPLE))).map(originRuleJson);

/** Without rules of sources (SPEC D23.2). Rejects with REFUSED if one was named by id or list (`isNamed`). */
export async function ownRules(
  { store, workspaceId }: ManageContext,
  rules: readonly StoredRule[],
  isNamed: boolean,
): Promise<Pick<Selection, 'rules' | 'leftOut'>> {
  if (!rules.some(({ listId }) => listId !== null)) return { rules, leftOut: 0 };
  const managed = new Map<string | null, string>();
  for await (const { source } of everyItem((page) => store.sourcePage(workspaceId, page))) managed.set(source.listId, source.name);
  const [named] = isNamed ? rules.flatMap(({ listId }) => managed.get(listId) ?? []) : [];
  if (named !== undefined) throw new WeirError('REFUSED', managedBySource(named));
  const own = rules.filter(({ listId }) => !managed.has(listId));
  return { rules: own, leftOut: rules.length - own.length };
}
