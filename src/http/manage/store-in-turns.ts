import type { StoreReads, StoreWrites } from '../../ports/store.ts';

type Store = StoreReads & StoreWrites;

/**
 * The store as one request works with it: each of its calls waits for a turn first. What many wait for together, such as one answer for all
 * of them, would else have all of them go on in the same turn of the event loop.
 */
export function storeInTurns(store: Store, turn: () => Promise<void>): Store {
  return new Proxy(store, {
    get(known, name: keyof Store) {
      // Its rules come page by page: they are no answer that is waited for.
      if (name === 'rules') return known.rules;
      return async (...args: unknown[]) => {
        await turn();
        return Reflect.apply(known[name], known, args) as unknown;
      };
    },
  });
}
