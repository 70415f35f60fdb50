/** The console at /console/: one page for all its addresses, its files, and signing in and out (SPEC D18). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, errorAnswer, jsonAnswer, NO_SNIFFING, send } from '../answer.ts';
import { anyType, type BodyLimit, takeBody } from '../bodies/body.ts';
import type { BodyBudget } from '../bodies/body-budget.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { negotiateCoding } from '../feeds/encoding.ts';
import { readActor } from '../manage/identify.ts';
import { type ConsoleFile, FILES, type Opening, readConsole } from './files.ts';
import type { OpenSession, Sessions } from './sessions.ts';

/** What the console needs. */
export interface ConsoleParts {
  readonly sessions: Sessions;
  readonly budget: BodyBudget;
}

const METHODS = ['GET', 'HEAD'];
/** How long browsers keep the files of a version, s. */
const YEAR = 31_536_000;

/** Registers the console. */
export function registerConsole(app: FastifyInstance, { sessions, budget }: ConsoleParts): void {
  const { version, files, page, scriptHash } = readConsole();
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${scriptHash}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ');
  const pageHeaders = ['Cache-Control', 'no-cache', 'Content-Security-Policy', policy, 'Referrer-Policy', 'no-referrer'];
  const fileHeaders = ['Cache-Control', `public, max-age=${YEAR}, immutable`, 'Referrer-Policy', 'no-referrer'];

  const answerPage = (request: FastifyRequest, reply: FastifyReply) => {
    // Whether the session is one is found out by the page; this is only what it opens with.
    const opening: Opening = sessions.claims(request) ? 'shell' : 'sign-in';
    const tag = `"${version}-${opening}"`;
    const headers = [...pageHeaders, 'ETag', tag];
    if (request.headers['if-none-match'] === tag) return send(reply, { status: 304, headers, body: undefined });
    return send(reply, fileAnswer(request, page[opening], headers, 'Accept-Encoding, Cookie'));
  };
  app.route({ method: METHODS, url: '/console', handler: (_request, reply) => send(reply, movedTo('/console/')) });
  app.route({ method: METHODS, url: '/console/*', handler: answerPage });
  app.route({
    method: METHODS,
    url: `${FILES}/:version/*`,
    handler(request, reply) {
      const { version: asked, '*': path } = request.params as Record<string, string>;
      const file = asked === version ? files.get(path!) : undefined;
      send(reply, file === undefined ? errorAnswer('manage', { status: 404 }) : fileAnswer(request, file, fileHeaders));
    },
  });

  app.route({
    method: METHODS,
    url: SESSION,
    async handler(request, reply) {
      const session = sessions.claims(request) ? await sessions.identify(request) : undefined;
      if (session !== undefined && 'status' in session && session.status !== 401) return send(reply, errorAnswer('manage', session));
      send(reply, sessionAnswer(session === undefined || 'status' in session ? null : session));
    },
  });
  app.route({
    method: 'POST',
    url: SESSION,
    onRequest: anyType,
    async handler(request, reply) {
      const given = await readSignIn(request, reply, budget);
      if (given === undefined) return void reply.hijack();
      const session = 'status' in given ? given : await sessions.open(request, given.key, given.actor);
      send(reply, 'status' in session ? errorAnswer('manage', session) : sessionAnswer(session));
    },
  });
  app.route({
    method: 'DELETE',
    url: SESSION,
    onRequest: anyType,
    async handler(request, reply) {
      const closed = await sessions.close(request);
      send(reply, typeof closed === 'string' ? sessionAnswer(null, closed) : errorAnswer('manage', closed));
    },
  });
}

const SESSION = '/console/session';

export const movedTo = (address: string): Answer => ({
  status: 302,
  headers: ['Location', address, 'Content-Length', '0', 'Cache-Control', 'no-store', 'Vary', 'Accept', ...NO_SNIFFING],
  body: undefined,
});

function fileAnswer({ headers }: FastifyRequest, file: ConsoleFile, own: readonly string[], vary = 'Accept-Encoding'): Answer {
  const isGzip = negotiateCoding(headers['accept-encoding']) === 'gzip';
  const body = isGzip ? file.gzip() : file.bytes;
  const coding = isGzip ? ['Content-Encoding', 'gzip'] : [];
  const common = ['Content-Type', file.type, 'Content-Length', String(body.length), 'Vary', vary, ...NO_SNIFFING];
  return { status: 200, headers: [...common, ...coding, ...own], body };
}

/** Who is signed in; null: nobody. */
function sessionAnswer(session: OpenSession | null, cookie = session?.cookie): Answer {
  const body = session && {
    actor: session.actor,
    key_id: session.caller.keyId,
    permissions: session.caller.permissions,
    workspace_id: session.caller.workspaceId,
    expires_at: new Date(session.expiresAt).toISOString(),
  };
  const headers = { 'Cache-Control': 'no-store', ...(cookie !== undefined && { 'Set-Cookie': cookie }) };
  return jsonAnswer(200, JSON.stringify({ session: body }), headers);
}

/** The key and the name of who signs in, or what is wrong with them; undefined when the client has gone away. */
async function readSignIn(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  budget: BodyBudget,
): Promise<{ key: string; actor: string } | HttpFault | undefined> {
  const holding = budget.open('');
  try {
    const bytes = await takeBody(raw, reply.raw, holding, SIGN_IN);
    if (!Buffer.isBuffer(bytes)) return bytes;
    const { key, name } = fieldsOf(bytes);
    const actor = typeof name === 'string' && name.isWellFormed() ? readActor(encodeURIComponent(name)) : null;
    if (typeof key !== 'string' || key.trim() === '') return fault('key', 'must be an API key');
    if (actor === null) return fault('name', 'must be your name, for the audit log');
    return typeof actor === 'string'
      ? { key: key.trim(), actor }
      : fault('name', 'must be at most 100 characters and no control characters');
  } finally {
    holding.release();
  }
}

function fieldsOf(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(bytes.toString()));
  } catch {
    return {};
  }
}

const fault = (field: string, message: string): HttpFault => badRequest([{ field, message, value: null }]);

const SIGN_IN_BYTES = 4096;
const SIGN_IN: BodyLimit = { bytes: SIGN_IN_BYTES, tooLarge: fault('body', `must be at most ${SIGN_IN_BYTES} bytes`) };
