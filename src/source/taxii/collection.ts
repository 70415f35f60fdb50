/** Itself, or one of a server, API root or list of collections (SPEC D23.30). */
import { WeirError } from '../../errors.ts';
import { isObject } from '../../signal/normalize.ts';
import { type Ask, isRefused, type Refused } from './ask.ts';

/** Roots examined, and collections named. */
const MOST_ROOTS = 10;
const MOST_NAMED = 20;

interface Collection {
  readonly id: string;
  readonly title: string;
  readonly alias: string | undefined;
  readonly url: URL;
}

const OBJECTS = /^(.*\/collections\/[^/]+)(\/(objects|manifest))?\/?$/;

/** The address of the objects. `wanted`: id, alias or title. Throws FETCH with the available ones. */
export async function objectsUrl(ask: Ask, address: string, wanted: string | undefined): Promise<URL | Refused> {
  const url = new URL(address);
  const [, own] = OBJECTS.exec(url.pathname) ?? [];
  if (own !== undefined) return at(url, `${own}/objects/`);
  const first = await ask(at(url, slashed(url.pathname)));
  if (isRefused(first)) return first;
  const found: Collection[] = [];
  const lists = listsOf(first.json, url);
  if (lists === undefined) found.push(...collectionsOf(first.json, url));
  for (const list of lists ?? []) {
    const answer = await ask(list);
    if (!isRefused(answer)) found.push(...collectionsOf(answer.json, list));
    else if (lists!.length === 1) return answer;
  }
  const matching = wanted === undefined ? found : found.filter(({ id, title, alias }) => [id, title, alias].includes(wanted));
  if (matching.length === 1) return matching[0]!.url;
  const names = found.slice(0, MOST_NAMED).map(({ id, title }) => `${id} (${title})`);
  const advice = names.length === 0 ? 'there is no readable collection' : `choose a collection: ${names.join(', ')}`;
  throw new WeirError('FETCH', `${address}: ${advice}`);
}

function listsOf(json: unknown, url: URL): URL[] | undefined {
  if (!isObject(json)) throw none(url);
  const { api_roots: roots, collections, versions } = json;
  if (Array.isArray(roots))
    return roots.slice(0, MOST_ROOTS).flatMap((root) => {
      const resolved = typeof root === 'string' && URL.canParse(root, url.href) ? new URL(root, url) : undefined;
      return resolved === undefined ? [] : [at(resolved, `${slashed(resolved.pathname)}collections/`)];
    });
  if (Array.isArray(versions)) return [at(url, `${slashed(url.pathname)}collections/`)];
  if (collections === undefined && !/\/collections\/?$/.test(url.pathname)) throw none(url);
  return undefined;
}

function collectionsOf(json: unknown, list: URL): Collection[] {
  const collections = isObject(json) && Array.isArray(json.collections) ? json.collections : [];
  return collections.flatMap((each: unknown) => {
    if (!isObject(each) || typeof each.id !== 'string' || each.can_read === false) return [];
    const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, 200) : undefined);
    const url = at(list, `${slashed(list.pathname)}${encodeURIComponent(each.id)}/objects/`);
    return [{ id: each.id.slice(0, 200), title: text(each.title) ?? 'without a title', alias: text(each.alias), url }];
  });
}

const none = (url: URL) => new WeirError('FETCH', `${url.href}: the answer is neither a server, an API root nor collections of TAXII 2.1`);
const slashed = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

function at(url: URL, path: string): URL {
  const other = new URL(url);
  other.pathname = path;
  return other;
}
