import findMyWay from 'find-my-way';
import { type Address, nameOf, pathsOf } from './address.ts';
import { ADDRESSES, OTHER } from './addresses.ts';
import type { Answered, Call } from './call.ts';
import type { HttpFault } from './errors.ts';
import type { Group } from './groups.ts';
import type { Served } from './handlers.ts';
import { pathOf } from './target.ts';

export interface Endpoint {
  readonly row: Address;
  readonly answer: (asked: unknown) => Answered;
}

export interface Found extends Pick<Call, 'params' | 'isMalformed' | 'query'> {
  readonly name: string;
  readonly group: Group;
  /** A handler, or 404 and 405, which need no key. */
  readonly endpoint: Endpoint | HttpFault;
}

interface Place {
  readonly name: string;
  readonly group: Group;
  readonly places: readonly string[];
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly refusal: HttpFault;
}

/** A list's name has at most 200 characters, each up to 12 when encoded. */
const MAX_PARAM_LENGTH = 2400;
const NOTHING: HttpFault = { status: 404 };
const NO_PARAMS = Object.freeze({});

/** Addresses without a handler in `served` are 404 but have labels. */
export function router(served: Served, addresses: readonly Address[] = ADDRESSES): (method: string, target: string) => Found {
  const tree = findMyWay({ maxParamLength: MAX_PARAM_LENGTH, querystringParser: (query) => query as never, onBadUrl() {} });
  const byPath = Map.groupBy(
    addresses.flatMap((row) =>
      pathsOf(row)
        .flatMap(withSlash(row))
        .map((path) => ({ path, row })),
    ),
    ({ path }) => path,
  );
  for (const [path, rows] of byPath) {
    // One tree for all methods; `endpoints` has the methods.
    tree.on(
      'GET',
      path.replaceAll(/\{(\w+)\}/g, ':$1'),
      () => {},
      placeOf(
        path,
        rows.map(({ row }) => row),
        served,
      ),
    );
  }

  return (method, target) => {
    const found = tree.find('GET', target) ?? NOWHERE;
    if (found.store === null) return found === NOWHERE ? nowhere(target) : malformed(method, target);
    const { name, group, places, endpoints, refusal } = found.store as Place;
    const params = found.params as Call['params'];
    const isThere = places.every((each) => params[each] !== '');
    const endpoint = isThere ? (endpoints.get(method) ?? refusal) : NOTHING;
    return { name, group, endpoint, params, isMalformed: false, query: String(found.searchParams) };
  };

  function nowhere(target: string): Found {
    return { name: OTHER, group: groupOf(target), endpoint: NOTHING, params: NO_PARAMS, isMalformed: false, query: '' };
  }

  function malformed(method: string, target: string): Found {
    const found = tree.find('GET', pathOf(target).replaceAll('%', '%25'));
    const place = found?.store as Place | null | undefined;
    const { name, group, endpoints, refusal } = place ?? { ...nowhere(target), endpoints: undefined, refusal: NOTHING };
    return { name, group, endpoint: endpoints?.get(method) ?? refusal, params: NO_PARAMS, isMalformed: true, query: '' };
  }
}

/** Scripts append a slash to polled addresses: it is ignored (SPEC D42.2). */
const withSlash =
  ({ isPolled }: Address) =>
  (path: string): string[] =>
    isPolled && path.endsWith('}') ? [path, `${path}/`] : [path];

const NOWHERE = { store: null, params: NO_PARAMS, searchParams: '' };

function placeOf(path: string, rows: readonly Address[], served: Served): Place {
  const endpoints = new Map<string, Endpoint>();
  for (const row of rows) {
    const answer = row.answer(served);
    if (answer === undefined) continue;
    endpoints.set(row.method, { row, answer });
    if (row.method === 'GET' && !rows.some(({ method }) => method === 'HEAD')) endpoints.set('HEAD', { row, answer });
  }
  const [first] = rows as [Address];
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    name: nameOf(first),
    group: first.group ?? 'signal',
    places,
    endpoints,
    refusal: first.isPage ? NOTHING : notAllowed([...endpoints.keys()]),
  };
}

export function notAllowed(methods: readonly string[]): HttpFault {
  if (methods.length === 0) return NOTHING;
  const allow = methods.join(', ');
  return { status: 405, message: `Method not allowed, use ${allow.replace(/, (?=[^,]*$)/, ' or ')}`, headers: { Allow: allow } };
}

const ROOT = /^(?:\/v\d+)?\/[^/]*/;
const rootOf = (path: string): string => ROOT.exec(path)?.[0] ?? '';

/** A 404 has the shape of its neighbours. */
const BY_ROOT = new Map(ADDRESSES.flatMap((row) => pathsOf(row).map((path) => [rootOf(path), row.group] as const)));

export const groupOf = (target: string): Group => BY_ROOT.get(rootOf(pathOf(target))) ?? 'signal';
