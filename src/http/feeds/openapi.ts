import { exampleBody } from '../../document/formats/example.ts';
import { FORMAT_ALIASES, FORMAT_NAMES, FORMATS } from '../../document/formats/table.ts';
import { DEFAULT_ENTRY_LIMIT, DEFAULT_VARIANT, FAMILIES } from '../../document/variant.ts';
import { Type } from '../../json-schema.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';
import { CHALLENGES } from '../auth/credentials.ts';
import { type ApiGroup, BASIC, BEARER, errorResponse, header, methods } from '../docs/openapi.ts';
import { readFeedQuery } from './query.ts';
import { otherFeed } from './refusals.ts';

const DESCRIPTION = `A workspace's access rules as a list of IP networks for network appliances. Addresses, countries and ASNs become
networks, which are deduplicated, coalesced and sorted, IPv4 before IPv6. A feed is rebuilt at most once every 30 seconds.`;

/** The body of every feed error (spec 7.3). */
export const FeedError = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String(),
    details: Type.Unsafe<object>({
      type: 'object',
      description: 'Empty when there is nothing to add.',
      properties: {
        supported: { type: 'array', items: { type: 'string' }, description: '400: the formats.' },
        lists: {
          type: 'array',
          maxItems: MOST_DETAILS,
          items: { type: 'string', format: 'uuid' },
          description: '409: lists of that name.',
        },
        entries: { type: 'integer', description: '413: how many networks the feed has.' },
        limit: { type: 'integer', description: '413: how many it may have.' },
        hint: { type: 'string', description: '413: what would help.' },
      },
    }),
  },
  { title: 'FeedError' },
);

const parameter = (name: string, allowed: readonly string[], description: string, fallback?: string) => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string', enum: allowed, ...(fallback !== undefined && { default: fallback }) },
});
export const condition = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  description,
  schema: { type: 'string' },
  example,
});

export const ETAG = '"4f2a9c1e7b3d5f60"';
export const DATE = 'Fri, 20 Nov 2026 10:00:00 GMT';

/** The formats as a list in Markdown: name, aliases, what the body looks like. */
const FORMAT_LIST = FORMAT_NAMES.map((name) => {
  const { aliases, description } = FORMATS[name];
  const also = aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
  return `- \`${name}\`${also}: ${description}`;
}).join('\n');

const PARAMETERS = [
  parameter('format', [...FORMAT_NAMES, ...FORMAT_ALIASES.keys()], `Output format:\n\n${FORMAT_LIST}`, DEFAULT_VARIANT.format),
  parameter('family', FAMILIES, 'Address family published.', DEFAULT_VARIANT.family),
  parameter(
    'action',
    ACCESS_ACTIONS,
    'The deny list, in which protected networks never are, or the never-block list.',
    DEFAULT_VARIANT.action,
  ),
  parameter('checksum', ['md5'], 'Return the MD5 digest of the feed body instead of the feed.'),
  condition('If-None-Match', 'Entity tags; takes precedence over If-Modified-Since.', ETAG),
  condition('If-Modified-Since', 'An HTTP date.', DATE),
  condition('Accept-Encoding', 'gzip compresses the body, which then has its own ETag.', 'gzip'),
];

export const LIMIT_HEADERS = {
  'X-Feed-Entry-Count': header('Number of networks in the feed.', '3'),
  'X-Feed-Entry-Limit': header("The feed's entry cap.", String(DEFAULT_ENTRY_LIMIT)),
  'X-Feed-Stale-Since': header('Only while the store does not answer: when the feed was last known to be current.', DATE),
};
export const FEED_HEADERS = {
  ETag: header('Strong validator; differs per format, family, action and content coding.', ETAG),
  'Last-Modified': header('When the current content first appeared.', DATE),
  'Cache-Control': header('How long the answer may be kept.', 'private, max-age=30, must-revalidate'),
  Vary: header('What else the answer depends on.', 'Accept-Encoding, Authorization'),
  ...LIMIT_HEADERS,
};

const text = (examples: Record<string, string>) => ({
  schema: { type: 'string' },
  examples: Object.fromEntries(Object.entries(examples).map(([summary, value]) => [summary, { summary, value }])),
});

/** Each media type with an example of every format that has it; a digest is text like most. */
function bodies() {
  const examples: Record<string, Record<string, string>> = {};
  for (const name of FORMAT_NAMES) {
    const format = FORMATS[name];
    examples[format.mediaType] = { ...examples[format.mediaType], [name]: exampleBody(format, Date.parse(DATE) / 1000) };
  }
  examples['text/plain'] = { ...examples['text/plain'], checksum: 'd41d8cd98f00b204e9800998ecf8427e' };
  return Object.fromEntries(Object.entries(examples).map(([type, each]) => [type, text(each)]));
}

const feedFault = (query: string) => {
  const fault = readFeedQuery(query);
  if (!('status' in fault)) throw new Error(`${query} is no fault`);
  return fault;
};

const responses = {
  200: {
    description: 'The feed, complete. The body is empty, or the header of the format only, when no network matches.',
    headers: { ...FEED_HEADERS, 'Content-Encoding': header('gzip when the body is compressed.', 'gzip') },
    content: bodies(),
  },
  304: { description: 'The feed is unchanged; no body.', headers: FEED_HEADERS },
  400: errorResponse('feed', FeedError, 'Unsupported parameter, or malformed request.', {
    'unsupported format': feedFault('format=xml'),
    'unsupported family': feedFault('family=v5'),
    'repeated parameter': feedFault('action=block&action=allow'),
    'malformed request': { status: 400, message: 'Malformed request' },
  }),
  401: errorResponse(
    'feed',
    FeedError,
    'Invalid or missing API key, or a key without organization or workspace.',
    { 'no valid key': { status: 401 } },
    { 'WWW-Authenticate': header('How to authenticate; one header per scheme.', CHALLENGES.feed.join(', ')) },
  ),
  402: errorResponse('feed', FeedError, 'The subscription is not active.', { 'subscription inactive': { status: 402 } }),
  403: errorResponse('feed', FeedError, 'The key is valid but not permitted.', {
    'no permission': { status: 403, message: 'The API key does not have the permission feed:read' },
    'another list': otherFeed({ listId: '0195a3c0-0000-7000-8000-000000000001' }),
    'another feed': otherFeed({ listId: null }),
  }),
  405: errorResponse(
    'feed',
    FeedError,
    'Another method than GET or HEAD.',
    { 'wrong method': { status: 405, message: 'Method not allowed, use GET or HEAD' } },
    { Allow: header('The methods of the address.', 'GET, HEAD') },
  ),
  412: errorResponse('feed', FeedError, 'If-Match or If-Unmodified-Since is not met.', {
    'precondition failed': { status: 412, message: 'A precondition of the request is not met' },
  }),
  413: errorResponse(
    'feed',
    FeedError,
    'The feed exceeds its entry limit; it is never truncated.',
    {
      'too many entries': {
        status: 413,
        message: 'The feed exceeds the maximum number of entries',
        details: { entries: 214_310, limit: DEFAULT_ENTRY_LIMIT, hint: 'Narrow the rules or raise max_entries of the list' },
      },
    },
    LIMIT_HEADERS,
  ),
  429: errorResponse(
    'feed',
    FeedError,
    'Too many requests of this key, or failed authentications from this address.',
    { 'rate limit': { status: 429 } },
    { 'Retry-After': header('Seconds to wait.', '1') },
  ),
  500: errorResponse('feed', FeedError, 'Internal server error.', { 'server error': { status: 500 } }),
};

const LIST_RESPONSES = {
  404: errorResponse('feed', FeedError, 'No such access-rules list.', {
    'unknown list': { status: 404, message: 'No such access-rules list' },
  }),
  409: errorResponse('feed', FeedError, 'The name matches more than one list: address it by UUID.', {
    'ambiguous name': {
      status: 409,
      message: 'The name matches more than one access-rules list; use the UUID of one of them',
      details: { lists: ['0195a3c0-0000-7000-8000-000000000001', '0195a3c0-0000-7000-8000-000000000002'] },
    },
  }),
};

export const FEED_API: ApiGroup = {
  title: 'Threat feeds',
  description: DESCRIPTION,
  schemas: [FeedError],
  securitySchemes: { bearer: BEARER, basic: BASIC },
  paths: {
    '/v1/threat/feeds': methods('WorkspaceFeed', "The workspace's access rules", PARAMETERS, responses),
    '/v1/threat/feeds/{list}': methods(
      'ListFeed',
      'One access-rules list, or a feed made of several, whose stored defaults apply where the query says nothing',
      [
        {
          name: 'list',
          in: 'path',
          required: true,
          description: 'UUID or name of the list, or of a feed made of lists.',
          schema: { type: 'string' },
          example: 'edge',
        },
        ...PARAMETERS,
      ],
      { ...responses, ...LIST_RESPONSES },
    ),
  },
};
