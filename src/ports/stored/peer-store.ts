/** Peers (SPEC D62). */
export interface SeenPeer {
  readonly keyId: string;
  readonly address: string;
  readonly isPerson: boolean;
  /** ms. */
  readonly at: number;
}

/** By workspace. */
export interface PeerNotes {
  /** All since the last call. */
  take(): Map<string, SeenPeer[]>;
  /** Those of workspaces without an earlier `takeFirst` since the last `take`. */
  takeFirst(): Map<string, SeenPeer[]>;
  onFirst: () => void;
  /** Their write failed: notes them again. */
  forget(workspaceId: string): void;
}

export interface PeerReads {
  /** Peers ended before `now` (ms): unused, or of an expired key; up to 50. */
  workspacesWithEndedPeers(now: number): Promise<string[]>;
}

export interface PeerWrites {
  /**
   * Drops ended peers and, above MOST_PEERS, the least recent of the keys with the most, then the newest keys. If the set of addresses
   * changes, the revisions move as after `updateWorkspace`.
   */
  notePeers(workspaceId: string, seen: readonly SeenPeer[]): Promise<void>;
}
