import { KINDS } from '../rule.ts';
import type { Group, HttpFault } from './errors.ts';
import { pathOfKind } from './rules/query.ts';

/** The addresses of the service, their methods, and the group that each belongs to; health belongs to none. */
const ROUTES: readonly { readonly path: RegExp; readonly allow: string; readonly group: Group | undefined }[] = [
  { path: /^\/v[12]\/signal$/, allow: 'POST', group: 'signal' },
  { path: /^\/v1\/threat\/feeds(\/[^/]+)?$/, allow: 'GET, HEAD', group: 'feed' },
  { path: new RegExp(`^/v1/rules/(${KINDS.map(pathOfKind).join('|')})$`), allow: 'GET, HEAD', group: 'rules' },
  { path: /^(\/v1)?\/(config|authcheck)$/, allow: 'GET, HEAD', group: 'agent' },
  { path: /^\/(healthz|readyz)$/, allow: 'GET, HEAD', group: undefined },
];
const GROUPS: readonly (readonly [path: RegExp, group: Group])[] = [
  [/^\/v1\/threat(\/|$)/, 'feed'],
  [/^\/v1\/rules(\/|$)/, 'rules'],
  [/^(\/v1)?\/(config|authcheck)$/, 'agent'],
];

/** The path and query of a request target; a proxy may have sent a whole URL. */
export const targetOf = (url: string): string => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, ''));
const pathOf = (url: string) => targetOf(url).split('?', 1)[0]!;

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
  return { status: 405, message: `Method not allowed, use ${route.allow.replace(', ', ' or ')}`, headers: { Allow: route.allow } };
}
