/** Whether the statuses that tests see stand in the API documents (SPEC D46.6). */
import { pathsOf } from '../../src/http/address.ts';
import { ADDRESSES } from '../../src/http/addresses.ts';
import { apiDocument } from '../../src/http/docs/openapi.ts';
import { APIS } from '../../src/http/docs/pages.ts';

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>>>;

const PATHS: Paths = Object.assign({}, ...Object.values(APIS).map((api) => apiDocument(api, ADDRESSES, '').paths));
/** Fixed segments come before variable ones, as in the router. */
const PATTERNS = [...new Set(ADDRESSES.flatMap(pathsOf))]
  .filter((path) => path in PATHS)
  .sort((a, b) => (a.replaceAll('{', '\uffff') < b.replaceAll('{', '\uffff') ? -1 : 1))
  .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));

/** What is wrong with a status; undefined where it is documented, or nothing is at that address. */
export function undocumented(method: string, target: string, status: number): string | undefined {
  const [pathname] = target.split(/[?#]/, 1);
  const path = PATTERNS.find(({ pattern }) => pattern.test(pathname!))?.path;
  const responses = path === undefined ? undefined : PATHS[path]![method.toLowerCase()]?.responses;
  if (responses === undefined || String(status) in responses) return undefined;
  return `${method} ${path} answers ${status}, and its API document has ${Object.keys(responses)}`;
}
