/** What lists are worth as JSON has it: what was counted, with what is known of them besides (SPEC D30). */

import { DAY, dayOf, isoTime } from '../clock.ts';
import type { Share } from '../document/worth/listed.ts';
import { DETECTED_SINCE, type ListWorth, type WorkspaceWorth } from '../document/worth/worth.ts';
import type { StoreReads } from '../ports/store.ts';
import { everyItem } from '../ports/stored/every-item.ts';
import { dayJson } from './history.ts';
import { type HitsJson, hitsFound } from './hits.ts';

/** Days that are looked back at. */
export const WORTH_DAYS = DETECTED_SINCE / DAY;

const shareJson = ({ entries, v4, v6 }: Share) => ({ entries, addresses_v4: v4, addresses_v6: v6 });

type WorthStore = Pick<StoreReads, 'sourcePage' | 'feedDays' | 'listHits'>;

/** What the sources of a workspace say that they copy, by the list. */
async function copiesOf(store: WorthStore, workspaceId: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const copies = new Map<string, readonly string[]>();
  for await (const { source } of everyItem((page) => store.sourcePage(workspaceId, page))) copies.set(source.listId, source.copies);
  return copies;
}

function listJson(
  { id, name, isSource, unique, overlaps, detections, added, gone, ...share }: ListWorth,
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
    overlaps: overlaps.map(({ name: of, ...common }) => ({ name: of, ...shareJson(common) })),
    ...hits,
    idle: isSource && share.entries > 0 && witness.before + witness.after + hits.hits === 0,
  };
}

/** All lists of a workspace. */
export async function worthJson(store: WorthStore, workspaceId: string, { at, detections, lists, listsLeftOut }: WorkspaceWorth) {
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
export async function listWorthJson(store: WorthStore, workspaceId: string, listId: string, worth: WorkspaceWorth) {
  const { lists, ...all } = await worthJson(store, workspaceId, worth);
  const list = lists.find(({ id }) => id === listId);
  const { detail } = worth;
  if (list === undefined || detail === undefined) return undefined;
  const { at, detections: detected, dropped } = all;
  const to = dayOf(worth.at);
  const days = await store.feedDays(workspaceId, listId, { from: to - WORTH_DAYS + 1, to });
  return {
    ...{ at, detected, dropped, ...list },
    days: days.map(dayJson).map(({ day, added, expired, removed, undone, hits }) => ({ day, added, expired, removed, undone, hits })),
    never_block: detail.neverBlock,
    protected: detail.protected,
    feeds: detail.feeds.map(({ kind, name, action, before, after, limit }) => ({
      ...{ kind, name, action, entries: before, entries_without: after, costs: before - after, entry_limit: limit },
    })),
    left_out: detail.leftOut,
  };
}

export type WorthJson = Awaited<ReturnType<typeof worthJson>>;
export type ListWorthJson = NonNullable<Awaited<ReturnType<typeof listWorthJson>>>;
