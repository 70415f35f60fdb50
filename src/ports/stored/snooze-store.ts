import type { Author } from '../../account/caller.ts';
import type { Snooze, SnoozeOf } from '../../account/snooze.ts';

export interface SnoozeReads {
  snoozes(workspaceId: string, now: number): Promise<Snooze[]>;
}

export interface SnoozeWrites {
  /** Replaces one of the same alert, deletes ended ones. REFUSED: `most` (default MOST_SNOOZES) others are active. */
  snooze(workspaceId: string, of: SnoozeOf & { readonly id: string }, by: Author, most?: number): Promise<Snooze>;
  /** Rejects with NOT_FOUND. */
  endSnooze(workspaceId: string, id: string, by: Author): Promise<void>;
}
