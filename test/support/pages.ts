import assert from 'node:assert/strict';
import type { Page, PageRequest } from '../../src/ports/stored/account-store.ts';

/** The items of all pages, which are read two at a time. */
export async function allOf<T>(read: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page: Page<T> = await read({ after: after ?? null, limit: 2 });
    assert.ok(page.items.length <= 2 && (page.next === null || page.items.length === 2));
    items.push(...page.items);
    after = page.next;
  }
  return items;
}
