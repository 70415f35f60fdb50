/** SPEC D32.1. One timeline of rule changes, audit rows and refreshes. */

import { isoTime } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { NamedRun } from '../../ports/stored/changes.ts';
import type { Step } from '../../ports/stored/rule-store.ts';
import { chunkedSort } from '../../schedule/chunked-sort.ts';
import { type AuditNames, auditNames } from '../audit.ts';
import { fieldFault } from '../operation.ts';
import {
  auditEntry,
  auditKey,
  CHANGE_KINDS,
  type ChangeKind,
  type Entry,
  type EntryJson,
  isRenewal,
  kindOfEvent,
  newer,
  type Place,
  ruleEntry,
  rulePlace,
  runEntry,
} from './entry.ts';
import { knownSince, type Scope, scopeOf } from './scope.ts';

interface ChangesAsked {
  /** ms */
  readonly since: number;
  readonly until: number | undefined;
  /** Name or UUID; at most one of the two. */
  readonly feed?: string | undefined;
  readonly list?: string | undefined;
  readonly kind?: ChangeKind | undefined;
  /** Name or the provider's id. */
  readonly person?: string | undefined;
  /** Id. */
  readonly key?: string | undefined;
  readonly limit: number;
  readonly after?: string | undefined;
}

interface Given {
  readonly now: number;
  /** Whether the caller may read the audit log. */
  readonly withAudit: boolean;
  /** Quota, bytes; 0 = no limit. */
  readonly quota: number;
  readonly step: Step;
}

const OF_AUDIT: ReadonlySet<ChangeKind> = new Set(['settings', 'lists', 'keys']);

/** Rejects with USAGE and NOT_FOUND. */
export async function changesJson(store: StoreReads, workspaceId: string, asked: ChangesAsked, { now, withAudit, quota, step }: Given) {
  const { since, feed, list, kind, person, key, limit, after } = asked;
  if (feed !== undefined && list !== undefined) throw fieldFault('list', 'cannot be combined with feed');
  const begun = after === undefined ? undefined : readPlace(after);
  const until = begun?.until ?? asked.until ?? now + 1;
  if (since >= until) throw fieldFault('since', 'must be before until');
  const kinds = new Set(CHANGE_KINDS.filter((each) => (kind === undefined || each === kind) && (withAudit || !OF_AUDIT.has(each))));
  const scope = await scopeOf(store, workspaceId, { feed, list });
  const before = begun?.place ?? { at: until, key: '' };
  const { entries, next } = await changesPage(store, workspaceId, { since, until, before, limit, kinds, scope, person, key }, step);
  return {
    since: isoTime(since),
    until: isoTime(until),
    known_since: await knownSince(store, workspaceId, { now, since, quota, withAudit }),
    changes: entries.map(({ at, key, json }): EntryJson => ({ id: `${at} ${key}`, ...json })),
    next: next && JSON.stringify([until, next.at, next.key]),
  };
}

export type ChangesJson = Awaited<ReturnType<typeof changesJson>>;

function readPlace(text: string): { readonly until: number; readonly place: Place } {
  try {
    const [until, at, key] = JSON.parse(text) as unknown[];
    if (Number.isSafeInteger(until) && Number.isSafeInteger(at) && typeof key === 'string') {
      return { until: until as number, place: { at: at as number, key } };
    }
  } catch {}
  throw fieldFault('after', 'must be the value of next in a page');
}

type ChangesStore = Pick<StoreReads, 'ruleChanges' | 'auditBetween' | 'allRuns' | 'names' | 'workspace'>;

interface Asked extends Pick<ChangesAsked, 'person' | 'key'> {
  /** ms; `until` is exclusive. */
  readonly since: number;
  readonly until: number;
  /** Only entries older than this. */
  readonly before: Place;
  readonly limit: number;
  readonly kinds: ReadonlySet<ChangeKind>;
  /** null: the whole workspace. */
  readonly scope: Scope | null;
}

/** Newest first; `next`: older entries may follow. */
interface ChangesPage {
  readonly entries: readonly Entry[];
  readonly next: Place | null;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** Minutes per entry, by the length of the range (ms). */
const SPANS: readonly (readonly [upTo: number, minutes: number])[] = [
  [3 * HOUR, 10],
  [Number.POSITIVE_INFINITY, 60],
];
/** Reads per page, and audit rows per read. */
const READS = 48;
const ROWS = 200;

async function changesPage(store: ChangesStore, workspaceId: string, asked: Asked, step: Step): Promise<ChangesPage> {
  const names = await auditNames(store, workspaceId);
  const has = (...kinds: ChangeKind[]) => kinds.some((kind) => asked.kinds.has(kind));
  const slices = [
    ...(has('rules', 'sources') ? [await rulesBefore(store, workspaceId, asked, names, step)] : []),
    ...(has('settings', 'lists', 'keys') ? [await auditBefore(store, workspaceId, asked, names, step)] : []),
    ...(has('sources') ? [runsBefore(await store.allRuns(workspaceId), asked)] : []),
  ];
  // Older entries may be incomplete.
  const floor = slices
    .flatMap(({ reached }) => reached ?? [])
    .toSorted(newer)
    .at(-1);
  const entries = slices
    .flatMap((slice) => slice.entries)
    .filter((entry) => asked.kinds.has(entry.json.kind) && isBy(entry, asked) && (floor === undefined || newer(entry, floor) >= 0))
    .toSorted((a, b) => newer(b, a));
  const page = entries.slice(0, asked.limit);
  return { entries: page, next: entries.length > page.length ? placeOf(page.at(-1)!) : (floor ?? null) };
}

const isBy = ({ json }: Entry, { person, key }: Pick<ChangesAsked, 'person' | 'key'>): boolean =>
  (person === undefined || json.actor === person || json.person === person) && (key === undefined || json.key_id === key);

const placeOf = ({ at, key }: Place): Place => ({ at, key });

/** Complete down to `reached`; null: no more follow. */
interface Slice {
  readonly entries: Entry[];
  readonly reached: Place | null;
}

async function rulesBefore(
  store: ChangesStore,
  workspaceId: string,
  { since, until, before, limit, scope }: Asked,
  names: AuditNames,
  step: Step,
): Promise<Slice> {
  const span = SPANS.find(([upTo]) => until - since <= upTo)![1];
  const from = Math.floor(since / MINUTE);
  const spanOf = (minute: number) => Math.floor(minute / span) * span;
  const entries: Entry[] = [];
  let to = Math.min(Math.ceil(until / MINUTE), spanOf(Math.floor(before.at / MINUTE)) + span);
  for (let read = 0; read < READS; read += 1) {
    const found = await store.ruleChanges(workspaceId, { from, to, span }, step);
    if (found === undefined) return { entries, reached: null };
    const places = found.sums
      .filter((sum) => !isRenewal(sum) && (scope?.hasRules(sum) ?? true))
      .map((sum) => ({ ...rulePlace(sum), sum }))
      .filter((place) => newer(place, before) < 0);
    const sorted = await chunkedSort(
      places,
      (a, b) => newer(b, a),
      () => step(async () => undefined),
    );
    entries.push(...sorted.slice(0, limit - entries.length).map(({ sum }) => ruleEntry(sum, names)));
    to = found.from;
    if (entries.length >= limit) return { entries, reached: placeOf(entries.at(-1)!) };
  }
  return { entries, reached: { at: to * MINUTE, key: '' } };
}

async function auditBefore(
  store: ChangesStore,
  workspaceId: string,
  { since, before, limit, kinds, scope }: Asked,
  names: AuditNames,
  step: Step,
): Promise<Slice> {
  const entries: Entry[] = [];
  // Audit rows sort before other entries of the same instant.
  let place = {
    at: before.at,
    id: before.key.startsWith('a ') ? Number(before.key.slice(2)) : before.key > 'a' ? Number.MAX_SAFE_INTEGER : 0,
  };
  for (let read = 0; read < READS; read += 1) {
    const from: { at: number; id: number } = place;
    const rows = await step(() => store.auditBetween(workspaceId, { from: since, before: from }, ROWS));
    for (const row of rows) {
      const kind = kindOfEvent(row.event);
      if (kind !== undefined && kinds.has(kind) && (scope?.hasRow(row) ?? true)) entries.push(auditEntry(row, kind, names));
    }
    if (rows.length < ROWS) return { entries, reached: null };
    const { at, id } = rows.at(-1)!;
    place = { at, id };
    if (entries.length >= limit) break;
  }
  return { entries, reached: { at: place.at, key: auditKey(place.id) } };
}

function runsBefore(runs: readonly NamedRun[], { since, before, scope }: Asked): Slice {
  const entries = runs
    .filter(({ listId, run: { at, outcome } }) => at >= since && !SHOWN_AS_RULES.has(outcome) && (scope?.hasList(listId) ?? true))
    .map(runEntry)
    .filter((entry) => newer(entry, before) < 0);
  return { entries, reached: null };
}
const SHOWN_AS_RULES = new Set(['applied', 'unchanged']);
