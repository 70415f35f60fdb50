/** Making a list equal to a content, as it is kept while that takes several steps (SPEC D11.4): a crash leaves the old content or the new. Types only. */

/**
 * `open`: its content comes in. `planning`: it is compared with the list. `planned`: its changes are known, and somebody has to say that they
 * are meant. `held`: likewise, with its content, of a source. `running`: its changes go onto the stream, whatever ends meanwhile. `done`,
 * `failed`: nothing of it is left to do.
 */
export type ReplacementState = 'open' | 'planning' | 'planned' | 'held' | 'running' | 'done' | 'failed';

/** The class of slots that a replacement takes: of contents in parts, of imports, or of sources. */
export type ReplacementSlot = 'parts' | 'import' | 'source';

/** What is kept of one: `part` is a piece of its content, `step` messages for the stream. */
export type ReplacementPiece = 'part' | 'step';

export interface Replacement {
  readonly id: string;
  readonly workspaceId: string;
  readonly listId: string;
  readonly state: ReplacementState;
  /** ms since 1970 */
  readonly createdAt: number;
  readonly touchedAt: number;
  /** Until when a process works on it, ms since 1970; 0: none does. */
  readonly heldUntil: number;
  /** Its steps that are on the stream. */
  readonly published: number;
  /** What it is about and what it does, as JSON. */
  readonly head: string;
}

/** Moves one on; what is undefined stays. */
export interface ReplacementMove {
  readonly from: ReplacementState;
  readonly to: ReplacementState;
  readonly head?: string | undefined;
  readonly published?: number | undefined;
  /** How far it was published by whoever moves it: another number is refused. */
  readonly expected?: number | undefined;
  /** Until when it was held by whoever moves it: where that is another instant, somebody else has taken it, and the move is refused. */
  readonly onHoldBefore?: number | undefined;
  readonly now: number;
  readonly heldUntil: number;
}

export interface ReplacementReads {
  /** One of a workspace; undefined for an unknown one. */
  replacement(workspaceId: string, id: string): Promise<Replacement | undefined>;
  replacementPiece(id: string, piece: ReplacementPiece, n: number): Promise<Uint8Array | undefined>;
  /** Those that have begun to plan or run and that no process works on at `now` (ms), oldest first, at most `limit`. */
  abandonedReplacements(now: number, limit: number): Promise<Replacement[]>;
}

export interface ReplacementWrites {
  /**
   * Stores a new one. One of the same list that is `open` or `planned` fails, and so does a content in parts that is `planning` when an import or
   * a source begins to plan. A list has one that is `held`, the newest. Rejects with LIMITED when `most` slots of the workspace (0: no limit) are
   * taken; before that, idle ones fail (`open` or `planned`, and not touched since `idleBefore`, ms). Rejects with REFUSED when it begins to plan
   * while another one of the list plans or runs.
   */
  openReplacement(
    one: Omit<Replacement, 'published' | 'touchedAt'> & { readonly slot: ReplacementSlot },
    limits: { readonly most: number; readonly idleBefore: number },
  ): Promise<void>;
  /** Keeps a piece of one that is `open` or `planning`, once under each number; false when it is not. */
  keepReplacementPiece(id: string, piece: ReplacementPiece, n: number, body: Uint8Array, now: number): Promise<boolean>;
  /** Moves one on from a state; false when it is in another, or another process has moved it. Rejects with REFUSED as `openReplacement` does. */
  moveReplacement(id: string, move: ReplacementMove): Promise<boolean>;
}
