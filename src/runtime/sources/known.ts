import type { SourceState, Undone } from '../../account/source.ts';
import type { SourceRun } from '../../account/source-run.ts';
import type { Clocks } from '../../clock.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { SourceReads, SourceUpdate, SourceWithSecret } from '../../ports/stored/source-store.ts';
import type { Wait } from './politeness.ts';

export interface Known {
  record: SourceWithSecret;
  /** May be a minute newer than the store's. */
  state: SourceState;
  isBusy: boolean;
  /** After an internal failure, monotonic ms. */
  delayedUntil: number;
  /** Of a host's wait, monotonic ms. */
  politeUntil: number;
  /** Postponed the last download; with the request's key. */
  via: { readonly url: URL; readonly key: string } | undefined;
  /** Last download of any URL, monotonic ms. */
  askedAt: number;
  /** Pending write. */
  unwritten: SourceUpdate | undefined;
}

export type KnownSources = Map<string, Known>;

/** Newer states of unchanged sources stay. Returns new and changed ones. */
export async function readSources(store: Pick<SourceReads, 'allSources'>, known: KnownSources, clocks: Clocks): Promise<Known[]> {
  const there = new Set<string>();
  const read: Known[] = [];
  for await (const record of everyItem((page) => store.allSources(page))) {
    const { id, revision, createdAt } = record.source;
    there.add(id);
    const before = known.get(id);
    // A restored source has another createdAt.
    if (before?.record.source.revision === revision && before.record.source.createdAt === createdAt) {
      before.record = record;
      noteUndone(before, record.state.undone);
      continue;
    }
    const { state } = record;
    const ago = state.askedAt === null ? Number.POSITIVE_INFINITY : clocks.now() - state.askedAt;
    const askedAt = before?.askedAt ?? clocks.monotonic() - Math.max(0, ago);
    const one = { record, state, isBusy: false, delayedUntil: 0, politeUntil: 0, via: undefined, askedAt, unwritten: undefined };
    known.set(id, one);
    read.push(one);
  }
  for (const id of known.keys()) if (!there.has(id)) known.delete(id);
  return read;
}

/** It changed, and somebody requested a refresh or its end is known. */
export function noteWait(one: Known, { for: what, until }: Wait, { monotonic, now }: Clocks): boolean {
  const at = until === Number.POSITIVE_INFINITY ? null : Math.round(now() + until - monotonic());
  const { waits } = one.state;
  if (waits?.for === what && Math.abs((waits.until ?? 0) - (at ?? 0)) < SAME) return false;
  moveTo(one, { ...one.state, waits: { for: what, until: at } });
  return one.record.asked !== null || at !== null;
}

/** Tolerance of converted clock values, ms. */
const SAME = 2000;

/** To be stored. */
export function moveTo(one: Known, state: SourceState, run?: SourceRun, answered?: number): void {
  const { id, revision } = one.record.source;
  one.state = state;
  const before = one.unwritten;
  one.unwritten = {
    id,
    revision,
    state,
    ...((run ?? before?.run) && { run: run ?? before!.run! }),
    ...((answered ?? before?.answered) !== undefined && { answered: answered ?? before!.answered! }),
  };
}

/** The list may equal the old content. */
export function noteUndone(one: Known, found: Undone | null): void {
  const { undone, equalSeq } = one.state;
  const stands = found !== null && found.seq > equalSeq ? found : null;
  if (stands?.batch !== undone?.batch) moveTo(one, { ...one.state, undone: stands, seen: null, etag: null, lastModified: null });
}
