import type { StoreReads, StoreWrites } from '../../ports/store.ts';

type Store = StoreReads & StoreWrites;

/** Many requests that wait for the same result must not continue in one turn of the event loop. */
export function storeInTurns(store: Store, turn: () => Promise<void>): Store {
  return new Proxy(store, {
    get(known, name: keyof Store) {
      // An iterator of pages, not a promise.
      if (name === 'rules') return known.rules;
      return async (...args: unknown[]) => {
        await turn();
        return Reflect.apply(known[name], known, args) as unknown;
      };
    },
  });
}
