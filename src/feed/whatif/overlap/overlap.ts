/** The value of each list in a workspace (SPEC D30): calculated from rules and their history, never stored. */
import type { AddressSet } from '@weir/network/address-set.ts';
import { type Clock, DAY } from '../../../clock.ts';
import { WeirError } from '../../../errors.ts';
import type { GeoDatabase } from '../../../ports/geo.ts';
import type { StoreReads } from '../../../ports/store.ts';
import { hostPrefixes, Widening } from '../../widening.ts';
import { Detections, type Witness } from './detections.ts';
import { stays } from './intervals.ts';
import { ListEntries } from './list-overlap.ts';
import { ListReading, NeverBlock } from './list-reading.ts';
import type { Share } from './listed.ts';

const MEBIBYTE = 2 ** 20;

/** Age limit of detections, ms. */
export const DETECTED_SINCE = 30 * DAY;

/** Memory limit of a comparison, MiB. */
const MOST_MEMORY = 256;

export interface OverlapOptions {
  readonly store: Pick<StoreReads, 'directory' | 'listHistory'>;
  readonly geo: GeoDatabase;
  readonly clock: Pick<Clock, 'now'>;
  /** Protected addresses. */
  readonly guarded?: AddressSet | undefined;
}

export interface ListOverlap extends Share {
  readonly id: string;
  readonly name: string;
  readonly isSource: boolean;
  readonly added: number;
  readonly gone: number;
  readonly unique: Share;
  readonly overlaps: readonly (Share & { readonly name: string })[];
  readonly detections: Witness;
  readonly neverBlock: number;
}

export interface WorkspaceOverlap {
  /** ms */
  readonly at: number;
  readonly detections: { readonly count: number; readonly first: number | null };
  readonly lists: readonly ListOverlap[];
  readonly listsLeftOut: number;
}

/** Maximum lists returned, and overlaps of each. */
const MOST_LISTS = 200;
const MOST_OVERLAPS = 50;

/**
 * Compares all lists of a workspace. `selected`: id of a list always returned. Rejects with TOO_LARGE above the memory limit, and if the store
 * does not answer.
 */
export async function overlapOf(
  workspaceId: string,
  selected: string | undefined,
  { store, geo, clock, guarded }: OverlapOptions,
): Promise<WorkspaceOverlap> {
  const at = clock.now();
  const lists = (await store.directory(workspaceId))?.lists ?? [];
  const detections = new Detections();
  const entries = new ListEntries(lists.length);
  const require = () => {
    if (entries.bytes + detections.bytes > MOST_MEMORY * MEBIBYTE)
      throw new WeirError('TOO_LARGE', `the lists of the workspace have more networks than ${MOST_MEMORY} MiB hold: they are not compared`);
  };
  for (const [place, { id, sourceId }] of lists.entries()) {
    if (sourceId !== null) continue;
    const stored = stays({ block: detections.adding(place, at - DETECTED_SINCE) });
    await store.listHistory(workspaceId, id, { stored, lost: stays({}) });
    require();
  }
  const seen = detections.seeing(geo);
  const neverBlock = new NeverBlock();
  const read: Pick<ListOverlap, 'added' | 'gone' | 'detections'>[] = [];
  for (const [place, { id, ...list }] of lists.entries()) {
    const hosts = hostPrefixes(list);
    const reading = new ListReading(entries, place, seen, at);
    await store.listHistory(workspaceId, id, reading.sinks(neverBlock, hosts && new Widening(hosts, guarded)));
    read.push({ ...reading.changes(geo), detections: detections.witness(place) });
    require();
  }
  neverBlock.addTo(entries, lists.length, geo);
  const standings = entries.standings();
  const compared = lists.map(({ id, name, sourceId }, place): ListOverlap => {
    const { overlaps, ...standing } = standings[place]!;
    return {
      ...{ id, name, isSource: sourceId !== null, ...standing, ...read[place]! },
      overlaps: [...overlaps]
        .flatMap(([other, share]) => (other === lists.length ? [] : [{ name: lists[other]!.name, ...share }]))
        .sort((a, b) => b.entries - a.entries || b.v4 - a.v4 || b.v6 - a.v6)
        .slice(0, MOST_OVERLAPS),
      neverBlock: standings[lists.length]!.overlaps.get(place)?.entries ?? 0,
    };
  });
  const most = new Set(compared.toSorted((a, b) => b.entries - a.entries).slice(0, MOST_LISTS));
  const those = compared.filter((list) => list.id === selected || most.has(list));
  return {
    at,
    detections: { count: detections.count, first: detections.first },
    lists: those,
    listsLeftOut: compared.length - those.length,
  };
}
