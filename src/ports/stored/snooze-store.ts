/** The store of what was put off (SPEC D18.72). Types only. */
import type { Author } from '../../account/caller.ts';
import type { Snooze, SnoozeOf } from '../../account/snooze.ts';

export interface SnoozeReads {
  /** What is put off in a workspace and has not ended at `now` (ms), the oldest first; MOST_SNOOZES at most. */
  snoozes(workspaceId: string, now: number): Promise<Snooze[]>;
}

export interface SnoozeWrites {
  /** Puts something off, in the place of an earlier snooze of it; ended ones go. Rejects with REFUSED where `most` (MOST_SNOOZES) others have not ended. */
  snooze(workspaceId: string, of: SnoozeOf & { readonly id: string }, by: Author, most?: number): Promise<Snooze>;
  /** Ends one. Rejects with NOT_FOUND where there is none with that id. */
  endSnooze(workspaceId: string, id: string, by: Author): Promise<void>;
}
