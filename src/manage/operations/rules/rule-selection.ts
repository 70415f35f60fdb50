/** SPEC D15.35, D33.1. */
import { Type } from '../../../json/schema.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { ManageContext } from '../../context.ts';
import { fieldFault } from '../../operation.ts';
import { PAGE_QUERY } from '../../page.ts';
import { placeText, type RuleConditions } from '../../rules/rule-search.ts';
import { searchRules } from './rule-reads.ts';

const MOST_IDS = 4000;
const PAGE = 1000;

export const SELECTION = {
  ids: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: MOST_IDS })),
  after: PAGE_QUERY.after,
};

/** Requires either ids or at least one condition. */
export function requireSelection(ids: readonly number[] | undefined, conditions: object): void {
  const isNarrow = Object.keys(conditions).length > 0;
  if ((ids === undefined) !== isNarrow) throw fieldFault('ids', 'or conditions have to select the rules, but not both');
}

interface Selected {
  readonly rules: readonly StoredRule[];
  /** null: no more rules. */
  readonly next: string | null;
}

export async function selectedRules(
  context: ManageContext,
  conditions: RuleConditions,
  { ids, after, most }: { readonly ids: readonly number[] | undefined; readonly after: string | undefined; readonly most: number },
): Promise<Selected> {
  if (ids !== undefined) {
    return { rules: await context.store.rulesById(context.workspaceId, conditions.kind, [...new Set(ids)]), next: null };
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
  return { rules, next };
}
