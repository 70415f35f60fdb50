import { OPERATIONS } from '../manage/table.ts';
import { KINDS } from '../rule.ts';
import type { Group, HttpFault } from './errors.ts';
import { pathOfKind } from './rules/query.ts';

interface Route {
  /** As metrics call it. */
  readonly name: string;
  /** Where it is: `{…}` stands for a segment, `*` for any rest. */
  readonly paths: readonly string[];
  readonly allow: string;
  /** undefined for what belongs to none, such as health. */
  readonly group: Group | undefined;
}

/** Where the operations of management are. */
export const MANAGE = '/v1/manage';

const route = (name: string, allow: string, group: Group | undefined, paths: readonly string[] = [name]): Route => ({
  ...{ name, allow, group, paths },
});

/** The addresses of the service. */
const ROUTES: readonly Route[] = [
  route('/v1/threat/feeds', 'GET, HEAD', 'feed'),
  route('/v1/threat/feeds/{list}', 'GET, HEAD', 'feed'),
  route('/v1/signal', 'POST', 'signal'),
  route('/v2/signal', 'POST', 'signal'),
  ...KINDS.map((kind) => route(`/v1/rules/${pathOfKind(kind)}`, 'GET, HEAD', 'rules')),
  route('/config', 'GET, HEAD', 'agent', ['/config', '/v1/config']),
  route('/authcheck', 'GET, HEAD', 'agent', ['/authcheck', '/v1/authcheck']),
  route('/v1/decisions/stream', 'GET, HEAD', 'bouncer'),
  route('/v1/decisions', 'GET, HEAD', 'bouncer'),
  route('/v1/usage-metrics', 'POST', 'bouncer'),
  ...Map.groupBy(OPERATIONS, ({ path }) => path)
    .entries()
    .map(([path, operations]) => {
      const methods = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
      return route(MANAGE + path, methods.join(', '), 'manage');
    }),
  route('/console/session', 'GET, HEAD, POST, DELETE', 'manage'),
  route('/console/', 'GET, HEAD', 'manage', ['/console', '/console/*']),
  route('/healthz', 'GET, HEAD', undefined),
  route('/readyz', 'GET, HEAD', undefined),
];

const ADDRESSES = ROUTES.flatMap((route) => route.paths.map((path) => ({ path, route })));
const isPattern = ({ path }: { readonly path: string }) => /[{*]/.test(path);
const FIXED = new Map(ADDRESSES.filter((address) => !isPattern(address)).map(({ path, route }) => [path, route]));
const PATTERNS = ADDRESSES.filter(isPattern).map(({ path, route }) => {
  const pattern = path.replace(/\{\w+\}/g, '[^/]+').replace('*', '.*');
  return { pattern: new RegExp(`^${pattern}$`), route };
});

/** The route of a path: most have one address, and are found without looking at a pattern. */
const routeAt = (path: string): Route | undefined => FIXED.get(path) ?? PATTERNS.find(({ pattern }) => pattern.test(path))?.route;

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
/** A request target with letters, digits and `-._~` unescaped: escaped they mean the same (RFC 3986, 6.2.2.2). */
export const plainTarget = (url: string): string => (url.includes('%') ? url.replace(UNRESERVED, decodeURIComponent) : url);
/** Not behind an escape that is cut off: what is malformed stays so. */
const UNRESERVED = /(?<!%[\da-f]?)%(?:2[de]|3\d|4[1-9a-f]|5[\da]|5f|6[1-9a-f]|7[\dae])/gi;
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
  return routeAt(pathOf(url))?.name ?? OTHER;
}

/** The group whose error bodies an address uses. */
export function groupOf(url: string): Group {
  const path = pathOf(url);
  return GROUPS.find(([known]) => known.test(path))?.[1] ?? 'signal';
}

/** The answer to a request that no route takes: 405 at an address of the groups served here, else 404. Neither needs a key. */
export function unhandled(url: string, served: readonly Group[]): HttpFault {
  const route = routeAt(pathOf(url));
  if (route === undefined || (route.group !== undefined && !served.includes(route.group))) return { status: 404 };
  const methods = route.allow.replace(/, (?=[^,]*$)/, ' or ');
  return { status: 405, message: `Method not allowed, use ${methods}`, headers: { Allow: route.allow } };
}
