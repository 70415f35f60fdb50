/** What lists are worth as JSON has it: what was counted, with what is known of them besides (SPEC D30). */
import type { AccessList } from '../account/list.ts';
import { DAY, dayOf, isoTime } from '../clock.ts';
import type { OverlapDetail } from '../feed/whatif/overlap/detail.ts';
import type { Share } from '../feed/whatif/overlap/listed.ts';
import { DETECTED_SINCE, type ListOverlap, type WorkspaceOverlap } from '../feed/whatif/overlap/overlap.ts';
import type { StoreReads } from '../ports/store.ts';
import { everyItem } from '../ports/stored/paginate.ts';
import { dayJson } from './history.ts';
import { type HitsJson, hitsFound } from './hits.ts';

/** Days that are looked back at. */
export const WORTH_DAYS = DETECTED_SINCE / DAY;

const shareJson = ({ entries, v4, v6 }: Share) => ({ entries, addresses_v4: v4, addresses_v6: v6 });

/** Counts what lists are worth. What it rejects with is for who asks. */
export interface OverlapCounter {
  /** Of all lists of a workspace; `shown`: the UUID of one that is told in any case. */
  lists(workspaceId: string, shown?: string): Promise<WorkspaceOverlap>;
  /** What one list costs and hits besides. */
  detail(workspaceId: string, list: Pick<AccessList, 'id' | 'name'>): Promise<OverlapDetail>;
}

type OverlapStore = Pick<StoreReads, 'sourcePage' | 'feedDays' | 'listHits'>;

/** What the sources of a workspace say that they copy, by the list. */
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

/** All lists of a workspace. */
export async function overlapJson(store: OverlapStore, workspaceId: string, { at, detections, lists, listsLeftOut }: WorkspaceOverlap) {
  const copies = await copiesOf(store, workspaceId);
  const hits = await hitsFound(store, workspaceId, at);
  return {
    at: isoTime(at),
    detections: { days: WORTH_DAYS, count: detections.count, first: isoTime(detections.first) },
    lists: lists.map((list) => listJson(list, copies.get(list.id) ?? [], hits.of(list.id))),
    dropped: hits.whole,
    lists_left_out: listsLeftOut,
  };
}

/** One of them, with its days and what it costs; undefined where it is gone. */
export async function listOverlapJson(
  store: OverlapStore,
  worth: OverlapCounter,
  workspaceId: string,
  list: Pick<AccessList, 'id' | 'name'>,
) {
  const isHere = ({ id }: { readonly id: string }) => id === list.id;
  const first = await worth.lists(workspaceId);
  const found = first.lists.some(isHere) ? first : await worth.lists(workspaceId, list.id);
  const { at, detections: detected, dropped, lists } = await overlapJson(store, workspaceId, found);
  const told = lists.find(isHere);
  if (told === undefined) return undefined;
  const detail = await worth.detail(workspaceId, list);
  const to = dayOf(found.at);
  const days = await store.feedDays(workspaceId, list.id, { from: to - WORTH_DAYS + 1, to });
  return {
    ...{ at, detected, dropped, ...told },
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
