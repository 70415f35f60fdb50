/** The store of sessions: who is signed in to the console (SPEC D18, D24). Types only. */
import type { Caller } from '../../account/caller.ts';
import type { GroupRole, Person } from '../../account/person.ts';
import type { RoleName } from '../../account/role.ts';

/** A session stands for an API key, or for a person whom a provider has named, while it lasts. */
export interface Session {
  /** SHA-256 of the key; whether that is still valid is asked where keys are. Of a person: that of his id, by which his sessions are counted. */
  readonly keyHash: Uint8Array;
  readonly actor: string;
  /** ms since 1970. */
  readonly expiresAt: number;
  /** undefined: it stands for a key. */
  readonly person?: SessionPerson | undefined;
}

/** What a session knows of its person. */
export interface SessionPerson extends Omit<Person, 'name'> {
  /** The provider's own session, where it has named it. */
  readonly sid: string | null;
  /** The id of the workspace that he begins in. */
  readonly home: string;
  /** ms since 1970. */
  readonly openedAt: number;
  /** When the provider is to be asked again, ms since 1970, and the sealed token to do it with; null: it is not asked. */
  readonly renewAt: number | null;
  readonly renewal: Uint8Array | null;
}

/** What the provider has said anew. */
export type Renewed = Pick<SessionPerson, 'groups' | 'renewAt' | 'renewal'> & Pick<Session, 'actor'>;

/** A workspace that somebody without a key works in: what his caller takes from it, and who may what there. */
export interface Workplace extends Pick<Caller, 'workspaceId' | 'organizationId' | 'subscription' | 'guardRails' | 'sample'> {
  readonly name: string;
  readonly people: readonly GroupRole[];
}

/** Somebody who was seen in a workspace. */
export interface SeenPerson {
  /** `personId` */
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
  /** ms since 1970. */
  readonly lastSeen: number;
}

/** Which sessions a provider ends: those of one of its own, or of a person, that were opened until then (ms). */
export interface EndedSessions {
  /** SHA-256 of what names the token that says so, and until when the token is valid (ms). */
  readonly token: Uint8Array;
  readonly validUntil: number;
  readonly provider: string;
  readonly sid: string | null;
  readonly subject: string | null;
  readonly openedUntil: number;
}

/** People that are known to have been seen in one workspace: those that were last. */
export const MOST_SEEN = 10_000;

export interface SessionReads {
  /** The session with this SHA-256 of its id; expiry is the caller's to check. */
  findSession(hash: Uint8Array): Promise<Session | undefined>;
  /** undefined for an unknown workspace. */
  workplace(workspaceId: string): Promise<Workplace | undefined>;
  /** Last seen first; MOST_SEEN at most. */
  people(workspaceId: string): Promise<SeenPerson[]>;
}

export interface SessionWrites {
  /** Stores a session under the SHA-256 of its id. Of a key's or person's sessions the newest `most` stay. */
  openSession(hash: Uint8Array, session: Session, most: number): Promise<void>;
  /** Deletes a session, if it is there. */
  closeSession(hash: Uint8Array): Promise<void>;
  /** Whether it is the caller's turn to ask the provider again, which was due at `renewAt`; it is nobody else's until `next` (both ms). */
  claimRenewal(hash: Uint8Array, renewAt: number, next: number): Promise<boolean>;
  renewSession(hash: Uint8Array, renewed: Renewed): Promise<void>;
  /** Deletes sessions of a provider; how many there were. null: the token was accepted before, or names the session of another person. */
  endSessions(ended: EndedSessions): Promise<number | null>;
  /** Notes that a person was in a workspace. */
  seePerson(workspaceId: string, person: SeenPerson): Promise<void>;
}
