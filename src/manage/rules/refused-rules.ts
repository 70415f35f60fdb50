/** Preview of new guard rails (SPEC D45.12). */
import type { GuardRails } from '../../account/guard-rails.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { namesIn } from './rule-json.ts';
import { visitRules } from './rule-selections.ts';

const NAMED = 5;

export interface RefusedRules {
  /** By the new guard rails only. */
  readonly refused: number;
  readonly first: readonly { readonly target: string; readonly list_name: string; readonly why: string }[];
  /** false: there may be more. */
  readonly is_whole: boolean;
}

/** Checks networks only: countries and ASNs are trimmed in feeds. */
export async function refusedRules(context: ManageContext, proposed: GuardRails): Promise<RefusedRules> {
  const { store, workspaceId, caller } = context;
  const [before, after] = [caller.guardRails, proposed].map((guardRails) => context.blockFaults({ ...caller, guardRails }));
  const conditions = { kind: 'access_rule', action: 'block', targetKind: 'ip' } as const;
  const { lists } = await namesIn(store, workspaceId);
  const first: { target: string; list_name: string; why: string }[] = [];
  let refused = 0;
  const is_whole = await visitRules(context, conditions, (rules) => {
    for (const { rule, listId } of rules) {
      if (!('target' in rule) || rule.target.kind !== 'ip') continue;
      const why = after!(rule.target.network);
      if (why.length === 0 || before!(rule.target.network).length > 0) continue;
      refused += 1;
      if (first.length < NAMED)
        first.push({ target: formatTarget(rule.target), list_name: lists.get(listId ?? '') ?? '', why: why.join('; ') });
    }
  });
  return { refused, first, is_whole };
}
