/** The sources of all workspaces as the process that refreshes them knows them. */

import type { SourceState, Undone } from '../../account/source.ts';
import type { SourceRun } from '../../account/source-run.ts';
import type { Clocks } from '../../clock.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { SourceReads, SourceUpdate, SourceWithSecret } from '../../ports/stored/source-store.ts';
import type { Wait } from './politeness.ts';

export interface Known {
  record: SourceWithSecret;
  /** How it is now: what is in the store may be a minute older. */
  state: SourceState;
  /** Something is done with it. */
  isBusy: boolean;
  /** Not before this instant of the monotonic clock, ms: what failed was not its own fault. */
  heldOffUntil: number;
  /** The known end of a wait for its host, of the same clock: the source is not considered before. */
  politeUntil: number;
  /** The further place that postponed its last download, with the key of that request. */
  via: { readonly url: URL; readonly key: string } | undefined;
  /** The instant of its last download, whatever its address was then, ms of the monotonic clock. */
  askedAt: number;
  /** What is to be written of it. */
  unwritten: SourceUpdate | undefined;
}

export type KnownSources = Map<string, Known>;

/** Reads all of them. What is known of one that was not set since is newer than what the store has. Returns the new ones and those that were set. */
export async function readSources(store: Pick<SourceReads, 'allSources'>, known: KnownSources, clocks: Clocks): Promise<Known[]> {
  const there = new Set<string>();
  const read: Known[] = [];
  for await (const record of everyItem((page) => store.allSources(page))) {
    const { id, revision, createdAt } = record.source;
    there.add(id);
    const before = known.get(id);
    // One that was deleted and brought back is another one.
    if (before?.record.source.revision === revision && before.record.source.createdAt === createdAt) {
      before.record = record;
      noteUndone(before, record.state.undone);
      continue;
    }
    const { state } = record;
    const ago = state.askedAt === null ? Number.POSITIVE_INFINITY : clocks.now() - state.askedAt;
    const askedAt = before?.askedAt ?? clocks.monotonic() - Math.max(0, ago);
    const one = { record, state, isBusy: false, heldOffUntil: 0, politeUntil: 0, via: undefined, askedAt, unwritten: undefined };
    known.set(id, one);
    read.push(one);
  }
  for (const id of known.keys()) if (!there.has(id)) known.delete(id);
  return read;
}

/** Notes what a source waits for. Returns whether to write it soon: it has changed, and somebody asked for a refresh, or its end is known. */
export function noteWait(one: Known, { for: what, until }: Wait, { monotonic, now }: Clocks): boolean {
  const at = until === Number.POSITIVE_INFINITY ? null : Math.round(now() + until - monotonic());
  const { waits } = one.state;
  if (waits?.for === what && Math.abs((waits.until ?? 0) - (at ?? 0)) < SAME) return false;
  moveTo(one, { ...one.state, waits: { for: what, until: at } });
  return one.record.asked !== null || at !== null;
}

/** The tolerance of instants that are converted from another clock, ms. */
const SAME = 2000;

/** Takes the next state of one over; it is to be written. */
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

/** Takes over what the store says of undos. The content is fetched as a whole again then: the list may be just that. */
export function noteUndone(one: Known, found: Undone | null): void {
  const { undone, equalSeq } = one.state;
  const stands = found !== null && found.seq > equalSeq ? found : null;
  if (stands?.batch !== undone?.batch) moveTo(one, { ...one.state, undone: stands, seen: null, etag: null, lastModified: null });
}
