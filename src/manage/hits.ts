/** Drops reported by bouncers (SPEC D31.6). */

import { dayOf } from '../clock.ts';
import type { ExplainedTarget } from '../feed/whatif/explain/explain.ts';
import { type Fields, nullable, Type } from '../json/schema.ts';
import type { ListHits } from '../ports/history.ts';
import type { StoreReads } from '../ports/store.ts';
import { dateOf } from './history.ts';
import type { Names } from './rules/rule-json.ts';

const HIT_DAYS = 30;

export interface HitsJson {
  readonly hits: number;
  readonly hit_bytes: number;
  readonly last_hit: string | null;
}

/** Drops of the last 30 days. */
export interface FoundHits {
  of(listId: string): HitsJson;
  /** `of_no_list`: reported without a list. */
  readonly total: { readonly days: number; readonly hits: number; readonly hit_bytes: number; readonly of_no_list: number };
}

/** `now` in ms. */
export async function hitsFound(store: Pick<StoreReads, 'listHits'>, workspaceId: string, now: number): Promise<FoundHits> {
  const rows = await store.listHits(workspaceId, dayOf(now) - HIT_DAYS + 1);
  const lists = new Map(rows.map((row) => [row.listId, row]));
  const total = lists.get(null);
  const ofLists = rows.reduce((sum, { listId, hits }) => sum + (listId === null ? 0 : hits), 0);
  return {
    of: (listId) => hitsJson(lists.get(listId)),
    total: {
      days: HIT_DAYS,
      hits: total?.hits ?? 0,
      hit_bytes: total?.bytes ?? 0,
      of_no_list: Math.max(0, (total?.hits ?? 0) - ofLists),
    },
  };
}

const hitsJson = (found: ListHits | undefined): HitsJson => ({
  hits: found?.hits ?? 0,
  hit_bytes: found?.bytes ?? 0,
  last_hit: found === undefined ? null : dateOf(found.lastDay),
});

export interface ListDropped extends HitsJson {
  readonly list: string;
}

/** Lists that put a target into feeds; empty if no bouncer reports drops. `now` in ms. */
export async function droppedOf(
  store: Pick<StoreReads, 'listHits'>,
  workspaceId: string,
  { feeds }: ExplainedTarget,
  { lists }: Names,
  now: number,
): Promise<ListDropped[]> {
  const { total, of } = await hitsFound(store, workspaceId, now);
  if (total.hits === 0) return [];
  const rules = feeds.flatMap(({ explanation }) => explanation.rules.filter(({ effect }) => effect === 'in'));
  const ids = new Set(rules.flatMap(({ stored }) => stored.listId ?? []));
  return [...ids].map((id) => ({ list: lists.get(id) ?? '', ...of(id) }));
}

export const HITS: Fields = {
  hits: [18_211, 'Packets and requests that bouncers reported as dropped in 30 days.'],
  hit_bytes: 1_102_933,
  last_hit: ['2026-11-23', nullable(Type.String({ description: 'The last day (UTC) with a hit.' }))],
};
