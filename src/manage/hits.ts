/** What bouncers told to have dropped, as JSON has it (SPEC D31.6). */
import { dayOf } from '../clock.ts';
import type { ListHits } from '../ports/history.ts';
import type { StoreReads } from '../ports/store.ts';
import { dateOf } from './history.ts';

/** Days that are looked back at. */
const HIT_DAYS = 30;

export interface HitsJson {
  readonly hits: number;
  readonly hit_bytes: number;
  readonly last_hit: string | null;
}

/** What was dropped for lists in 30 days. */
export interface FoundHits {
  /** By the list's UUID. */
  of(listId: string): HitsJson;
  /** In all, and of no list. */
  readonly whole: { readonly days: number; readonly hits: number; readonly hit_bytes: number; readonly of_no_list: number };
}

/** `now` in ms. */
export async function hitsFound(store: Pick<StoreReads, 'listHits'>, workspaceId: string, now: number): Promise<FoundHits> {
  const rows = await store.listHits(workspaceId, dayOf(now) - HIT_DAYS + 1);
  const lists = new Map(rows.map((row) => [row.listId, row]));
  const whole = lists.get(null);
  const ofLists = rows.reduce((sum, { listId, hits }) => sum + (listId === null ? 0 : hits), 0);
  return {
    of: (listId) => hitsJson(lists.get(listId)),
    whole: {
      days: HIT_DAYS,
      hits: whole?.hits ?? 0,
      hit_bytes: whole?.bytes ?? 0,
      of_no_list: Math.max(0, (whole?.hits ?? 0) - ofLists),
    },
  };
}

const hitsJson = (found: ListHits | undefined): HitsJson => ({
  hits: found?.hits ?? 0,
  hit_bytes: found?.bytes ?? 0,
  last_hit: found === undefined ? null : dateOf(found.lastDay),
});
