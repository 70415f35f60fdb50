/** The console at /console/: one page for all its addresses, its files, and signing in and out (SPEC D18). */
import { parsedJson } from '../../json/json.ts';
import { type Answer, jsonAnswer, movedTo, PAGE_HEADERS } from '../answer.ts';
import type { BodyLimit } from '../bodies/body.ts';
import type { Answered, Call } from '../call.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { fileAnswer } from '../files.ts';
import { readActor } from '../manage/identify.ts';
import { FILES, type Opening, readConsole } from './files.ts';
import type { People, Place } from './people.ts';
import type { OpenSession, Sessions } from './sessions.ts';
import type { SignInPages } from './sign-in.ts';

/** What answers the addresses of the console. */
export interface ConsolePages {
  /** Leads to the page. */
  start(): Answer;
  page(call: Call): Answered;
  file(call: Call): Answered;
  /** The project's documents. */
  help(call: Call): Answered;
  /** Who is signed in. */
  session(call: Call): Answered;
  signIn(given: SignIn): Answered;
  signOut(call: Call): Answered;
  /** undefined: there are no providers. */
  readonly people?: SignInPages | undefined;
}

/** Who signs in. */
interface SignIn {
  readonly call: Call;
  readonly key: string;
  readonly actor: string;
}

/** How long browsers keep the files of a version, s. */
const YEAR = 31_536_000;

/** The console of these sessions. */
export function consolePages(sessions: Sessions, people?: People, signInPages?: SignInPages): ConsolePages {
  const { version, files, page, scriptHashes } = readConsole();
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scriptHashes.join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
  const pageHeaders = ['Cache-Control', 'no-cache', 'Content-Security-Policy', policy, ...PAGE_HEADERS];
  let help: Promise<(call: Call) => Answered> | undefined;
  const fileHeaders = ['Cache-Control', `public, max-age=${YEAR}, immutable`, 'Referrer-Policy', 'no-referrer'];

  /** How somebody may sign in. */
  const waysIn = async () => ({
    keys: await sessions.takeKeys(),
    providers: (people?.providers ?? []).map(({ id, name }) => ({ id, name })),
  });

  return {
    start: () => movedTo('/console/'),
    page(call) {
      // Whether the session is one is found out by the page; this is only what it opens with.
      const opening: Opening = sessions.claims(call) ? 'shell' : 'sign-in';
      const tag = `"${version}-${opening}"`;
      const headers = [...pageHeaders, 'ETag', tag];
      if (call.request.headers['if-none-match'] === tag) return { status: 304, headers, body: undefined };
      return fileAnswer(call, page(opening, `/${call.params['*'] ?? ''}`), headers, 'Accept-Encoding, Cookie');
    },
    file(call) {
      const { version: asked, '*': path } = call.params;
      const file = asked === version ? files.get(path!) : undefined;
      return file === undefined ? { status: 404 } : fileAnswer(call, file, fileHeaders);
    },
    async help(call) {
      // Most never ask for it.
      help ??= import('../help/pages.ts').then(({ helpPages }) => helpPages(`${FILES}/${version}`, pageHeaders));
      return (await help)(call);
    },
    async session(call) {
      const found = sessions.claims(call) ? await sessions.identify(call, true) : undefined;
      // Who has no role any more has to sign in as somebody who has.
      if (found !== undefined && 'status' in found && found.status !== 401 && found.status !== 403) return found;
      if (found === undefined || 'status' in found) return sessionAnswer(null, { sign_in: await waysIn() });
      return sessionAnswer(found, { places: await sessions.places(found) });
    },
    async signIn({ call, key, actor }) {
      const session = await sessions.open(call, key, actor);
      return 'status' in session ? session : sessionAnswer(session);
    },
    async signOut(call) {
      const closed = await sessions.close(call);
      if ('status' in closed) return closed;
      const provider = people?.providers.find(({ id }) => id === closed.provider);
      const leave = await provider?.signOutAt(`${people!.baseUrl.replace(/\/$/, '')}/console/?left`);
      return sessionAnswer(null, { cookie: closed.cookie, sign_in: await waysIn(), ...(leave !== undefined && { leave }) });
    },
    people: signInPages,
  };
}

interface AboutSession {
  readonly cookie?: string;
  readonly places?: readonly Place[];
  /** Where nobody is signed in: how that is done. */
  readonly sign_in?: object;
  /** Where the browser goes that signs out at the provider, too. */
  readonly leave?: string;
}

/** Who is signed in; null: nobody. */
function sessionAnswer(session: OpenSession | null, { cookie = session?.cookie, places = [], sign_in, leave }: AboutSession = {}): Answer {
  const body = session && {
    actor: session.actor,
    key_id: session.caller.personId === undefined ? session.caller.keyId : null,
    person: session.caller.personId ?? null,
    permissions: session.caller.permissions,
    workspace_id: session.caller.workspaceId,
    workspaces: places,
    expires_at: new Date(session.expiresAt).toISOString(),
  };
  const headers = { 'Cache-Control': 'no-store', ...(cookie !== undefined && { 'Set-Cookie': cookie }) };
  return jsonAnswer(200, JSON.stringify({ session: body, sign_in, leave }), headers);
}

/** The key and the name of who signs in, or what is wrong with them. */
export function readSignIn(call: Call, _who: null, bytes: Buffer): SignIn | HttpFault {
  const { key, name } = Object(parsedJson(bytes.toString())) as Readonly<Record<string, unknown>>;
  const actor = typeof name === 'string' && name.isWellFormed() ? readActor(encodeURIComponent(name)) : null;
  if (typeof key !== 'string' || key.trim() === '') return fault('key', 'must be an API key');
  if (actor === null) return fault('name', 'must be your name, for the audit log');
  return typeof actor === 'string'
    ? { call, key: key.trim(), actor }
    : fault('name', 'must be at most 100 characters and no control characters');
}

const fault = (field: string, message: string): HttpFault => badRequest([{ field, message, value: null }]);

const SIGN_IN_BYTES = 4096;
/** The body of who signs in. */
export const SIGN_IN: BodyLimit = { bytes: SIGN_IN_BYTES, tooLarge: fault('body', `must be at most ${SIGN_IN_BYTES} bytes`) };
