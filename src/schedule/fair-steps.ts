/** How the long work of requests gets on beside everything else (SPEC D9.13). */
import { coalesced } from './coalesced.ts';

/** Does a step of a tenant's work when its turn comes. */
export type FairSteps = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/** Steps under way at most: with PostgreSQL each has a connection. */
const AT_ONCE = 2;
/** Behind a step that took longer than the first the thread rests for the second, ms: one that works all the time waits longer for its core. */
const LONG = 1;
const REST = 2;

/**
 * One step begins in each turn of the event loop, and few are under way, however many wait; the tenants take turns, so that one with
 * thousands of requests holds up nobody but himself. Steps are to be short: a few milliseconds.
 */
export function fairSteps(): FairSteps {
  /** Those who wait, by tenant; the tenant who is first gets on next. */
  const waiting = new Map<string, (() => void)[]>();
  let underWay = 0;
  let took = 0;
  const later = (turn: () => void) => (took > LONG ? setTimeout(turn, REST) : setImmediate(turn));
  const plan = coalesced(() => {
    const [next] = waiting;
    if (next === undefined || underWay === AT_ONCE) return false;
    const [tenant, own] = next;
    const begin = own.shift()!;
    waiting.delete(tenant);
    if (own.length > 0) waiting.set(tenant, own);
    underWay += 1;
    begin();
    return true;
  }, later);
  return async (tenant, work) => {
    await new Promise<void>((begin) => {
      const own = waiting.get(tenant);
      if (own === undefined) waiting.set(tenant, [begin]);
      else own.push(begin);
      plan();
    });
    const begun = performance.now();
    try {
      return await work();
    } finally {
      took = performance.now() - begun;
      underWay -= 1;
      plan();
    }
  };
}
