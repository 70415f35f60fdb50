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
import type { PeerLedger } from './auth/peer-ledger.ts';
import { rateLimiter } from './auth/rate-limit.ts';
import { bodyBudget } from './bodies/body-budget.ts';
import { guestBudget } from './bodies/guest-budget.ts';
import { readBouncer } from './bouncers/routes.ts';
import { connectionLimiter, seldom, THIS_MACHINE } from './connections.ts';
import { consolePages } from './console/pages.ts';
import type { People } from './console/people.ts';
import { consoleSessions, identifyByEither, type Sessions } from './console/sessions.ts';
import { signInPages } from './console/sign-in.ts';
import { newHttpCounts } from './counts.ts';
import { type DeviceLedger, pollOf } from './device-ledger.ts';
import { docs } from './docs/docs.ts';
import { enrolments } from './enroll/enroll.ts';
import { origins } from './enroll/origin.ts';
import { isRefusal } from './errors.ts';
import type { DocumentAnswer } from './feeds/headers.ts';
import { GROUP_NAMES, GROUPS, type Group } from './groups.ts';
import type { Served } from './handlers.ts';
import { integrations } from './integrations.ts';
import { identifyByKey } from './manage/identify.ts';
import { type MetricsPage, readers } from './metrics.ts';
import type { AccessLog } from './monitor/access-log.ts';
import { requestCount } from './monitor/request-watch.ts';
import { namedTrace, requestTraces } from './monitor/traces.ts';
import { router } from './router.ts';
import { type Gates, requestServer } from './serve.ts';
import { closeServer, createHttpServer } from './server.ts';
import { clientAddress } from './source.ts';

export interface AppParts extends Omit<Served, 'console' | 'docs' | 'renderMetrics' | 'traceOf' | 'origins' | 'enrolments'> {
  readonly settings: {
    readonly trustProxy: readonly string[];
    /** Per key and minute; 0 = unlimited. */
    readonly rateLimitSignals: number;
    readonly rateLimitFeeds: number;
    readonly rateLimitManage: number;
    readonly bodyBudgetMb: number;
    readonly maxConnections: number;
    readonly maxConnectionsPerAddress: number;
    readonly baseUrl: string | undefined;
    readonly console: boolean;
  };
  readonly authenticator: Authenticator;
  /** undefined: sign-in by key only. */
  readonly people?: People | undefined;
  readonly draining: () => boolean;
  /** ms since 1970, and ms of the monotonic clock. */
  readonly now: () => number;
  readonly monotonic: () => number;
  readonly counts?: HttpCounts;
  /** undefined: requests are not timed. */
  readonly metrics?: MetricsPage | undefined;
  /** undefined: plain HTTP. */
  readonly tls?: TlsSource | undefined;
  readonly activity?: ActivityCounter | undefined;
  readonly devices?: Pick<DeviceLedger, 'note'> | undefined;
  readonly peers?: Pick<PeerLedger, 'note'> | undefined;
  readonly access?: AccessLog | undefined;
  readonly tracer?: Tracer | undefined;
  readonly logger: {
    warn(line: string): void;
    error(about: object, line: string): void;
  };
}

export type ListenTarget =
  | { readonly host: string; readonly port: number; readonly reusePort?: boolean }
  | { readonly fd: number; readonly backlog: number };

export interface App {
  readonly server: Server;
  /** Resolves with the URL; rejects if the port is refused. `reusePort`: shared with other processes. `fd`: a listening socket. */
  listen(where: ListenTarget): Promise<string>;
  /** Resolves after the last response. */
  close(): Promise<void>;
}

/** Sign-ins per address. */
const SIGN_INS = 64;
/** Longest time without progress, ms. */
const STALLED = 30_000;

export function createApp(parts: AppParts): App {
  const { settings, now, monotonic, counts = newHttpCounts(), logger, metrics, tls, activity, devices, bouncers, access, tracer } = parts;
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
  const known = origins(settings.baseUrl, settings.trustProxy);
  const served: Served = {
    ...parts,
    origins: known,
    enrolments: parts.manage && enrolments({ ...parts.manage, gate: groupGates.manage, origins: known }),
    readmit: groupGates.bouncer.readmit,
    traceOf: traces?.traceOf ?? namedTrace,
    console: consoleOf(parts, sessions, groupGates.manage),
    integrations: integrations(),
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
    onPoll({ group }, call, by, answered) {
      if (group === 'bouncer') {
        if (isRefusal(answered)) bouncers?.refused(readBouncer(call, by), answered.status);
        return;
      }
      activity?.poll(by.workspaceId, answered.status);
      devices?.note(by, pollOf(call, group, answered as DocumentAnswer, by), call.at.wall);
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

export const metricsApp = (page: MetricsPage, draining: () => boolean, report: (error: unknown) => void): App =>
  appOn({ renderMetrics: page.render }, [METRICS], { reader: readers(page), draining, report });

interface OpenParts {
  readonly reader?: Gates['reader'];
  readonly draining?: () => boolean;
  readonly report?: (error: unknown) => void;
}

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

function gateOf({ settings, authenticator, access, peers }: AppParts, group: Group, counts: HttpCounts): Gate {
  const onLimit = () => {
    counts.limited[`${group}_requests`]! += 1;
  };
  return gate(group, authenticator, rateLimiter(settings[GROUPS[group].limit]), onLimit, ({ request, ip }, caller) => {
    if (request !== undefined) access?.identify(request, caller.keyId);
    peers?.note(caller, ip);
  });
}

function sessionsOf(parts: AppParts, manageGate: Gate) {
  const { settings, manage, people } = parts;
  if (manage === undefined || !settings.console) return undefined;
  return consoleSessions({ gate: manageGate, store: manage.store, people, now: manage.now, secure: isSecure(parts) });
}

const isSecure = ({ settings, tls }: AppParts) => tls !== undefined || settings.baseUrl?.startsWith('https:') === true;

function consoleOf(parts: AppParts, sessions: Sessions | undefined, gate: Gate) {
  const { people, now } = parts;
  const signIn = people && sessions && signInPages({ people, sessions, gate, now, secure: isSecure(parts) });
  return sessions && consolePages(sessions, people, signIn);
}
