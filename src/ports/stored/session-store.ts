/** Console sessions (SPEC D18, D24). */
import type { Caller } from '../../account/caller.ts';
import type { GroupRole, Person } from '../../account/person.ts';
import type { RoleName } from '../../account/role.ts';

/** Of an API key, or of a person from a provider. */
export interface Session {
  /** SHA-256 of the key (its validity is checked elsewhere), or of the person's id; limits their sessions. */
  readonly keyHash: Uint8Array;
  readonly actor: string;
  /** ms */
  readonly expiresAt: number;
  /** undefined: of a key. */
  readonly person?: SessionPerson | undefined;
}

export interface SessionPerson extends Omit<Person, 'name'> {
  /** The provider's session id, if known. */
  readonly sid: string | null;
  readonly home: string;
  /** ms */
  readonly openedAt: number;
  /** ms, with the encrypted token; null: never. */
  readonly renewAt: number | null;
  readonly renewal: Uint8Array | null;
}

export type Renewed = Pick<SessionPerson, 'groups' | 'renewAt' | 'renewal'> & Pick<Session, 'actor'>;

export interface Workplace extends Pick<Caller, 'workspaceId' | 'organizationId' | 'subscription' | 'guardRails' | 'sample'> {
  readonly name: string;
  readonly people: readonly GroupRole[];
}

export interface SeenPerson {
  /** `personId` */
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
  /** ms */
  readonly lastSeen: number;
}

/** Of a provider's session or of a person, opened up to an instant (ms). */
export interface EndedSessions {
  /** SHA-256 of the logout token's id, and its expiry (ms). */
  readonly token: Uint8Array;
  readonly validUntil: number;
  readonly provider: string;
  readonly sid: string | null;
  readonly subject: string | null;
  readonly openedUntil: number;
}

/** Per workspace, the most recent ones. */
export const MOST_SEEN = 10_000;

export interface SessionReads {
  /** Does not check the expiry. */
  findSession(hash: Uint8Array): Promise<Session | undefined>;
  /** undefined: unknown workspace. */
  workplace(workspaceId: string): Promise<Workplace | undefined>;
  /** Last seen first; up to MOST_SEEN. */
  people(workspaceId: string): Promise<SeenPerson[]>;
}

export interface SessionWrites {
  /** Under the SHA-256 of its id. The newest `most` of a key or person remain. */
  openSession(hash: Uint8Array, session: Session, most: number): Promise<void>;
  closeSession(hash: Uint8Array): Promise<void>;
  /** Due at `renewAt`; blocks others until `next` (both ms). */
  claimRenewal(hash: Uint8Array, renewAt: number, next: number): Promise<boolean>;
  renewSession(hash: Uint8Array, renewed: Renewed): Promise<void>;
  /** Returns their number. null: the token was used before, or names another person's session. */
  endSessions(ended: EndedSessions): Promise<number | null>;
  seePerson(workspaceId: string, person: SeenPerson): Promise<void>;
}
