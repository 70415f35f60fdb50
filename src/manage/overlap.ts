/** SPEC D30. */
import type { AccessList } from '../account/list.ts';
import { DAY, dayOf, isoTime } from '../clock.ts';
import type { OverlapDetail } from '../feed/whatif/overlap/detail.ts';
import type { Share } from '../feed/whatif/overlap/listed.ts';
import { DETECTED_SINCE, type ListOverlap, type WorkspaceOverlap } from '../feed/whatif/overlap/overlap.ts';
import type { StoreReads } from '../ports/store.ts';
import { everyItem } from '../ports/stored/paginate.ts';
import { dayJson } from './history.ts';
import { type HitsJson, hitsFound } from './hits.ts';

export const OVERLAP_DAYS = DETECTED_SINCE / DAY;

const shareJson = ({ entries, v4, v6 }: Share) => ({ entries, addresses_v4: v4, addresses_v6: v6 });

/** Rejects with an error for the caller. */
export interface OverlapCounter {
  /** `selected`: UUID of a list that is always included. */
  lists(workspaceId: string, selected?: string): Promise<WorkspaceOverlap>;
  detail(workspaceId: string, list: Pick<AccessList, 'id' | 'name'>): Promise<OverlapDetail>;
}

type OverlapStore = Pick<StoreReads, 'sourcePage' | 'feedDays' | 'listHits'>;

/** Declared by sources, by list. */
async function copiesOf(store: OverlapStore, workspaceId: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const copies = new Map<string, readonly string[]>();
  for await (const { source } of everyItem((page) => store.sourcePage(workspaceId, page))) copies.set(source.listId, source.copies);
  return copies;
}

function listJson(
  { id, name, isSource, unique, overlaps, detections, added, gone, neverBlock, ...share }: ListOverlap,
  copies: readonly string[],
  hits: HitsJson,
) {
  const { lead, ...witness } = detections;
  return {
    ...{ id, name, source: isSource },
    ...shareJson(share),
    ...{ added, gone },
    unique: shareJson(unique),
    copies: copies.map((of) => ({ name: of, entries: overlaps.find((each) => each.name === of)?.entries ?? 0 })),
    detections: { ...witness, lead_seconds: lead },
    never_block: { count: neverBlock },
    overlaps: overlaps.map(({ name: of, ...common }) => ({ name: of, ...shareJson(common) })),
    ...hits,
    idle: isSource && share.entries > 0 && witness.before + witness.after + hits.hits === 0,
  };
}

export async function overlapJson(store: OverlapStore, workspaceId: string, { at, detections, lists, listsLeftOut }: WorkspaceOverlap) {
  const copies = await copiesOf(store, workspaceId);
  const hits = await hitsFound(store, workspaceId, at);
  return {
    at: isoTime(at),
    detections: { days: OVERLAP_DAYS, count: detections.count, first: isoTime(detections.first) },
    lists: lists.map((list) => listJson(list, copies.get(list.id) ?? [], hits.of(list.id))),
    dropped: hits.total,
    lists_left_out: listsLeftOut,
  };
}

/** undefined if it is deleted. */
export async function listOverlapJson(
  store: OverlapStore,
  counter: OverlapCounter,
  workspaceId: string,
  list: Pick<AccessList, 'id' | 'name'>,
) {
  const isHere = ({ id }: { readonly id: string }) => id === list.id;
  const first = await counter.lists(workspaceId);
  const found = first.lists.some(isHere) ? first : await counter.lists(workspaceId, list.id);
  const { at, detections: detected, dropped, lists } = await overlapJson(store, workspaceId, found);
  const own = lists.find(isHere);
  if (own === undefined) return undefined;
  const detail = await counter.detail(workspaceId, list);
  const to = dayOf(found.at);
  const days = await store.feedDays(workspaceId, list.id, { from: to - OVERLAP_DAYS + 1, to });
  return {
    ...{ at, detected, dropped, ...own },
    days: days.map(dayJson).map(({ day, added, expired, removed, undone, hits }) => ({ day, added, expired, removed, undone, hits })),
    never_block: detail.neverBlock,
    protected: detail.protected,
    feeds: detail.feeds.map(({ kind, name, action, before, after, limit }) => ({
      ...{ kind, name, action, entries: before, entries_without: after, costs: before - after, entry_limit: limit },
    })),
    left_out: detail.leftOut,
  };
}

export type OverlapJson = Awaited<ReturnType<typeof overlapJson>>;
export type ListOverlapJson = NonNullable<Awaited<ReturnType<typeof listOverlapJson>>>;
