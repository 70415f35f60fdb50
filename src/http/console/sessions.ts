/** Who is signed in to the console: a cookie that stands for an API key, or for a person, for half a day (SPEC D18.2 to D18.6, D24.5). */
import { hash, randomBytes } from 'node:crypto';
import type { Caller } from '../../account/caller.ts';
import { allows } from '../../account/permission.ts';
import { within } from '../../clock.ts';
import type { SignedIn, SignedOut } from '../../ports/identity-provider.ts';
import type { Session, SessionPerson } from '../../ports/stored/session-store.ts';
import type { Gate } from '../auth/gate.ts';
import type { Call } from '../call.ts';
import type { HttpFault } from '../errors.ts';
import type { Identify, Identity } from '../manage/identify.ts';
import { type People, type PeopleStore, type Place, personSessions, WORKSPACE_HEADER } from './people.ts';

/** How long a session lasts, ms. */
const SESSION_LIFE = 12 * 3600 * 1000;
/** Sessions that one key has at a time; a further one ends the oldest. */
const MOST_SESSIONS = 50;
/** Sessions that are known to be some. */
const MOST_KNOWN = 10_000;
/** How long the store may take to find a session, ms. */
const STORE_LIMIT = 1000;
/** What the console's own requests carry; a page of another site cannot add it. */
const PROOF = 'x-weir-console';

const NOT_SIGNED_IN: HttpFault = { status: 401, message: 'Sign in: there is no session, or it has ended' };
const OTHER_SITE: HttpFault = { status: 403, message: 'A change in the console has to come from the console itself' };
const KEYS_OFF: HttpFault = { status: 403, message: 'Keys do not sign in to this console while people can' };
const OTHER_WORKSPACE: HttpFault = { status: 403, message: 'The key that you are signed in with is of another workspace' };
const MAY_NOT_READ: HttpFault = {
  status: 403,
  message: 'The console needs a key with the permission manage or rules:read that is not bound to a list or feed',
};

/** What sessions need. */
export interface SessionParts {
  readonly gate: Gate;
  readonly store: PeopleStore;
  /** undefined: keys alone sign in. */
  readonly people?: People | undefined;
  /** ms since 1970. */
  readonly now: () => number;
  /** Whether clients reach the service over TLS only: then the cookie is for TLS only. */
  readonly secure: boolean;
}

/** Sessions as HTTP has them. */
export interface Sessions {
  /** Signs in with the text of a key and a person's name: who that is and the cookie, or the fault. */
  open(call: Call, key: string, actor: string): Promise<OpenSession | HttpFault>;
  /** Signs in somebody whom a provider has named: the cookie, or the fault; undefined where he has no role anywhere. */
  openFor(call: Call, person: SignedIn): Promise<string | HttpFault | undefined>;
  /** Ends sessions that a provider has ended; how many there were. null: the token was sent before, or contradicts itself. */
  endFor(provider: string, out: SignedOut): Promise<number | null>;
  /** Ends the session of a request: the cookie that forgets it, and the provider of who had it; or the fault. */
  close(call: Call): Promise<{ readonly cookie: string; readonly provider: string | undefined } | HttpFault>;
  /** Who is signed in; a 401 when nobody is. With `orElsewhere` in another workspace where the one that is named is none of his. */
  identify(call: Call, orElsewhere?: boolean): Promise<OpenSession | HttpFault>;
  /** Where somebody may work; empty for a key, which belongs to one workspace. */
  places(session: OpenSession): Promise<Place[]>;
  /** Whether keys sign in now. */
  takeKeys(): Promise<boolean>;
  /** Whether a request has a session's cookie, valid or not. */
  claims(call: Call): boolean;
}

/** Somebody who is signed in. */
export interface OpenSession extends Identity {
  readonly actor: string;
  /** undefined: a key. */
  readonly person?: SessionPerson | undefined;
  /** ms since 1970. */
  readonly expiresAt: number;
  /** The header Set-Cookie of the answer, where the session is new. */
  readonly cookie?: string;
}

export function consoleSessions({ gate, store, people, now, secure }: SessionParts): Sessions {
  // The prefix has browsers refuse the cookie from another host of the domain, and over plain HTTP.
  const name = secure ? '__Host-weir_session' : 'weir_session';
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`);
  const attributes = `; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  const idOf = ({ request: { headers } }: Call) => pattern.exec(headers.cookie ?? '')?.[1];
  const hashOf = (call: Call) => {
    const id = idOf(call);
    return id === undefined ? undefined : digest(id);
  };
  const persons = people && personSessions(people, store, now);

  /** Sessions that the store has told of: wrong ones from the same address do not keep them out. */
  const known = new Set<string>();

  return {
    claims: ({ request: { headers } }) => headers.cookie?.includes(`${name}=`) ?? false,
    async open(call, key, actor) {
      const refusal = foreign(call);
      if (refusal !== undefined) return refusal;
      const caller = await gate.admit(call, `Bearer ${key}`);
      if ('status' in caller) return caller;
      if (!mayRead(caller)) return MAY_NOT_READ;
      if (!(await takeKeys())) return KEYS_OFF;
      const expiresAt = now() + SESSION_LIFE;
      const cookie = await begun(call, newId(), { keyHash: digest(key), actor, expiresAt });
      return { caller, actor, expiresAt, cookie };
    },
    async openFor(call, person) {
      const id = newId();
      const session = await persons?.sessionOf(id, person, SESSION_LIFE);
      return session && begun(call, id, session);
    },
    endFor: async (provider, out) => (persons === undefined ? 0 : persons.end(provider, out)),
    places: async ({ person }) => (person && persons?.places(person)) ?? [],
    takeKeys,
    async close(call) {
      const refusal = foreign(call);
      if (refusal !== undefined) return refusal;
      const id = hashOf(call);
      const session = id && (await find(call, id));
      if (session !== undefined && 'status' in session) return session;
      // A write for whoever sends a cookie would be a write for everybody.
      if (session !== undefined) await store.closeSession(id!);
      return { cookie: `${name}=; Max-Age=0${attributes}`, provider: session?.person?.provider };
    },
    async identify(call, orElsewhere = false) {
      const { method } = call.request;
      const refusal = method === 'GET' || method === 'HEAD' ? undefined : foreign(call);
      if (refusal !== undefined) return refusal;
      const id = idOf(call);
      if (id === undefined) return NOT_SIGNED_IN;
      const session = await find(call, digest(id));
      if (session === undefined) return ended(gate.refuse(call));
      if ('status' in session) return session;
      if (session.expiresAt <= now()) return NOT_SIGNED_IN;
      return isOfPerson(session) ? personOf(session, id, call, orElsewhere) : identityOf(session, call, orElsewhere);
    },
  };

  /** The session of an id; a fault where the address has shown too many ids of none, and this one is not known to be one. */
  async function find(call: Call, id: Buffer): Promise<Session | HttpFault | undefined> {
    const slot = id.toString('latin1');
    const tired = known.has(slot) ? undefined : gate.tired(call);
    if (tired !== undefined) return tired;
    const session = await within(store.findSession(id), STORE_LIMIT, 'the store');
    if (session === undefined) known.delete(slot);
    else {
      if (known.size >= MOST_KNOWN) known.clear();
      known.add(slot);
    }
    return session;
  }

  async function identityOf({ keyHash, actor, expiresAt }: Session, call: Call, orElsewhere: boolean): Promise<OpenSession | HttpFault> {
    const caller = await gate.admitKey(Buffer.from(keyHash).toString('latin1'), call);
    if ('status' in caller) return ended(caller);
    const asked = call.request.headers[WORKSPACE_HEADER];
    return asked === undefined || asked === caller.workspaceId || orElsewhere ? { caller, actor, expiresAt } : OTHER_WORKSPACE;
  }

  async function personOf(found: PersonSession, id: string, call: Call, orElsewhere: boolean): Promise<OpenSession | HttpFault> {
    const session = await persons?.renewed(id, found);
    if (session === undefined || !isOfPerson(session)) return NOT_SIGNED_IN;
    const caller = await persons!.callerOf(session, call, orElsewhere);
    if ('status' in caller) return caller;
    const verdict = gate.admitCaller(caller, call);
    const { actor, expiresAt, person } = session;
    return 'status' in verdict ? verdict : { caller, actor, expiresAt, person };
  }

  /** Stores a session in the place of the one that the browser has; its cookie. */
  async function begun(call: Call, id: string, session: Session): Promise<string> {
    await store.openSession(digest(id), session, MOST_SESSIONS);
    const before = hashOf(call);
    if (before !== undefined) await store.closeSession(before);
    return `${name}=${id}; Max-Age=${Math.ceil((session.expiresAt - now()) / 1000)}${attributes}`;
  }

  /** Keys that do not sign in do all the same while no provider answers: else nobody could. */
  async function takeKeys(): Promise<boolean> {
    if (people === undefined || people.keys) return true;
    return (await Promise.all(people.providers.map((provider) => provider.answers()))).every((answers) => !answers);
  }
}

/** By a session where the request has one and no key, else by key. */
export const identifyByEither =
  (byKey: Identify, sessions: Sessions): Identify =>
  (call) =>
    call.request.headers.authorization === undefined && sessions.claims(call) ? sessions.identify(call) : byKey(call);

type PersonSession = Session & { readonly person: SessionPerson };
const isOfPerson = (session: Session): session is PersonSession => session.person !== undefined;

const newId = () => randomBytes(32).toString('base64url');

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** The same refusal, where it would ask for a key: for a session. */
const ended = (fault: HttpFault): HttpFault => (fault.status === 401 ? NOT_SIGNED_IN : fault);

const mayRead = ({ listId, feedId, permissions }: Caller): boolean =>
  listId === null && feedId === null && allows(permissions, 'rules:read');

/** The fault of a request that may not come from the console: the cookie alone proves nothing, browsers send it for others too. */
function foreign({ request: { headers } }: Call): HttpFault | undefined {
  const site = headers['sec-fetch-site'];
  const { origin, host } = headers;
  const isOwn = site === undefined ? origin !== undefined && origin.replace(/^https?:\/\//, '') === host : site === 'same-origin';
  return isOwn && headers[PROOF] !== undefined ? undefined : OTHER_SITE;
}
