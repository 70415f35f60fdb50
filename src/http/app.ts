/** The HTTP application of the roles that a process runs. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../clock.ts';
import type { ActivityCounter } from '../ports/activity.ts';
import type { HttpCounts } from '../ports/http-counts.ts';
import type { TlsSource } from '../ports/tls.ts';
import type { Tracer } from '../ports/trace.ts';
import { LIMITS } from '../signal/limits.ts';
import type { Address } from './address.ts';
import { ADDRESSES, METRICS } from './addresses.ts';
import type { Authenticator } from './auth/authenticator.ts';
import { type Gate, gate } from './auth/gate.ts';
import { rateLimiter } from './auth/rate-limit.ts';
import { bodyBudget } from './bodies/body-budget.ts';
import { guestBudget } from './bodies/guest-budget.ts';
import { connectionLimiter, seldom, THIS_MACHINE } from './connections.ts';
import { consolePages } from './console/pages.ts';
import type { People } from './console/people.ts';
import { consoleSessions, identifyByEither, type Sessions } from './console/sessions.ts';
import { signInPages } from './console/sign-in.ts';
import { newHttpCounts } from './counts.ts';
import { type DeviceLedger, pollOf } from './device-ledger.ts';
import { docs } from './docs/docs.ts';
import type { DocumentAnswer } from './feeds/headers.ts';
import { GROUP_NAMES, GROUPS, type Group } from './groups.ts';
import type { Served } from './handlers.ts';
import { identifyByKey } from './manage/identify.ts';
import { type MetricsPage, readers } from './metrics.ts';
import type { AccessLog } from './monitor/access-log.ts';
import { requestCount } from './monitor/request-watch.ts';
import { namedTrace, requestTraces } from './monitor/traces.ts';
import { router } from './router.ts';
import { type Gates, requestServer } from './serve.ts';
import { closeServer, createHttpServer } from './server.ts';
import { clientAddress } from './source.ts';

/** What the HTTP layer is given by the composition root. */
export interface AppParts extends Omit<Served, 'console' | 'docs' | 'renderMetrics' | 'traceOf'> {
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
  /** What people sign in to the console with; undefined: keys alone do. */
  readonly people?: People | undefined;
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
  readonly logger: {
    warn(line: string): void;
    error(about: object, line: string): void;
  };
}

/** A server and what it answers. */
export interface App {
  readonly server: Server;
  /** Resolves with the URL once it listens; rejects when it cannot. `reusePort`: beside other processes that say so. */
  listen(where: { readonly host: string; readonly port: number; readonly reusePort?: boolean }): Promise<string>;
  /** Resolves when the last answer is sent. */
  close(): Promise<void>;
}

/** Sign-ins that one address may be sending at a time. */
const SIGN_INS = 64;
/** How long an open request may neither send nor take a byte, ms. */
const STALLED = 30_000;

/** The application: signals, what is polled, management, the console, health and the API documentation. */
export function createApp(parts: AppParts): App {
  const { settings, now, monotonic, counts = newHttpCounts(), logger, metrics, tls, activity, devices, access, tracer } = parts;
  const addressOf = clientAddress(settings.trustProxy);
  const traces = tracer && requestTraces(tracer);
  const budget = bodyBudget(settings.bodyBudgetMb * 1024 * 1024, LIMITS.batchBytes, counts);

  const groupGates = Object.fromEntries(GROUP_NAMES.map((group) => [group, gateOf(parts, group, counts)])) as Record<Group, Gate>;
  const sessions = sessionsOf(parts, groupGates.manage);
  const byKey = identifyByKey(groupGates.manage);
  const gates: Gates = {
    key: (call, { group }) => groupGates[group!].admit(call),
    person: sessions === undefined ? byKey : identifyByEither(byKey, sessions),
    reader: metrics === undefined ? () => null : readers(metrics),
    all: () => null,
  };
  const served: Served = {
    ...parts,
    traceOf: traces?.traceOf ?? namedTrace,
    console: consoleOf(parts, sessions, groupGates.manage),
    docs: docs({ baseUrl: settings.baseUrl, console: sessions !== undefined }),
    renderMetrics: metrics?.token === undefined ? undefined : metrics.render,
  };
  const handler = requestServer({
    find: router(served, [...ADDRESSES, METRICS]),
    gates,
    budget,
    guests: guestBudget(SIGN_INS),
    clocks: { now, monotonic },
    addressOf,
    watches: [...(access ? [access] : []), ...(metrics ? [requestCount(counts)] : []), ...(traces ? [traces.watch] : [])],
    onBusy() {
      counts.limited.body_bytes += 1;
    },
    onPoll(call, by, answered) {
      activity?.poll(by.workspaceId, answered.status);
      devices?.note(by, pollOf(call.request, call.ip, answered as DocumentAnswer), call.at.wall);
    },
    report: (err, { method, route }) => logger.error({ err, method, route }, 'a request failed'),
  });
  const server = createHttpServer({ handler, draining: parts.draining, tls });
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
  limitConnections(server);
  return appOf(server, tls === undefined ? 'http' : 'https');
}

/** The page of metrics and nothing else, for a port of its own. */
export const metricsApp = (page: MetricsPage, draining: () => boolean, report: (error: unknown) => void): App =>
  appOn({ renderMetrics: page.render }, [METRICS], { reader: readers(page), draining, report });

interface OpenParts {
  readonly reader?: Gates['reader'];
  readonly draining?: () => boolean;
  readonly report?: (error: unknown) => void;
}

/** An application of a few addresses that need no key. */
export function appOn(served: Served, addresses: readonly Address[], { reader, draining, report }: OpenParts = {}): App {
  const nobody = () => ({ status: 401 });
  const handler = requestServer({
    find: router(served, addresses),
    gates: { key: nobody, person: nobody, reader: reader ?? nobody, all: () => null },
    budget: bodyBudget(0, 0),
    clocks: systemClock,
    addressOf: clientAddress([]),
    report: report ?? (() => {}),
  });
  return appOf(createHttpServer({ handler, draining: draining ?? (() => false) }), 'http');
}

const appOf = (server: Server, scheme: string): App => ({
  server,
  async listen(where) {
    server.listen(where);
    await once(server, 'listening');
    const { address, family, port: bound } = server.address() as AddressInfo;
    return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
  },
  close: async () => {
    if (server.listening) await closeServer(server);
  },
});

function gateOf({ settings, authenticator, access }: AppParts, group: Group, counts: HttpCounts): Gate {
  const onLimit = () => {
    counts.limited[`${group}_requests`]! += 1;
  };
  return gate(group, authenticator, rateLimiter(settings[GROUPS[group].limit]), onLimit, ({ request }, keyId) => {
    if (request !== undefined) access?.identify(request, keyId);
  });
}

/** Who is signed in to the console; undefined where there is none. */
function sessionsOf(parts: AppParts, manageGate: Gate) {
  const { settings, manage, people } = parts;
  if (manage === undefined || !settings.console) return undefined;
  return consoleSessions({ gate: manageGate, store: manage.store, people, now: manage.now, secure: isSecure(parts) });
}

/** Whether clients reach the service over TLS only. */
const isSecure = ({ settings, tls }: AppParts) => tls !== undefined || settings.baseUrl?.startsWith('https:') === true;

function consoleOf(parts: AppParts, sessions: Sessions | undefined, gate: Gate) {
  const { people, now } = parts;
  const signIn = people && sessions && signInPages({ people, sessions, gate, now, secure: isSecure(parts) });
  return sessions && consolePages(sessions, people, signIn);
}
