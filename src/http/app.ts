import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { Caller } from '../account/caller.ts';
import type { Check } from '../ports/health.ts';
import { LIMITS } from '../signal/limits.ts';
import { errorAnswer, jsonAnswer, send } from './answer.ts';
import type { Authenticator } from './auth/authenticator.ts';
import { type Gate, gate } from './auth/gate.ts';
import { rateLimiter } from './auth/rate-limit.ts';
import { registerDocs } from './docs.ts';
import type { Group, HttpFault } from './errors.ts';
import type { AnswerFeed } from './feeds/answer.ts';
import { type FeedParts, feedShortcut, registerFeeds } from './feeds/routes.ts';
import { groupOf, unhandled } from './routes.ts';
import { BODY_TOO_LARGE, MALFORMED, type SubmitSignals } from './signals/submit.ts';

export interface AppParts {
  readonly settings: {
    readonly trustProxy: readonly string[];
    readonly rateLimitSignals: number;
    readonly rateLimitFeeds: number;
    readonly baseUrl: string | undefined;
  };
  readonly authenticator: Authenticator;
  /** undefined where this process does not take signals. */
  readonly submitSignals: SubmitSignals | undefined;
  /** undefined where this process does not serve feeds. */
  readonly answerFeed: AnswerFeed | undefined;
  readonly readiness: () => Promise<Readonly<Record<string, Check>>>;
  /** Whether the process is about to stop: each answer then ends its connection. */
  readonly draining: () => boolean;
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
}

/** How long a request may take to arrive, and an idle connection stays open, ms. */
const REQUEST_TIMEOUT = 120_000;
const KEEP_ALIVE = 75_000;
/** How long a server that closes may go on accepting connections, ms. */
const LAST_ACCEPTS = 500;
/** A list name has 200 characters at most, each up to 12 when encoded. */
const MAX_PARAM_LENGTH = 2400;

/** The HTTP server of the roles that this process runs. */
export function createApp(parts: AppParts): FastifyInstance {
  const { settings, authenticator, submitSignals, answerFeed, readiness, draining, now, logger } = parts;
  const gateOf = (group: Group, perMinute: number) => gate(group, authenticator, rateLimiter(perMinute), now);
  const report = (err: unknown) => logger.error({ err }, 'a request failed');
  const feeds = answerFeed && { gate: gateOf('feed', settings.rateLimitFeeds), answer: answerFeed, report };

  const servers: Server[] = [];
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    trustProxy: settings.trustProxy.length > 0 ? [...settings.trustProxy] : false,
    bodyLimit: LIMITS.batchBytes,
    serverFactory(handler) {
      const server = httpServer(handler, feeds, draining);
      servers.push(server);
      return server;
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
    clientErrorHandler: refuseConnection,
  });
  const served: Group[] = [...(submitSignals ? (['signal'] as const) : []), ...(answerFeed ? (['feed'] as const) : [])];

  // Any content type, or none: a body is judged by its bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done();
    send(reply, errorAnswer(groupOf(request.url), unhandled(request.url, served)));
  });
  app.setErrorHandler(fail);
  app.addHook('preClose', async () => {
    await Promise.all(servers.filter(({ listening }) => listening).map(closeServer));
  });

  if (submitSignals !== undefined) registerSignals(app, submitSignals, gateOf('signal', settings.rateLimitSignals));
  if (feeds !== undefined) registerFeeds(app, feeds);
  registerHealth(app, readiness);
  registerDocs(app, settings.baseUrl);
  return app;
}

function httpServer(handler: RequestListener, feeds: FeedParts | undefined, draining: () => boolean): Server {
  const shortcut = feeds && feedShortcut(feeds);
  // Polls have no body: a tenth of their time went into ending the stream of it.
  const options = { requestTimeout: REQUEST_TIMEOUT, keepAliveTimeout: KEEP_ALIVE, optimizeEmptyRequests: true };
  return createServer(options, (request, response) => {
    // A client that sends its next request while its connection is being closed would lose it.
    if (draining()) response.shouldKeepAlive = false;
    if (!shortcut?.(request, response)) handler(request, response);
  });
}

/** Closes a server without a reset for any client that has connected. Resolves when the last answer is sent. */
async function closeServer(server: Server): Promise<void> {
  await acceptedAll(server);
  // Connections whose last request was under way would stay open until they time out.
  const timer = setInterval(() => server.closeIdleConnections(), 50);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(timer);
}

/** Resolves in a turn of the event loop that found no connection waiting to be accepted: those that wait when a server closes are reset. */
async function acceptedAll(server: Server): Promise<void> {
  const deadline = performance.now() + LAST_ACCEPTS;
  let accepted = true;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  await turn();
  while (accepted && performance.now() < deadline) {
    accepted = false;
    await turn();
  }
  server.off('connection', note);
}

function registerSignals(app: FastifyInstance, submit: SubmitSignals, { admit }: Gate): void {
  const callers = new WeakMap<FastifyRequest, Caller>();
  for (const version of [1, 2] as const) {
    app.route({
      method: 'POST',
      url: `/v${version}/signal`,
      // Before the body is read.
      async onRequest(request, reply) {
        // It is not looked at, and Fastify would refuse a malformed one.
        delete request.raw.headers['content-type'];
        const verdict = await admit(request);
        if (!('status' in verdict)) callers.set(request, verdict);
        else send(reply, errorAnswer('signal', verdict));
      },
      async handler(request, reply) {
        const caller = callers.get(request)!;
        const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
        const answer = await submit({ version, caller, query: request.query as Record<string, unknown>, body });
        send(reply, 'body' in answer ? jsonAnswer(answer.status, JSON.stringify(answer.body)) : errorAnswer('signal', answer));
      },
    });
  }
}

function registerHealth(app: FastifyInstance, readiness: AppParts['readiness']): void {
  const health = (status: number, value: object) => jsonAnswer(status, JSON.stringify(value), { 'Cache-Control': 'no-store' });
  app.route({ method: ['GET', 'HEAD'], url: '/healthz', handler: (_request, reply) => send(reply, health(200, { status: 'ok' })) });
  app.route({
    method: ['GET', 'HEAD'],
    url: '/readyz',
    async handler(_request, reply) {
      const checks = await readiness();
      const ready = Object.values(checks).every(({ ok }) => ok);
      send(reply, health(ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks }));
    },
  });
}

/** Faults that Fastify finds before a handler does, in the group's own shape; everything else is logged and 500. */
function fail(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const group = groupOf(request.url);
  send(reply, errorAnswer(group, faultOf(error, group) ?? unexpected(error, request)));
}

function faultOf({ code, statusCode = 500 }: FastifyError, group: Group): HttpFault | undefined {
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return BODY_TOO_LARGE;
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return { status: 404 };
  if (statusCode < 400 || statusCode > 499) return undefined;
  return group === 'feed' ? { status: 400, message: 'Malformed request' } : MALFORMED;
}

function unexpected(err: Error, { method, routeOptions, log }: FastifyRequest): HttpFault {
  log.error({ err, method, route: routeOptions.url }, 'a request failed');
  return { status: 500 };
}

const CONNECTION_FAULTS: Record<string, HttpFault> = {
  HPE_HEADER_OVERFLOW: { status: 431 },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408 },
};

/** Bytes that are no HTTP request: there is no address yet to tell the group by. */
function refuseConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, headers, body } = errorAnswer('signal', CONNECTION_FAULTS[error.code ?? ''] ?? MALFORMED);
  const lines = headers.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${body}`);
}
