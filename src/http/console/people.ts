/** Sessions of people from identity providers: their workspaces, and renewal (SPEC D24.4 to D24.6). */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import type { Caller } from '../../account/caller.ts';
import { type Person, personId, roleIn, type ServiceRole } from '../../account/person.ts';
import { ROLES, type RoleName } from '../../account/role.ts';
import type { IdentityProvider, SignedIn, SignedOut } from '../../ports/identity-provider.ts';
import type { AccountReads } from '../../ports/stored/account-store.ts';
import type { Session, SessionPerson, SessionReads, SessionWrites, Workplace } from '../../ports/stored/session-store.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';

/** Providers and roles may change: read on use. */
export interface People {
  readonly providers: readonly IdentityProvider[];
  readonly roles: readonly ServiceRole[];
  readonly baseUrl: string;
  readonly keys: boolean;
  /** Each subject once a minute. */
  readonly report: (about: string, line: string) => void;
}

export interface Place {
  readonly id: string;
  readonly name: string;
  readonly role: RoleName;
}

export type PeopleStore = SessionReads & SessionWrites & Pick<AccountReads, 'workspaces'>;

const MOST_PLACES = 1000;
/** ms. */
const RENEW_AGAIN = 60_000;
/** ms. */
const SEEN_EVERY = 60_000;
const MOST_NOTED = 10_000;
export const WORKSPACE_HEADER = 'x-weir-workspace';
const UUID = /^[0-9a-f-]{36}$/;

const NOT_THERE: HttpFault = { status: 403, message: 'You have no role in this workspace' };

type PersonSession = Session & { readonly person: SessionPerson };

export function personSessions(people: People, store: PeopleStore, now: () => number) {
  const providerOf = (id: string) => people.providers.find((provider) => provider.id === id);
  const noted = new Map<string, number>();

  async function places(person: Pick<Person, 'provider' | 'groups'>): Promise<Place[]> {
    const found: Place[] = [];
    for (const workspace of await store.workspaces()) {
      const role = found.length < MOST_PLACES ? roleIn(person, workspace, people.roles) : null;
      if (role !== null) found.push({ id: workspace.id, name: workspace.name, role });
    }
    return found.sort((a, b) => a.name.localeCompare(b.name));
  }

  /** undefined: no role there. */
  async function callerIn(workspaceId: string, { actor, person }: PersonSession): Promise<Caller | undefined> {
    const place = UUID.test(workspaceId) ? await store.workplace(workspaceId) : undefined;
    const role = place && roleIn(person, { id: workspaceId, name: place.name, people: place.people }, people.roles);
    if (!role) return undefined;
    const id = personId(person);
    await see(workspaceId, { id, name: actor, role, lastSeen: now() });
    return callerAs(place, id, role);
  }

  /** At most once a minute. */
  async function see(workspaceId: string, seen: Parameters<PeopleStore['seePerson']>[1]): Promise<void> {
    const name = `${workspaceId} ${seen.id} ${seen.role}`;
    if (seen.lastSeen - (noted.get(name) ?? 0) < SEEN_EVERY) return;
    if (noted.size >= MOST_NOTED) noted.clear();
    noted.set(name, seen.lastSeen);
    // A read must not fail because the store cannot be written.
    await store.seePerson(workspaceId, seen).catch(() => noted.delete(name));
  }

  return {
    places,
    /** `id`: the session's text. undefined: no role anywhere. */
    async sessionOf(id: string, person: SignedIn, most: number): Promise<Session | undefined> {
      const { provider, subject, name, groups, sid, authenticatedAt, renewal } = person;
      const [home] = await places({ provider, groups });
      if (home === undefined) return undefined;
      const maxAge = providerOf(provider)?.maxAge ?? null;
      const until = maxAge === null ? Number.POSITIVE_INFINITY : (authenticatedAt ?? now()) + maxAge;
      return {
        keyHash: hash('sha256', `person ${personId({ provider, subject })}`, 'buffer'),
        actor: name,
        expiresAt: Math.min(now() + most, until),
        person: { provider, subject, groups, sid, home: home.id, openedAt: now(), ...sealedRenewal(id, renewal, now()) },
      };
    },
    /** With `orElsewhere` in another workspace if they have no role in the requested one. */
    async callerOf(session: PersonSession, call: Call, orElsewhere: boolean): Promise<Caller | HttpFault> {
      const asked = call.request.headers[WORKSPACE_HEADER];
      const caller = await callerIn(typeof asked === 'string' ? asked : session.person.home, session);
      if (caller !== undefined) return caller;
      // A session without a requested workspace moves on if its first one is lost.
      const [other] = orElsewhere || asked === undefined ? await places(session.person) : [];
      return (other && (await callerIn(other.id, session))) ?? NOT_THERE;
    },
    /** Asks the provider. undefined: the provider has ended the session. */
    async renewed(id: string, session: PersonSession): Promise<Session | undefined> {
      const { person } = session;
      const provider = providerOf(person.provider);
      if (provider === undefined) return undefined;
      if (person.renewAt === null || person.renewal === null || person.renewAt > now()) return session;
      const digest = hash('sha256', id, 'buffer');
      // One process asks; the others use the session as it is.
      if (!(await store.claimRenewal(digest, person.renewAt, now() + RENEW_AGAIN))) return session;
      const current = await provider.renew(unseal(id, person.renewal), person.subject);
      if ('failed' in current) {
        if (current.failed === 'away') return session;
        people.report(personId(person), `${provider.name} has ended the session of ${personId(person)}: ${current.why}`);
        await store.closeSession(digest);
        return undefined;
      }
      const renewed = { groups: current.groups, actor: current.name, ...sealedRenewal(id, current.renewal, now()) };
      await store.renewSession(digest, renewed);
      return { ...session, actor: current.name, person: { ...person, ...renewed } };
    },
    /** Number of ended sessions, or null (`endSessions` of the store). */
    end: (provider: string, { sid, subject, at, token, validUntil }: SignedOut): Promise<number | null> =>
      store.endSessions({ provider, sid, subject, openedUntil: at, token: hash('sha256', `${provider} ${token}`, 'buffer'), validUntil }),
  };
}

const callerAs = ({ name: _, people: __, ...place }: Workplace, id: string, role: RoleName): Caller => ({
  ...place,
  keyId: id,
  personId: id,
  permissions: ROLES[role],
  listId: null,
  feedId: null,
  networks: [],
  expiresAt: null,
});

function sealedRenewal(id: string, renewal: SignedIn['renewal'], at: number): Pick<SessionPerson, 'renewAt' | 'renewal'> {
  return renewal === null ? { renewAt: null, renewal: null } : { renewAt: at + renewal.after, renewal: seal(id, renewal.token) };
}

/** Key of a session's secrets. The browser has the id, the store only its hash: a copy of the store decrypts nothing. */
const keyFor = (id: string) => hash('sha256', `renewal ${id}`, 'buffer');

function seal(id: string, text: string): Buffer {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyFor(id), iv);
  return Buffer.concat([iv, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function unseal(id: string, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv('aes-256-gcm', keyFor(id), bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(-16));
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString();
}
