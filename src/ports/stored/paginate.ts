import type { DevicePage, DeviceReads } from '../devices.ts';
import type { Page, PageRequest } from './account-store.ts';

export async function* everyItem<T>(read: (page: PageRequest) => Promise<Page<T>>, limit = 1000): AsyncGenerator<T> {
  for (let after: string | null = null; ; ) {
    const { items, next }: Page<T> = await read({ after, limit });
    yield* items;
    if (next === null) return;
    after = next;
  }
}

/** Expects up to `limit` + 1 items. `placeOf`: the place after an item. */
export function pageOf<T>(items: readonly T[], limit: number, placeOf: (item: T) => string): Page<T> {
  const page = items.slice(0, limit);
  return { items: page, next: items.length > limit ? placeOf(page.at(-1)!) : null };
}

/** Devices by id. */
export const devicePage = async (
  store: Pick<DeviceReads, 'devices'>,
  workspaceId: string,
  { after, limit }: PageRequest,
  which: Pick<DevicePage, 'since' | 'keyId'> = {},
) => pageOf(await store.devices(workspaceId, { ...which, limit: limit + 1, ...(after !== null && { after }) }), limit, ({ id }) => id);
