import { OPERATIONS } from '../manage/table.ts';
import { KINDS } from '../rule.ts';
import type { Group, HttpFault } from './errors.ts';
import { pathOfKind } from './rules/query.ts';

interface Route {
  readonly path: RegExp;
  /** As metrics call it. */
  readonly name: string;
  readonly allow: string;
  /** undefined for what belongs to none, such as health. */
  readonly group: Group | undefined;
}

/** Where the operations of management are. */
export const MANAGE = '/v1/manage';

/** The addresses of the service, those first that are asked for most. */
const ROUTES: readonly Route[] = [
  { path: /^\/v1\/threat\/feeds$/, name: '/v1/threat/feeds', allow: 'GET, HEAD', group: 'feed' },
  { path: /^\/v1\/threat\/feeds\/[^/]+$/, name: '/v1/threat/feeds/{list}', allow: 'GET, HEAD', group: 'feed' },
  { path: /^\/v1\/signal$/, name: '/v1/signal', allow: 'POST', group: 'signal' },
  { path: /^\/v2\/signal$/, name: '/v2/signal', allow: 'POST', group: 'signal' },
  ...KINDS.map((kind): Route => {
    const name = `/v1/rules/${pathOfKind(kind)}`;
    return { path: new RegExp(`^${name}$`), name, allow: 'GET, HEAD', group: 'rules' };
  }),
  { path: /^(\/v1)?\/config$/, name: '/config', allow: 'GET, HEAD', group: 'agent' },
  { path: /^(\/v1)?\/authcheck$/, name: '/authcheck', allow: 'GET, HEAD', group: 'agent' },
  { path: /^\/v1\/decisions\/stream$/, name: '/v1/decisions/stream', allow: 'GET, HEAD', group: 'bouncer' },
  { path: /^\/v1\/decisions$/, name: '/v1/decisions', allow: 'GET, HEAD', group: 'bouncer' },
  { path: /^\/v1\/usage-metrics$/, name: '/v1/usage-metrics', allow: 'POST', group: 'bouncer' },
  ...Map.groupBy(OPERATIONS, ({ path }) => path)
    .entries()
    .map(([path, operations]): Route => {
      const methods = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      const pattern = new RegExp(`^${MANAGE}${path.replace(/\{\w+\}/g, '[^/]+')}$`);
      return { path: pattern, name: MANAGE + path, allow: methods.join(', '), group: 'manage' };
    }),
  { path: /^\/console\/session$/, name: '/console/session', allow: 'GET, HEAD, POST, DELETE', group: 'manage' },
  { path: /^\/console(\/.*)?$/, name: '/console/', allow: 'GET, HEAD', group: 'manage' },
  { path: /^\/healthz$/, name: '/healthz', allow: 'GET, HEAD', group: undefined },
  { path: /^\/readyz$/, name: '/readyz', allow: 'GET, HEAD', group: undefined },
];
/** What metrics call other addresses: the documentation, their own, and those that are none. */
const OTHER = 'other';
const GROUPS: readonly (readonly [path: RegExp, group: Group])[] = [
  [/^\/v1\/threat(\/|$)/, 'feed'],
  [/^\/v1\/rules(\/|$)/, 'rules'],
  [/^(\/v1)?\/(config|authcheck)$/, 'agent'],
  [/^\/v1\/(decisions|usage-metrics)(\/|$)/, 'bouncer'],
  [/^(\/v1\/manage|\/console)(\/|$)/, 'manage'],
];

/** The path and query of a request target; a proxy may have sent a whole URL. */
export const targetOf = (url: string): string => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, ''));
/** The path of a request target. */
export const pathOf = (url: string): string => splitTarget(targetOf(url))[0];

/** A request target as its path and its query without the question mark. */
export function splitTarget(target: string): [path: string, query?: string] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

const [WORKSPACE_FEED, LIST_FEED] = ROUTES.map(({ name }) => name) as [string, string];

/** The name of the route that a request target belongs to. */
export function routeOf(url: string): string {
  // Polls are most of what the service does, and have little time: no pattern.
  if (url.startsWith(WORKSPACE_FEED)) {
    const next = url[WORKSPACE_FEED.length];
    if (next === undefined || next === '?') return WORKSPACE_FEED;
    if (next === '/') return LIST_FEED;
  }
  const path = pathOf(url);
  for (const { path: pattern, name } of ROUTES) if (pattern.test(path)) return name;
  return OTHER;
}

/** The group whose error bodies an address uses. */
export function groupOf(url: string): Group {
  const path = pathOf(url);
  return GROUPS.find(([known]) => known.test(path))?.[1] ?? 'signal';
}

/** The answer to a request that no route takes: 405 at an address of the groups served here, else 404. Neither needs a key. */
export function unhandled(url: string, served: readonly Group[]): HttpFault {
  const path = pathOf(url);
  const route = ROUTES.find((known) => known.path.test(path) && (known.group === undefined || served.includes(known.group)));
  if (route === undefined) return { status: 404 };
  const methods = route.allow.replace(/, (?=[^,]*$)/, ' or ');
  return { status: 405, message: `Method not allowed, use ${methods}`, headers: { Allow: route.allow } };
}
