import type { IncomingMessage, Server } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { ManagePorts } from '../manage/context.ts';
import type { ActivityCounter } from '../ports/activity.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import type { TlsSource } from '../ports/tls.ts';
import type { Tracer } from '../ports/trace.ts';
import { LIMITS } from '../signal/limits.ts';
import type { AccessLog } from './access-log.ts';
import { type AnswerAgent, agentRoutes } from './agent/answer.ts';
import { errorAnswer, send } from './answer.ts';
import type { Asker, Authenticator } from './auth/authenticator.ts';
import { gate } from './auth/gate.ts';
import { rateLimiter } from './auth/rate-limit.ts';
import type { BouncerEndpoints } from './bouncers/answer.ts';
import { bouncerShortcut, registerBouncers } from './bouncers/routes.ts';
import { connectionLimiter, seldom, THIS_MACHINE } from './connections.ts';
import { registerConsole } from './console/routes.ts';
import { consoleSessions, identifyByEither } from './console/sessions.ts';
import { newHttpCounts } from './counts.ts';
import { type DeviceLedger, pollOf } from './device-ledger.ts';
import { registerDocs } from './docs.ts';
import { handleError } from './error-handler.ts';
import type { Group } from './errors.ts';
import type { AnswerFeed } from './feeds/answer.ts';
import { MALFORMED_LIST } from './feeds/refusals.ts';
import { feedRoutes, type OnPoll, polledShortcut, registerPolled } from './feeds/routes.ts';
import { type Readiness, registerHealth } from './health.ts';
import { identifyByKey } from './manage/identify.ts';
import { registerManage } from './manage/routes.ts';
import { type MetricsPage, registerMetrics } from './metrics.ts';
import { requestCount } from './request-watch.ts';
import { groupOf, unhandled } from './routes.ts';
import { type AnswerRules, rulesRoutes } from './rules/answer.ts';
import { closeServer, createHttpServer, refuseConnection } from './server.ts';
import { bodyBudget } from './signals/body-budget.ts';
import { registerSignals } from './signals/routes.ts';
import type { SubmitSignals } from './signals/submit.ts';
import { clientAddress } from './source.ts';
import { namedTrace, requestTraces } from './traces.ts';

/** What the HTTP layer is given by the composition root. */
export interface AppParts {
  readonly settings: {
    /** Networks of proxies whose forwarded headers count. */
    readonly trustProxy: readonly string[];
    /** Requests per key and minute; 0 = no limit. */
    readonly rateLimitSignals: number;
    readonly rateLimitFeeds: number;
    readonly rateLimitManage: number;
    /** Request bodies in memory at one time, MiB. */
    readonly bodyBudgetMb: number;
    /** Open connections, in all and from one address. */
    readonly maxConnections: number;
    readonly maxConnectionsPerAddress: number;
    /** The address that clients use, for the API documentation. */
    readonly baseUrl: string | undefined;
    /** Whether the console is served beside the management API. */
    readonly console: boolean;
  };
  readonly authenticator: Authenticator;
  /** undefined where this process does not take signals. */
  readonly submitSignals: SubmitSignals | undefined;
  /** undefined where this process does not serve feeds; with them it serves rules, agents and bouncers. */
  readonly answerFeed: AnswerFeed | undefined;
  readonly answerRules: AnswerRules | undefined;
  readonly answerAgent: AnswerAgent | undefined;
  readonly bouncers: BouncerEndpoints | undefined;
  /** undefined where this process does not manage. */
  readonly manage?: ManagePorts | undefined;
  readonly readiness: Readiness;
  /** Whether the process is about to stop. */
  readonly draining: () => boolean;
  /** ms since 1970, and ms of the monotonic clock. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** Where what is done is counted. */
  readonly counts?: HttpCounts;
  /** undefined where nobody reads metrics: then requests are not timed. */
  readonly metrics?: MetricsPage | undefined;
  /** undefined: plain HTTP. */
  readonly tls?: TlsSource | undefined;
  /** Where polls are counted by workspace. */
  readonly activity?: ActivityCounter | undefined;
  /** undefined where nobody looks at what polls. */
  readonly devices?: Pick<DeviceLedger, 'note'> | undefined;
  /** undefined: requests are not logged. */
  readonly access?: AccessLog | undefined;
  /** undefined: requests are no steps of traces. */
  readonly tracer?: Tracer | undefined;
  readonly logger: FastifyBaseLogger;
}

/** How long an open request may neither send nor take a byte, ms. */
const STALLED = 30_000;
/** A list name has 200 characters at most, each up to 12 when encoded. */
const MAX_PARAM_LENGTH = 2400;

/** No route has a schema of Fastify's: what would compile them is not loaded. */
const unused = () => {
  throw new Error('routes have no schemas');
};
const NO_SCHEMAS = { compilersFactory: { buildValidator: unused, buildSerializer: unused } };

/** The HTTP application of the roles that this process runs: signals, feeds, management, health and the API documentation. */
export function createApp(parts: AppParts): FastifyInstance {
  const { settings, authenticator, submitSignals, answerFeed, answerRules, answerAgent, bouncers } = parts;
  const { readiness, draining, now, monotonic, logger } = parts;
  const { counts = newHttpCounts(), metrics, tls, manage, devices, access, tracer, activity } = parts;
  const traces = tracer && requestTraces(tracer);
  const watches = [...(access ? [access] : []), ...(metrics ? [requestCount(counts)] : []), ...(traces ? [traces.watch] : [])];
  const addressOf = clientAddress(settings.trustProxy);
  const identify = (request: IncomingMessage, keyId: string) => access?.identify(request, keyId);
  const notePoll: OnPoll = (request, key, answered, at) => {
    identify(request, key.keyId);
    activity?.poll(key.workspaceId, answered.status);
    devices?.note(key, pollOf(request, addressOf(request), answered), at?.wall);
  };
  const onKey = ({ raw }: Asker, keyId: string) => raw && identify(raw, keyId);
  const gateOf = (group: Group, perMinute: number) => {
    const onLimit = () => {
      counts.limited[`${group}_requests`] += 1;
    };
    return gate(group, authenticator, rateLimiter(perMinute), monotonic, onLimit, onKey);
  };
  const report = (err: unknown) => logger.error({ err }, 'a request failed');
  const budget = bodyBudget(settings.bodyBudgetMb * 1024 * 1024, LIMITS.batchBytes, counts);
  const onBusy = () => {
    counts.limited.body_bytes += 1;
  };
  const traceOf = traces?.traceOf ?? namedTrace;
  const signals = submitSignals && { gate: gateOf('signal', settings.rateLimitSignals), budget, submit: submitSignals, onBusy, traceOf };
  const polledGate = (group: Group) => gateOf(group, settings.rateLimitFeeds);
  const feedGate = polledGate('feed');
  const polled = [
    answerFeed && feedRoutes(feedGate, answerFeed),
    answerAgent && agentRoutes(polledGate('agent'), answerAgent),
    answerRules && rulesRoutes(polledGate('rules'), answerRules),
  ].filter((endpoint) => endpoint !== undefined);

  const bouncerGate = polledGate('bouncer');
  const shortcuts = [
    ...(polled.length > 0 ? [polledShortcut(polled, report, notePoll)] : []),
    ...(bouncers ? [bouncerShortcut(bouncerGate, bouncers, addressOf, report, identify)] : []),
  ];
  const limitConnections = connectionLimiter(
    {
      most: settings.maxConnections,
      mostPerAddress: settings.maxConnectionsPerAddress,
      unlimited: [...THIS_MACHINE, ...settings.trustProxy],
      stalled: STALLED,
    },
    seldom(monotonic, (line) => logger.warn(line)),
    counts,
  );
  const servers: Server[] = [];
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (parent) => parent,
    trustProxy: settings.trustProxy.length > 0 ? [...settings.trustProxy] : false,
    serverFactory(handler) {
      const server = createHttpServer({ handler, shortcuts, draining, watches, clocks: { now, monotonic }, tls });
      limitConnections(server);
      servers.push(server);
      return server;
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    schemaController: NO_SCHEMAS,
    frameworkErrors: (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
      refuseAddress(error, request, reply).catch((failure) => handleError(failure, request, reply));
    },
    clientErrorHandler: refuseConnection,
  });
  /** Refuses an address that cannot be decoded; below that of feeds the key is judged first (spec 5.1). */
  async function refuseAddress(error: FastifyError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { raw, headers, url } = request;
    if (answerFeed === undefined || error.code !== 'FST_ERR_BAD_URL' || groupOf(url) !== 'feed') return handleError(error, request, reply);
    const verdict = await feedGate.admit({ ip: addressOf(raw), headers, raw });
    send(reply, errorAnswer('feed', 'status' in verdict ? verdict : MALFORMED_LIST));
  }
  app.addHook('preClose', async () => {
    await Promise.all(servers.filter(({ listening }) => listening).map(closeServer));
  });

  leaveBodies(app);
  const own = [...(signals ? (['signal'] as const) : []), ...(manage ? (['manage'] as const) : [])];
  const served = [...own, ...polled.map(({ group }) => group), ...(bouncers ? (['bouncer'] as const) : [])];
  answerErrors(app, served);
  if (signals !== undefined) registerSignals(app, signals);
  registerPolled(app, polled, notePoll);
  if (bouncers !== undefined) registerBouncers(app, bouncerGate, bouncers, addressOf);
  if (manage !== undefined) {
    const manageGate = gateOf('manage', settings.rateLimitManage);
    const secure = tls !== undefined || settings.baseUrl?.startsWith('https:') === true;
    const sessions = settings.console ? consoleSessions({ gate: manageGate, store: manage.store, now: manage.now, secure }) : undefined;
    if (sessions !== undefined) registerConsole(app, { sessions, budget });
    const byKey = identifyByKey(manageGate);
    registerManage(app, { identify: sessions ? identifyByEither(byKey, sessions) : byKey, budget, ports: manage, onBusy });
  }
  registerHealth(app, readiness);
  registerDocs(app, {
    baseUrl: settings.baseUrl,
    console: manage !== undefined && settings.console,
    prepare: (pages) => answerErrors(pages, served),
  });
  if (metrics?.token !== undefined) registerMetrics(app, metrics);
  return app;
}

/** Bodies of any content type, or none, are left to the routes that read them. */
function leaveBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _body, done) => done(null));
}

/** Answers errors, and 404 and 405: at once to requests that no route takes, else when a route finds nothing (a file of the documentation). */
function answerErrors(app: FastifyInstance, served: readonly Group[]): void {
  app.setErrorHandler(handleError);
  const answer = (request: FastifyRequest, reply: FastifyReply) =>
    send(reply, errorAnswer(groupOf(request.url), unhandled(request.url, served)));
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) answer(request, reply);
    else done();
  });
  app.setNotFoundHandler(answer);
}
