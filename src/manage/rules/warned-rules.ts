/** Blocks of a batch that guard rails only report (SPEC D62.6). */
import type { BatchInfo } from '../../ports/stored/rule-store.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { withOrigins } from './rule-search.ts';

/** Rules checked per batch, its first. */
export const MOST_CHECKED = 1_000;
const NAMED = 5;

export async function warnedRules(
  { store, workspaceId, caller, blockWarnings }: Pick<ManageContext, 'store' | 'workspaceId' | 'caller' | 'blockWarnings'>,
  { id, firstSeq, entries }: BatchInfo,
) {
  const warnings = blockWarnings(caller);
  const ids = warnings === undefined ? [] : Array.from({ length: Math.min(entries, MOST_CHECKED) }, (_, i) => firstSeq + i);
  const rules = await store.rulesById(workspaceId, 'access_rule', ids);
  const found = (await withOrigins(store, workspaceId, rules)).flatMap(({ stored: { rule }, origin }) => {
    if (origin?.batchId !== id || !('target' in rule) || rule.action !== 'block' || rule.target.kind !== 'ip') return [];
    const [why] = warnings!(rule.target.network);
    return why === undefined ? [] : [{ target: formatTarget(rule.target), why }];
  });
  return { rules: found.length, first: found.slice(0, NAMED) };
}
