/** Blocks of a batch that guard rails only report (SPEC D62.6), and those that last longer than sent (D56.9). */
import type { BatchInfo } from '../../ports/stored/rule-store.ts';
import { formatTarget } from '../../signal/target.ts';
import type { ManageContext } from '../context.ts';
import { repeatTexts } from './repeats.ts';
import { withOrigins } from './rule-search.ts';

/** Rules checked per batch, its first. */
export const MOST_CHECKED = 1_000;
const NAMED = 5;

export async function notedBlocks(
  { store, workspaceId, caller, blockWarnings }: Pick<ManageContext, 'store' | 'workspaceId' | 'caller' | 'blockWarnings'>,
  { id, firstSeq, entries }: BatchInfo,
) {
  const warnings = blockWarnings(caller);
  const ids = Array.from({ length: Math.min(entries, MOST_CHECKED) }, (_, i) => firstSeq + i);
  const rules = await withOrigins(store, workspaceId, await store.rulesById(workspaceId, 'access_rule', ids));
  const own = rules.flatMap(({ stored, origin }) => (origin?.batchId === id ? [stored] : []));
  const repeats = await repeatTexts(store, workspaceId, own);
  const noted = (whyOf: (stored: (typeof own)[number]) => string | undefined) => {
    const found = own.flatMap((stored) => {
      const why = whyOf(stored);
      return why === undefined || !('target' in stored.rule) ? [] : [{ target: formatTarget(stored.rule.target), why }];
    });
    return { rules: found.length, first: found.slice(0, NAMED) };
  };
  return {
    warned: noted(({ rule }) =>
      'target' in rule && rule.action === 'block' && rule.target.kind === 'ip' ? warnings?.(rule.target.network)[0] : undefined,
    ),
    repeated: noted((stored) => repeats.get(stored.id)),
  };
}
