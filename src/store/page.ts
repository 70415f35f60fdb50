import type { Page } from '../ports/stored/account-store.ts';

/** A page of items, of which one more than `limit` were read to see whether it is the last. `placeOf` names the place behind one. */
export function pageOf<T>(items: readonly T[], limit: number, placeOf: (item: T) => string): Page<T> {
  const page = items.slice(0, limit);
  return { items: page, next: items.length > limit ? placeOf(page.at(-1)!) : null };
}
