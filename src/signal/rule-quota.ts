import { within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';

/** Why a workspace is over its quota; undefined if it is not. */
export type RuleQuota = (workspaceId: string) => Promise<string | undefined>;

/** Cache lifetime of a rule count, ms; the limit may be exceeded meanwhile. */
const BELIEVED = 5000;
/** Store timeout, ms. */
const STORE_LIMIT = 1000;

/**
 * Limits each workspace to `maxRules` (0 = no limit). While the store does not answer, there is no limit: accepting must not depend on the
 * store. `monotonic` in ms.
 */
export function ruleQuota(maxRules: number, store: Pick<StoreReads, 'ruleCount'>, monotonic: () => number): RuleQuota {
  if (maxRules === 0) return async () => undefined;
  const fault = `the workspace has reached its limit of ${maxRules} rules: only deletes are accepted until it has fewer`;
  const known = new Map<string, { readonly until: number; readonly isFull: Promise<boolean> }>();
  return async (workspaceId) => {
    const at = monotonic();
    let answer = known.get(workspaceId);
    if (answer === undefined || answer.until <= at) {
      const isFull = within(store.ruleCount(workspaceId), STORE_LIMIT, 'the store').then(
        (rules) => rules >= maxRules,
        () => false,
      );
      answer = { until: at + BELIEVED, isFull };
      known.set(workspaceId, answer);
    }
    return (await answer.isFull) ? fault : undefined;
  };
}
