/** A cookie for an API key or a person, for half a day (SPEC D18.2 to D18.6, D24.5). */
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

/** ms. */
const SESSION_LIFE = 12 * 3600 * 1000;
/** Per key; a further one ends the oldest. */
const MOST_SESSIONS = 50;
const MOST_KNOWN = 10_000;
/** ms. */
const STORE_LIMIT = 1000;
const PROOF = 'x-weir-console';

const NOT_SIGNED_IN: HttpFault = { status: 401, message: 'Sign in: there is no session, or it has expired' };
const OTHER_SITE: HttpFault = { status: 403, message: "Changes must come from the console's own pages" };
const KEYS_OFF: HttpFault = { status: 403, message: 'Keys cannot sign in to this console while people can' };
const OTHER_WORKSPACE: HttpFault = { status: 403, message: 'You are signed in with a key of another workspace' };
const MAY_NOT_READ: HttpFault = {
  status: 403,
  message: 'The console needs an unbound key with the permission manage or rules:read',
};

export interface SessionParts {
  readonly gate: Gate;
  readonly store: PeopleStore;
  readonly people?: People | undefined;
  /** ms since 1970. */
  readonly now: () => number;
  /** TLS only: the cookie gets `Secure`. */
  readonly secure: boolean;
}

export interface Sessions {
  open(call: Call, key: string, actor: string): Promise<OpenSession | HttpFault>;
  /** Returns the cookie; undefined: no role anywhere. */
  openFor(call: Call, person: SignedIn): Promise<string | HttpFault | undefined>;
  /** Returns their number; null: the token was used before, or contradicts itself. */
  endFor(provider: string, out: SignedOut): Promise<number | null>;
  /** Returns the cookie that clears it, and the person's provider. */
  close(call: Call): Promise<{ readonly cookie: string; readonly provider: string | undefined } | HttpFault>;
  /** 401 without a session. `orElsewhere`: in another workspace if they have no role in the requested one. */
  identify(call: Call, orElsewhere?: boolean): Promise<OpenSession | HttpFault>;
  places(session: OpenSession): Promise<Place[]>;
  takeKeys(): Promise<boolean>;
  claims(call: Call): boolean;
}

export interface OpenSession extends Identity {
  readonly actor: string;
  /** undefined: a key. */
  readonly person?: SessionPerson | undefined;
  /** ms since 1970. */
  readonly expiresAt: number;
  readonly cookie?: string;
}

export function consoleSessions({ gate, store, people, now, secure }: SessionParts): Sessions {
  // With the prefix, browsers reject the cookie from another host of the domain and over plain HTTP.
  const name = secure ? '__Host-weir_session' : 'weir_session';
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([\\w-]{43})(?:;|$)`);
  const attributes = `; Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  const idOf = ({ request: { headers } }: Call) => pattern.exec(headers.cookie ?? '')?.[1];
  const hashOf = (call: Call) => {
    const id = idOf(call);
    return id === undefined ? undefined : digest(id);
  };
  const persons = people && personSessions(people, store, now);

  /** Wrong ids from the same address do not block these. */
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
      // Without this check, anybody could cause writes with any cookie.
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

  /** A fault after too many unknown ids from the address, unless this one is known. */
  async function find(call: Call, id: Buffer): Promise<Session | HttpFault | undefined> {
    const slot = id.toString('latin1');
    const throttled = known.has(slot) ? undefined : gate.throttled(call);
    if (throttled !== undefined) return throttled;
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
    return asked === undefined || asked === caller.workspaceId || orElsewhere
      ? { caller: { ...caller, isManaged: true }, actor, expiresAt }
      : OTHER_WORKSPACE;
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

  async function begun(call: Call, id: string, session: Session): Promise<string> {
    await store.openSession(digest(id), session, MOST_SESSIONS);
    const before = hashOf(call);
    if (before !== undefined) await store.closeSession(before);
    return `${name}=${id}; Max-Age=${Math.ceil((session.expiresAt - now()) / 1000)}${attributes}`;
  }

  /** Keys can sign in if no provider answers, even if CONSOLE_KEYS is off: otherwise nobody could. */
  async function takeKeys(): Promise<boolean> {
    if (people === undefined || people.keys) return true;
    return (await Promise.all(people.providers.map((provider) => provider.answers()))).every((answers) => !answers);
  }
}

export const identifyByEither =
  (byKey: Identify, sessions: Sessions): Identify =>
  (call) =>
    call.request.headers.authorization === undefined && sessions.claims(call) ? sessions.identify(call) : byKey(call);

type PersonSession = Session & { readonly person: SessionPerson };
const isOfPerson = (session: Session): session is PersonSession => session.person !== undefined;

const newId = () => randomBytes(32).toString('base64url');

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** A 401 that asks for a session instead of a key. */
const ended = (fault: HttpFault): HttpFault => (fault.status === 401 ? NOT_SIGNED_IN : fault);

const mayRead = ({ listId, feedId, permissions }: Caller): boolean =>
  listId === null && feedId === null && allows(permissions, 'rules:read');

/** Cross-site requests carry the cookie too, so it proves nothing alone. */
function foreign({ request: { headers } }: Call): HttpFault | undefined {
  const site = headers['sec-fetch-site'];
  const { origin, host } = headers;
  const isOwn = site === undefined ? origin !== undefined && origin.replace(/^https?:\/\//, '') === host : site === 'same-origin';
  return isOwn && headers[PROOF] !== undefined ? undefined : OTHER_SITE;
}
