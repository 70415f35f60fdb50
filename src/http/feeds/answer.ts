import type { Caller } from '../../account/caller.ts';
import { hasCode } from '../../errors.ts';
import type { FeedCache, Found } from '../../feed/serve/cache.ts';
import type { Representation } from '../../feed/serve/representation.ts';
import { CHALLENGES } from '../auth/credentials.ts';
import type { HttpFault } from '../errors.ts';
import { type Conditions, evaluate, formatHttpDate } from './conditional.ts';
import { negotiateCoding } from './encoding.ts';
import { type FeedOptions, readFeedQuery } from './query.ts';

/** An authenticated GET or HEAD of a feed. `HEAD` is answered as `GET` is; whoever sends the answer leaves out its body. */
interface FeedRequest {
  readonly caller: Caller;
  /** The list's path segment as it was sent, percent-encoded; null for the workspace's feed. */
  readonly list: string | null;
  /** The query as it was sent, without its question mark. */
  readonly query: string;
  readonly headers: Conditions & { readonly 'accept-encoding'?: string | undefined };
}

/** A successful answer: name, value, name, value, … and the whole body, absent on 304. */
export interface FeedAnswer {
  readonly status: 200 | 304;
  readonly headers: readonly string[];
  readonly body: Uint8Array | string | undefined;
}

/** Answers at once whenever the feed stands ready in memory. */
export type AnswerFeed = (request: FeedRequest) => FeedAnswer | HttpFault | Promise<FeedAnswer | HttpFault>;

const FEED_PATH = '/v1/threat/feeds';

/** The raw list segment and query of a feed's request target; undefined for any other path. */
export function readFeedTarget(target: string): Pick<FeedRequest, 'list' | 'query'> | undefined {
  if (!target.startsWith(FEED_PATH)) return undefined;
  const mark = target.indexOf('?', FEED_PATH.length);
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  if (path.length === FEED_PATH.length) return { list: null, query };
  const list = path.slice(FEED_PATH.length + 1);
  return path[FEED_PATH.length] === '/' && list !== '' && !list.includes('/') ? { list, query } : undefined;
}

const OTHER_LIST: HttpFault = { status: 403, message: 'The API key is bound to one access-rules list' };
const PRECONDITION_FAILED: HttpFault = { status: 412, message: 'A precondition of the request is not met' };

/** The feed endpoints (spec 4.3, 4.4), behind authentication. `report` is told what no client is. */
export function feedEndpoint(cache: FeedCache, now: () => number, report: (error: Error) => void): AnswerFeed {
  return (request) => {
    const { caller } = request;
    if (caller.listId !== null && request.list === null) return OTHER_LIST;
    const list = decodeSegment(request.list);
    if (list === undefined) return { status: 400, message: 'The list is not valid percent-encoding' };
    const options = readFeedQuery(request.query);
    if ('status' in options && caller.listId === null) return options;
    const query = { workspaceId: caller.workspaceId, list, variant: 'status' in options ? {} : options.variant, boundTo: caller.listId };
    const found = cache.hit(query);
    return (found && answer(found)) ?? serve().catch(failed);

    async function serve(): Promise<FeedAnswer | HttpFault> {
      for (let withBody = false; ; withBody = true) {
        const answered = await answer(await cache.find(query, withBody));
        if (answered !== undefined) return answered;
      }
    }

    /** undefined when the body has to be built again. */
    function answer(found: Found): FeedAnswer | HttpFault | Promise<FeedAnswer | HttpFault> | undefined {
      if (found.kind === 'forbidden') return OTHER_LIST;
      if ('status' in options) return options;
      return found.kind === 'feed' ? send(found, options) : REFUSALS[found.kind](found as never);
    }

    function send(found: Representation, { checksum }: FeedOptions): FeedAnswer | HttpFault | Promise<FeedAnswer | HttpFault> | undefined {
      const coding = checksum ? 'md5' : negotiateCoding(request.headers['accept-encoding']);
      const { ok, notModified } = readyAnswers(found, coding);
      const conditions = found.sharesInstant ? { ...request.headers, 'if-modified-since': undefined } : request.headers;
      const status = evaluate(conditions, { etag: found.etags[coding], lastModified: found.lastModified }, now);
      if (status === 304) return notModified;
      if (status === 412) return PRECONDITION_FAILED;
      if (coding === 'md5') return withBody(ok, found.md5);
      const body = cache.body(found, coding);
      return body instanceof Promise ? body.then((bytes) => withBody(ok, bytes)).catch(failed) : body && withBody(ok, body);
    }
  };

  function failed(error: Error): HttpFault {
    // The cache has told already why it has nothing to serve.
    if (!hasCode(error, 'FEED_UNAVAILABLE')) report(error);
    return { status: 500 };
  }
}

/** What is answered when there is no feed to send. */
const REFUSALS: { readonly [K in Exclude<Found['kind'], 'feed'>]: (found: Extract<Found, { kind: K }>) => HttpFault } = {
  unknown_list: () => ({ status: 404, message: 'No such access-rules list' }),
  ambiguous: ({ lists }) => ({
    status: 409,
    message: 'The name matches more than one access-rules list; use the UUID of one of them',
    details: { lists },
  }),
  forbidden: () => OTHER_LIST,
  no_workspace: () => ({ status: 401, headers: { 'www-authenticate': CHALLENGES.feed } }),
  too_large: ({ entryCount, entryLimit, hint, staleSince }) => ({
    status: 413,
    message: 'The feed exceeds the maximum number of entries',
    details: { entries: entryCount, limit: entryLimit, hint },
    headers: Object.fromEntries(feedHeaders(entryCount, entryLimit, staleSince)),
  }),
};

type Pairs = readonly (readonly [name: string, value: string])[];
type AnswerForm = keyof Representation['etags'];

/** What a representation is answered with: the headers of a 200 but for its length, and the whole 304. */
interface ReadyAnswers {
  readonly ok: readonly string[];
  readonly notModified: FeedAnswer;
}

const READY = new WeakMap<Representation, Partial<Record<AnswerForm, ReadyAnswers>>>();

function readyAnswers(found: Representation, form: AnswerForm): ReadyAnswers {
  let ready = READY.get(found);
  if (ready === undefined) {
    ready = {};
    READY.set(found, ready);
  }
  ready[form] ??= makeReady(found, form);
  return ready[form];
}

function makeReady(found: Representation, form: AnswerForm): ReadyAnswers {
  const common: Pairs = [
    ['ETag', found.etags[form]],
    ['Last-Modified', formatHttpDate(found.lastModified)],
    ['Cache-Control', 'private, max-age=30, must-revalidate'],
    ['Vary', 'Accept-Encoding, Authorization'],
    ...feedHeaders(found.entryCount, found.entryLimit, found.staleSince),
  ];
  const type = form !== 'md5' && found.variant.format === 'csv_indicator' ? 'text/csv' : 'text/plain';
  const own: Pairs = [['Content-Type', `${type}; charset=utf-8`], ...(form === 'gzip' ? ([['Content-Encoding', 'gzip']] as const) : [])];
  return { ok: [...common, ...own].flat(), notModified: { status: 304, headers: common.flat(), body: undefined } };
}

function feedHeaders(entryCount: number, entryLimit: number, staleSince: number | undefined): Pairs {
  return [
    ['X-Feed-Entry-Count', String(entryCount)],
    ['X-Feed-Entry-Limit', String(entryLimit)],
    ...(staleSince === undefined ? [] : ([['X-Feed-Stale-Since', formatHttpDate(staleSince)]] as const)),
  ];
}

const withBody = (headers: readonly string[], body: Uint8Array | string): FeedAnswer => ({
  status: 200,
  headers: [...headers, 'Content-Length', String(body.length)],
  body,
});

/** A path segment without its percent-encoding; undefined when that is malformed. */
function decodeSegment(segment: string | null): string | null | undefined {
  if (segment === null || !segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
