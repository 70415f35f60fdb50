/** The sources of all workspaces as the process that refreshes them knows them. */

import type { SourceState, Undone } from '../../account/source.ts';
import type { SourceRun } from '../../account/source-run.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { SourceReads, SourceUpdate, SourceWithSecret } from '../../ports/stored/source-store.ts';

export interface Known {
  record: SourceWithSecret;
  /** How it is now: what is in the store may be a minute older. */
  state: SourceState;
  /** Something is done with it. */
  isBusy: boolean;
  /** Not before this instant of the monotonic clock, ms: what failed was not its own fault. */
  heldOffUntil: number;
  /** What is to be written of it. */
  unwritten: SourceUpdate | undefined;
}

export type KnownSources = Map<string, Known>;

/** Reads all of them. What is known of one that was not set since is newer than what the store has. */
export async function readSources(store: Pick<SourceReads, 'allSources'>, known: KnownSources): Promise<void> {
  const there = new Set<string>();
  for await (const record of everyItem((page) => store.allSources(page))) {
    const { id, revision, createdAt } = record.source;
    there.add(id);
    const before = known.get(id);
    // One that was deleted and brought back is another one.
    if (before?.record.source.revision === revision && before.record.source.createdAt === createdAt) {
      before.record = record;
      noteUndone(before, record.state.undone);
    } else known.set(id, { record, state: record.state, isBusy: false, heldOffUntil: 0, unwritten: undefined });
  }
  for (const id of known.keys()) if (!there.has(id)) known.delete(id);
}

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
