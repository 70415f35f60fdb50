/** The console at /console/: page, files, sign-in and sign-out (SPEC D18). */
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

export interface ConsolePages {
  start(): Answer;
  page(call: Call): Answered;
  file(call: Call): Answered;
  help(call: Call): Answered;
  session(call: Call): Answered;
  signIn(given: SignIn): Answered;
  signOut(call: Call): Answered;
  readonly people?: SignInPages | undefined;
}

interface SignIn {
  readonly call: Call;
  readonly key: string;
  readonly actor: string;
}

/** s. */
const YEAR = 31_536_000;

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

  const waysIn = async () => ({
    keys: await sessions.takeKeys(),
    providers: (people?.providers ?? []).map(({ id, name }) => ({ id, name })),
  });

  return {
    start: () => movedTo('/console/'),
    page(call) {
      // Only the initial paint; the page validates the session.
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
      help ??= import('../help/pages.ts').then(({ helpPages }) => helpPages(`${FILES}/${version}`, pageHeaders));
      return (await help)(call);
    },
    async session(call) {
      const found = sessions.claims(call) ? await sessions.identify(call, true) : undefined;
      // A person without any role left has to sign in again.
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
  /** Sign-in options, without a session. */
  readonly sign_in?: object;
  /** Where the browser goes to sign out at the provider. */
  readonly leave?: string;
}

/** null: not signed in. */
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

export function readSignIn(call: Call, _caller: null, bytes: Buffer): SignIn | HttpFault {
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
export const SIGN_IN: BodyLimit = { bytes: SIGN_IN_BYTES, tooLarge: fault('body', `must be at most ${SIGN_IN_BYTES} bytes`) };
