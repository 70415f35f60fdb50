/** What each list of a workspace is good for (SPEC D30): counted from its rules and their history, never stored. */
import type { BlockGuard } from '../../account/guard-rails.ts';
import type { AccessList } from '../../account/list.ts';
import type { Workspace } from '../../account/workspace.ts';
import { type Clock, DAY, instantOf, secondOf } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import type { GeoDatabase } from '../../ports/geo.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Target } from '../../rule.ts';
import { ActiveRules } from '../held/active-rules.ts';
import { actionOfTag, type RuleTable, type RuleTables } from '../held/rule-table.ts';
import { RuleColumns, type SharedRules } from '../held/snapshot.ts';
import { type TrialFeed, type TrialOptions, tryRules } from '../trial/trial.ts';
import { networkAt, TriedRules, targetKey } from '../trial/tried-rules.ts';
import { Detections, type Witness } from './detections.ts';
import { type Listed, listed, type Share } from './listed.ts';
import { overlapsOf } from './overlaps.ts';

/** How far back detections are looked at, and since when an entry is new, ms. */
export const DETECTED_SINCE = 30 * DAY;
const NEW_SINCE = DAY;

/** Rules, with what was lost of them, that are looked at for one answer: they are held in memory, 30 bytes each. */
const MOST_RULES = 8_000_000;

export interface WorthOptions extends Omit<TrialOptions, 'store' | 'limit' | 'onStep'> {
  readonly store: TrialOptions['store'] & Pick<StoreReads, 'listHistory'>;
  readonly geo: GeoDatabase;
  readonly guard: BlockGuard;
  readonly clock: Clock;
}

/** One list beside all others of its workspace. */
export interface ListWorth extends Share {
  readonly id: string;
  readonly name: string;
  readonly isSource: boolean;
  /** Entries of the last 24 hours, and what has gone in them. */
  readonly added: number;
  readonly gone: number;
  readonly unique: Share;
  /** Lists that have most of it. */
  readonly overlaps: readonly (Share & { readonly name: string })[];
  readonly detections: Witness;
}

/** What only one list is asked for. */
export interface WorthDetail {
  readonly neverBlock: { readonly count: number; readonly first: readonly { readonly list: string; readonly value: string }[] };
  /** Protected networks that it would hit, as they are named to people. */
  readonly protected: readonly string[];
  /** What each feed that has it has with it (`before`), and would have without it (`after`). */
  readonly feeds: readonly TrialFeed[];
  /** Lists and feeds that there was no time for. */
  readonly leftOut: number;
}

export interface WorkspaceWorth {
  /** ms */
  readonly at: number;
  /** The workspace's own detections that were looked at, and the first of them (ms). */
  readonly detections: { readonly count: number; readonly first: number | null };
  /** Those with most entries, and the one that was asked for. */
  readonly lists: readonly ListWorth[];
  /** Lists that are not told. All are compared. */
  readonly listsLeftOut: number;
  /** Of the list that was asked for; undefined where none was. */
  readonly detail: WorthDetail | undefined;
}

/** Tells what the lists of a workspace are worth, elsewhere than on the thread that answers. Rejects with LIMITED where too many ask. */
export type WorthCounter = (workspaceId: string, listId: string | null) => Promise<WorkspaceWorth>;

/** Lists that are told, and overlaps of each. */
const MOST_LISTS = 200;
const MOST_OVERLAPS = 50;

/** How long the feeds of one list may take, ms. */
const DETAIL = 20_000;

interface Read {
  readonly list: AccessList;
  readonly stored: SharedRules;
  readonly lost: SharedRules;
  readonly active: ActiveRules;
  readonly listed: Listed;
}

/** Tells of all lists, and of the one with the id `listId` (null: none) more. Rejects with REFUSED where there are too many rules, and when the store does not answer. */
export async function worthOf(workspace: Workspace, listId: string | null, options: WorthOptions): Promise<WorkspaceWorth> {
  const { store, geo, guard, clock } = options;
  const now = instantOf(clock);
  const at = now.wall;
  const pause = () => new Promise<void>((resolve) => void clock.after(0, resolve));
  const lists = (await store.directory(workspace.id))?.lists ?? [];
  const read: Read[] = [];
  let rules = 0;
  for (const list of lists) {
    const [stored, lost] = [new RuleColumns(), new RuleColumns()];
    await store.listHistory(workspace.id, list.id, { stored, lost });
    const tables = { stored: stored.rules(secondOf(at)), lost: lost.rules(secondOf(at)) };
    rules += rowsOf(tables.stored) + rowsOf(tables.lost);
    if (rules > MOST_RULES)
      throw new WeirError('REFUSED', `the lists have more than ${MOST_RULES} rules, with those that they lost in seven days`);
    const active = new ActiveRules(tables.stored, secondOf(at), geo, 'both');
    read.push({ list, ...tables, active, listed: listed(active, 'block', geo) });
    await pause();
  }
  const detections = new Detections();
  for (const [place, { list, stored }] of read.entries()) if (list.sourceId === null) detections.add(stored, place, at - DETECTED_SINCE);
  const standings = await overlapsOf(
    read.map((each) => each.listed),
    pause,
  );
  const told: ListWorth[] = [];
  for (const [place, { list, stored, lost, active }] of read.entries()) {
    const { overlaps, ...standing } = standings[place];
    told.push({
      ...{ id: list.id, name: list.name, isSource: list.sourceId !== null, ...standing },
      ...changesOf(active, lost, at),
      overlaps: overlaps
        .flatMap((share, other) => (share === null || share.entries === 0 ? [] : [{ name: lists[other].name, ...share }]))
        .sort((a, b) => b.entries - a.entries || b.v4 - a.v4 || b.v6 - a.v6)
        .slice(0, MOST_OVERLAPS),
      detections: detections.seenBy([stored, lost], place, geo),
    });
    await pause();
  }
  const wanted = read.find(({ list }) => list.id === listId);
  const most = new Set(told.toSorted((a, b) => b.entries - a.entries).slice(0, MOST_LISTS));
  const shown = told.filter((list) => list.id === listId || most.has(list));
  return {
    at,
    detections: { count: detections.count, first: detections.first },
    lists: shown,
    listsLeftOut: told.length - shown.length,
    detail: wanted && (await detailOf(workspace, wanted, { ...options, limit: DETAIL, onStep: () => {} }, guard)),
  };
}

const rowsOf = ({ v4, v6, geo }: SharedRules) => v4.length + v6.length + geo.length;

async function detailOf(workspace: Workspace, { list, active }: Read, options: TrialOptions, guard: BlockGuard): Promise<WorthDetail> {
  const rules = new TriedRules('block', options.geo);
  eachBlocked(active.tables, (table, row, until) => {
    if (until > active.asOf) rules.take(targetAt(active.tables, table, row));
  });
  const trial = await tryRules({ workspace, rules, listId: list.id, name: list.name, isLeaving: true }, options);
  const { neverBlock, feeds, leftOut } = trial;
  return { neverBlock, protected: guard.within(rules.listed.addresses), feeds, leftOut };
}

/** Entries that came in the last 24 hours, and those that went: their target is not there any more. */
function changesOf({ tables, asOf }: ActiveRules, lost: RuleTables, at: number): { readonly added: number; readonly gone: number } {
  const from = secondOf(at - NEW_SINCE);
  const gone = new Set<number | string>();
  for (const each of [tables, lost])
    eachBlocked(each, (table, row, until) => {
      if (until > from && until <= asOf) gone.add(targetKey(targetAt(each, table, row)));
    });
  let added = 0;
  eachBlocked(tables, (table, row, until) => {
    if (until <= asOf) return;
    if (table.ids[row] >= at - NEW_SINCE) added += 1;
    if (gone.size > 0) gone.delete(targetKey(targetAt(tables, table, row)));
  });
  return { added, gone: gone.size };
}

/** Each row of a history that blocks or has blocked, and until when, whole seconds (Infinity: without end). */
function eachBlocked({ v4, v6, geo }: RuleTables, take: (table: RuleTable, row: number, until: number) => void): void {
  for (const table of [v4, v6, geo])
    for (let row = 0; row < table.length; row++)
      if (actionOfTag(table.tags[row]) === 'block') take(table, row, table.expires[row] || Number.POSITIVE_INFINITY);
}

const targetAt = ({ geo, geoTargets }: RuleTables, table: RuleTable, row: number): Target =>
  table === geo ? geoTargets[row] : { kind: 'ip', network: networkAt(table, row) };
