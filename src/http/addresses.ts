import { OPERATIONS } from '../manage/table.ts';
import { KINDS } from '../rule.ts';
import { type Address, row } from './address.ts';
import { AUTHENTICATED, readAuthcheck, readConfig } from './agent/read.ts';
import { decisionsFrom, GOOD_KEY, readBouncer, readUsage, USAGE_BODY } from './bouncers/routes.ts';
import { readSignIn, SIGN_IN } from './console/pages.ts';
import { LOG_OUT, readLogOut } from './console/sign-in.ts';
import { readFeed } from './feeds/read.ts';
import type { Served } from './handlers.ts';
import { alive, ready } from './health.ts';
import { bodyOf, done, MANAGE, mayNot, readOperation } from './manage/routes.ts';
import { metricsAnswer } from './metrics.ts';
import { pathOfKind } from './rules/query.ts';
import { readRules } from './rules/read.ts';
import { BATCH, readSignals, submitted } from './signals/routes.ts';

/** Metrics label of routes that are not counted (docs, /metrics, 404). */
export const OTHER = 'other';

const itself = <T>(call: T): T => call;

const POLLED = { method: 'GET', gate: 'key', isPolled: true, answer: ({ answerDocument }: Served) => answerDocument } as const;
const FEEDS = { ...POLLED, group: 'feed', needs: 'feed:read', read: readFeed } as const;
const AGENT = { ...POLLED, group: 'agent', needs: 'config:read' } as const;
const BOUNCER = { group: 'bouncer', gate: 'key', needs: 'feed:read' } as const;
const CONSOLE = { group: 'manage', gate: 'all', read: itself } as const;
const OPEN = { method: 'GET', group: undefined, gate: 'all', read: itself } as const;

const ENROLL = { path: '/enroll/{code}', group: undefined, gate: 'all', read: itself } as const;

export const ADDRESSES: readonly Address[] = [
  row({ ...FEEDS, path: '/v1/threat/feeds' }),
  row({ ...FEEDS, path: '/v1/threat/feeds/{list}' }),
  ...([1, 2] as const).map((version) =>
    row({
      path: `/v${version}/signal`,
      method: 'POST',
      group: 'signal',
      gate: 'key',
      needs: 'signal:write',
      body: BATCH,
      read: readSignals(version),
      answer: ({ submitSignals, traceOf }) => submitSignals && submitted(submitSignals, traceOf),
    }),
  ),
  ...KINDS.map((kind) =>
    row({ ...POLLED, path: `/v1/rules/${pathOfKind(kind)}`, group: 'rules', needs: 'rules:read', read: readRules(kind) }),
  ),
  // An agent's base URL may contain a path: both forms are served.
  row({ ...AGENT, path: ['/config', '/v1/config'], read: readConfig }),
  row({
    ...AGENT,
    path: ['/authcheck', '/v1/authcheck'],
    read: readAuthcheck,
    answer: ({ answerDocument }) => answerDocument && (() => AUTHENTICATED),
  }),
  ...(['stream', 'current'] as const).flatMap((endpoint) => {
    const path = endpoint === 'stream' ? '/v1/decisions/stream' : '/v1/decisions';
    return [
      row({
        ...BOUNCER,
        path,
        method: 'GET',
        isPolled: true,
        read: readBouncer,
        answer: ({ bouncers, readmit }) => bouncers && decisionsFrom(bouncers[endpoint], readmit),
      }),
      // HEAD only checks the key and does not register the bouncer.
      row({ ...BOUNCER, path, method: 'HEAD', read: itself, answer: ({ bouncers }) => bouncers && (() => GOOD_KEY) }),
    ];
  }),
  row({
    ...BOUNCER,
    path: '/v1/usage-metrics',
    method: 'POST',
    body: USAGE_BODY,
    read: readUsage,
    answer: ({ bouncers }) => bouncers && (({ request, body }) => bouncers.usage(request, body)),
  }),
  ...OPERATIONS.map((operation) =>
    row({
      path: MANAGE + operation.path,
      method: operation.method,
      group: 'manage',
      gate: 'person',
      needs: operation.permission,
      may: mayNot(operation),
      body: bodyOf(operation),
      read: readOperation(operation),
      answer: ({ manage, origins }) => manage && done(operation, manage, origins),
    }),
  ),
  row({ ...CONSOLE, path: '/console/session', method: 'GET', answer: (served) => served.console?.session }),
  row({
    ...CONSOLE,
    path: '/console/session',
    method: 'POST',
    body: SIGN_IN,
    read: readSignIn,
    answer: (served) => served.console?.signIn,
  }),
  row({ ...CONSOLE, path: '/console/session', method: 'DELETE', answer: (served) => served.console?.signOut }),
  row({ ...CONSOLE, path: '/console/sign-in/{provider}', method: 'GET', answer: (served) => served.console?.people?.begin }),
  row({ ...CONSOLE, path: '/console/sign-in/{provider}/callback', method: 'GET', answer: (served) => served.console?.people?.finish }),
  row({
    ...CONSOLE,
    path: '/console/sign-in/{provider}/logout',
    method: 'POST',
    body: LOG_OUT,
    read: readLogOut,
    answer: (served) => served.console?.people?.logOut,
  }),
  row({ ...CONSOLE, path: '/console', name: '/console/', method: 'GET', answer: (served) => served.console?.start }),
  row({ ...CONSOLE, path: '/console/*', name: '/console/', method: 'GET', answer: (served) => served.console?.page }),
  row({ ...CONSOLE, path: '/console/help/*', name: '/console/', method: 'GET', answer: (served) => served.console?.help }),
  row({ ...CONSOLE, path: '/console/files/{version}/*', name: '/console/', method: 'GET', answer: (served) => served.console?.file }),
  row({ ...ENROLL, method: 'GET', answer: ({ enrolments }) => enrolments?.script }),
  row({ ...ENROLL, method: 'POST', answer: ({ enrolments }) => enrolments?.use }),
  row({ ...OPEN, path: '/healthz', answer: () => alive }),
  row({ ...OPEN, path: '/readyz', answer: ({ readiness }) => readiness && ready(readiness) }),
  row({ ...OPEN, path: '/', name: OTHER, isPage: true, answer: ({ docs }) => docs?.start }),
  row({ ...OPEN, path: '/docs/*', name: OTHER, isPage: true, answer: ({ docs }) => docs?.page }),
  row({ ...OPEN, path: '/integrations/*', name: OTHER, isPage: true, answer: ({ integrations }) => integrations }),
];

/** Served on a port of its own, and with a token on the service's port. */
export const METRICS: Address = row({
  ...OPEN,
  path: '/metrics',
  name: OTHER,
  gate: 'reader',
  answer: ({ renderMetrics }) => renderMetrics && metricsAnswer(renderMetrics),
});
