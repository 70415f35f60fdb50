import type { BodyBudget } from './body-budget.ts';

/**
 * Budget for requests without a key, such as sign-ins: a count per address, separate from the budget of keys. Total memory is bounded by
 * the connection limit.
 */
export function guestBudget(atATime: number): BodyBudget {
  const ofAddresses = new Map<string, number>();

  return {
    open(address) {
      let isCounted = false;
      const change = (by: 1 | -1) => {
        const bodies = (ofAddresses.get(address) ?? 0) + by;
        if (bodies > 0) ofAddresses.set(address, bodies);
        else ofAddresses.delete(address);
        isCounted = by === 1;
      };
      return {
        reserve() {
          if (isCounted) return true;
          if ((ofAddresses.get(address) ?? 0) >= atATime) return false;
          change(1);
          return true;
        },
        release() {
          if (isCounted) change(-1);
        },
      };
    },
  };
}
