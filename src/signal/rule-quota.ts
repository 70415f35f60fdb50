import { within } from '../clock.ts';
import type { StoreReads } from '../ports/store.ts';

/** Why a workspace takes no more rules now, in words for its callers; undefined while it has room. */
export type RuleQuota = (workspaceId: string) => Promise<string | undefined>;

/** How long the number of a workspace's rules is believed, ms; what is accepted meanwhile may go beyond the limit. */
const BELIEVED = 5000;
/** How long the store may take to count them, ms. */
const STORE_LIMIT = 1000;

/**
 * Holds each workspace to `maxRules` rules (0 = no limit), as the store has counted them. While the store does not answer within a second there is
 * room: it never takes part in accepting signals. `monotonic` gives ms.
 */
export function ruleQuota(maxRules: number, store: Pick<StoreReads, 'ruleCount'>, monotonic: () => number): RuleQuota {
  if (maxRules === 0) return async () => undefined;
  const fault = `the workspace has its ${maxRules} rules, the most that it may have: only deletes are taken until there are fewer`;
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
