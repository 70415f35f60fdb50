/** Which rules a request that changes many means: those of its ids, or those that meet its conditions (SPEC D15.35, D33.1). */
import { Type } from '../../../json/schema.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { ManageContext } from '../../context.ts';
import { fieldFault } from '../../operation.ts';
import { PAGE_QUERY } from '../../page.ts';
import { placeText, type RuleConditions } from '../../rules/rule-search.ts';
import { searchRules } from './rule-reads.ts';

const MOST_IDS = 4000;
/** Rules that are read at a time. */
const PAGE = 1000;

/** The fields of a body that say it, besides conditions. */
export const MEANT = {
  ids: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: MOST_IDS })),
  after: PAGE_QUERY.after,
};

/** Rejects where a request names all rules of a kind, or names some twice. */
export function requireMeaning(ids: readonly number[] | undefined, conditions: object): void {
  const isNarrow = Object.keys(conditions).length > 0;
  if ((ids === undefined) !== isNarrow) throw fieldFault('ids', 'or conditions have to say which rules are meant, not both');
}

interface Meant {
  readonly rules: readonly StoredRule[];
  /** Where the search for more goes on; null: there are no more. */
  readonly next: string | null;
}

/** The rules that are meant, `most` at most. */
export async function selectedRules(
  context: ManageContext,
  conditions: RuleConditions,
  { ids, after, most }: { readonly ids: readonly number[] | undefined; readonly after: string | undefined; readonly most: number },
): Promise<Meant> {
  if (ids !== undefined) {
    return { rules: await context.store.rulesById(context.workspaceId, conditions.kind, [...new Set(ids)]), next: null };
  }
  const rules: StoredRule[] = [];
  let next = after ?? null;
  do {
    const page = await searchRules(context, conditions, next ?? undefined, Math.min(PAGE, most - rules.length));
    rules.push(...page.rules);
    next = page.next && placeText(page.next);
    // A page that is short has looked at all that one request may.
    if (page.rules.length < PAGE) break;
  } while (next !== null && rules.length < most);
  return { rules, next };
}
