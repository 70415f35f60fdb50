import type { BodyBudget } from './body-budget.ts';

/**
 * Room for the bodies of who has shown no key yet, such as those of sign-ins: so many at a time from one address. They take nothing of the
 * budget of keys; what all of them may have in memory follows from how many connections there may be.
 */
export function guestBudget(atATime: number): BodyBudget {
  const ofAddresses = new Map<string, number>();

  return {
    open(address) {
      let isHeld = false;
      const change = (by: 1 | -1) => {
        const bodies = (ofAddresses.get(address) ?? 0) + by;
        if (bodies > 0) ofAddresses.set(address, bodies);
        else ofAddresses.delete(address);
        isHeld = by === 1;
      };
      return {
        hold() {
          if (isHeld) return true;
          if ((ofAddresses.get(address) ?? 0) >= atATime) return false;
          change(1);
          return true;
        },
        release() {
          if (isHeld) change(-1);
        },
      };
    },
  };
}
