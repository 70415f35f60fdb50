/** Long work of requests in small steps (SPEC D9.13). */
import { coalesced } from './debounce.ts';

export type FairSteps = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/** Concurrent steps: with PostgreSQL each uses a connection. */
const AT_ONCE = 2;
/** After a step longer than the first, the thread rests for the second, ms: a constantly busy thread gets its core later. */
const LONG = 1;
const REST = 2;

/** One step starts per event loop turn; tenants take turns: many requests of one delay only its own. Steps should take a few ms. */
export function fairSteps(): FairSteps {
  /** By tenant; the first is next. */
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
