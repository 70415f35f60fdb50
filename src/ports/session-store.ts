/** The store of sessions: who is signed in to the console (SPEC D18). Types only. */

/** A session stands for an API key while it lasts, and names the person who uses it. */
export interface Session {
  /** SHA-256 of the key. Whether that key is still valid is asked where keys are. */
  readonly keyHash: Uint8Array;
  readonly actor: string;
  /** ms since 1970. */
  readonly expiresAt: number;
}

export interface SessionReads {
  /** The session with this SHA-256 of its id; expiry is the caller's to check. */
  findSession(hash: Uint8Array): Promise<Session | undefined>;
}

export interface SessionWrites {
  /** Stores a session under the SHA-256 of its id. Of a key's sessions the newest `most` stay. */
  openSession(hash: Uint8Array, session: Session, most: number): Promise<void>;
  /** Deletes a session, if it is there. */
  closeSession(hash: Uint8Array): Promise<void>;
}
