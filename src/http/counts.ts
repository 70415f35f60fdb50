/** SPEC D12.3. */
import { newHistogram, observe } from '../histogram.ts';
import type { EntryKind, EntryOutcome, HttpCounts, RequestLimit } from '../ports/http-counts.ts';
import { KINDS } from '../rule.ts';
import type { Outcome } from '../signal/accept.ts';
import { GROUP_NAMES } from './groups.ts';

/** Bounds of request times, s. A 304 from memory is below the first; the body of a slow client may be above the last. */
const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const MOST_LISTS = 1000;
const OTHER = 'other';

const noEntries = (): Record<EntryOutcome, number> => ({ accepted: 0, failed: 0, refused: 0, not_published: 0, dry_run: 0 });

export const newHttpCounts = (): HttpCounts => ({
  requests: new Map(),
  entries: new Map([...KINDS, 'unknown' as const].map((kind) => [kind, noEntries()])),
  listEntries: new Map(),
  listHits: new Map(),
  limited: {
    ...Object.fromEntries(GROUP_NAMES.map((group): [RequestLimit, number] => [`${group}_requests`, 0])),
    entries: 0,
    body_bytes: 0,
    failed_authentications: 0,
    key_look_ups: 0,
    connections: 0,
    connections_per_address: 0,
  },
  failedAuthentications: 0,
  bodies: 0,
  bodyBytes: 0,
  connections: 0,
});

export function countRequest({ requests }: Pick<HttpCounts, 'requests'>, route: string, status: number, seconds: number): void {
  let statuses = requests.get(route);
  if (statuses === undefined) {
    statuses = new Map();
    requests.set(route, statuses);
  }
  let times = statuses.get(status);
  if (times === undefined) {
    times = newHistogram(SECONDS);
    statuses.set(status, times);
  }
  observe(times, seconds);
}

export function countBatch(counts: Pick<HttpCounts, 'entries' | 'listEntries' | 'limited'>, outcome: Outcome): void {
  const { became, version, listId, entries, accepted, failed } = outcome;
  const add = (kind: EntryKind, as: EntryOutcome, count: number) => {
    counts.entries.get(kind)![as] += count;
  };
  if (became === 'limited') counts.limited.entries += 1;
  else if (became === 'refused') add(version === 1 ? 'access_rule' : 'unknown', became, entries);
  else {
    for (const [kind, count] of accepted) add(kind, became, count);
    for (const [kind, count] of failed) add(kind, became === 'dry_run' ? became : 'failed', count);
  }
  if (became === 'accepted' && listId !== undefined) countOfList(counts.listEntries, listId, accepted.get('access_rule') ?? 0);
}

export function countOfList(counts: Map<string, number>, listId: string, count: number): void {
  if (count === 0) return;
  const counted = counts.has(listId) || counts.size < MOST_LISTS ? listId : OTHER;
  counts.set(counted, (counts.get(counted) ?? 0) + count);
}
