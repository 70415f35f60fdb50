/** SPEC D32.1. */
import { isoTime } from '../../clock.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { Step } from '../../ports/stored/rule-store.ts';
import { fieldFault } from '../operation.ts';
import { CHANGE_KINDS, type ChangeKind, type EntryJson, type Place } from './entry.ts';
import { knownSince, scopeOf } from './scope.ts';
import { changesPage } from './timeline.ts';

export interface ChangesAsked {
  /** ms */
  readonly since: number;
  readonly until: number | undefined;
  /** Name or UUID; at most one of the two. */
  readonly feed?: string | undefined;
  readonly list?: string | undefined;
  readonly kind?: ChangeKind | undefined;
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
  const { since, feed, list, kind, limit, after } = asked;
  if (feed !== undefined && list !== undefined) throw fieldFault('list', 'cannot be combined with feed');
  const begun = after === undefined ? undefined : placeOf(after);
  const until = begun?.until ?? asked.until ?? now + 1;
  if (since >= until) throw fieldFault('since', 'must be before until');
  const kinds = new Set(CHANGE_KINDS.filter((each) => (kind === undefined || each === kind) && (withAudit || !OF_AUDIT.has(each))));
  const scope = await scopeOf(store, workspaceId, { feed, list });
  const before = begun?.place ?? { at: until, key: '' };
  const { entries, next } = await changesPage(store, workspaceId, { since, until, before, limit, kinds, scope }, step);
  return {
    since: isoTime(since),
    until: isoTime(until),
    known_since: await knownSince(store, workspaceId, { now, since, quota, withAudit }),
    changes: entries.map(({ at, key, json }): EntryJson => ({ id: `${at} ${key}`, ...json })),
    next: next && JSON.stringify([until, next.at, next.key]),
  };
}

export type ChangesJson = Awaited<ReturnType<typeof changesJson>>;

function placeOf(text: string): { readonly until: number; readonly place: Place } {
  try {
    const [until, at, key] = JSON.parse(text) as unknown[];
    if (Number.isSafeInteger(until) && Number.isSafeInteger(at) && typeof key === 'string') {
      return { until: until as number, place: { at: at as number, key } };
    }
  } catch {}
  throw fieldFault('after', 'must be the value of next in a page');
}
