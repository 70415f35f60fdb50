import type { Page, PageRequest } from './account-store.ts';

export async function* everyItem<T>(read: (page: PageRequest) => Promise<Page<T>>, limit = 1000): AsyncGenerator<T> {
  for (let after: string | null = null; ; ) {
    const { items, next }: Page<T> = await read({ after, limit });
    yield* items;
    if (next === null) return;
    after = next;
  }
}
