/** Replacements of a list's content, stored because they take several steps (SPEC D11.4): a crash leaves the old or the new content. */

/**
 * `open`: receives content. `planning`: is compared with the list. `planned`: waits for confirmation. `held`: likewise, of a source.
 * `running`: its changes are published, even if others end. `done`, `failed`: finished.
 */
export type ReplacementState = 'open' | 'planning' | 'planned' | 'held' | 'running' | 'done' | 'failed';

export type ReplacementSlot = 'parts' | 'import' | 'source';

/** `part`: content. `step`: messages for the stream. */
export type ReplacementPiece = 'part' | 'step';

export interface Replacement {
  readonly id: string;
  readonly workspaceId: string;
  readonly listId: string;
  readonly state: ReplacementState;
  /** ms */
  readonly createdAt: number;
  readonly touchedAt: number;
  /** Of the process that works on it, ms; 0: none. */
  readonly lockedUntil: number;
  /** Published steps. */
  readonly published: number;
  /** Subject and result, as JSON. */
  readonly head: string;
}

/** undefined: unchanged. */
export interface ReplacementMove {
  readonly from: ReplacementState;
  readonly to: ReplacementState;
  readonly head?: string | undefined;
  readonly published?: number | undefined;
  /** Others are refused. */
  readonly expected?: number | undefined;
  /** Else another process has the lock: refused. */
  readonly lockedBefore?: number | undefined;
  readonly now: number;
  readonly lockedUntil: number;
}

export interface ReplacementReads {
  replacement(workspaceId: string, id: string): Promise<Replacement | undefined>;
  replacementPiece(id: string, piece: ReplacementPiece, n: number): Promise<Uint8Array | undefined>;
  /** Planning or running without a process at `now` (ms), oldest first. */
  abandonedReplacements(now: number, limit: number): Promise<Replacement[]>;
}

export interface ReplacementWrites {
  /**
   * Stores a new one. An `open` or `planned` one of the same list fails, and so does a content in parts in `planning` when an import or a
   * source begins to plan. A list has one `held`, the newest. Rejects with LIMITED if `most` slots of the workspace (0: no limit) are used;
   * idle ones (`open` or `planned`, untouched since `idleBefore`, ms) fail first. Rejects with REFUSED if it begins to plan while another
   * one of the list plans or runs.
   */
  openReplacement(
    one: Omit<Replacement, 'published' | 'touchedAt'> & { readonly slot: ReplacementSlot },
    limits: { readonly most: number; readonly idleBefore: number },
  ): Promise<void>;
  /** Of an `open` or `planning` one, once per number; else false. */
  storeReplacementPiece(id: string, piece: ReplacementPiece, n: number, body: Uint8Array, now: number): Promise<boolean>;
  /** False: another state, or another process has the lock. Rejects with REFUSED like `openReplacement`. */
  moveReplacement(id: string, move: ReplacementMove): Promise<boolean>;
}
