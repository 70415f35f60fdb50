import type { Page } from '../ports/stored/account-store.ts';

/** Expects up to `limit` + 1 items. `placeOf` gives the place after an item. */
export function pageOf<T>(items: readonly T[], limit: number, placeOf: (item: T) => string): Page<T> {
  const page = items.slice(0, limit);
  return { items: page, next: items.length > limit ? placeOf(page.at(-1)!) : null };
}
