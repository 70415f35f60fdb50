import { exampleBody } from '../../feed/formats/example.ts';
import { FORMAT_ALIASES, FORMAT_NAMES, FORMATS } from '../../feed/formats/table.ts';
import { DEFAULT_ENTRY_LIMIT, DEFAULT_VARIANT } from '../../feed/variant.ts';
import { Type } from '../../json/schema.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';
import type { Address } from '../address.ts';
import { type About, type Api, BASIC, BEARER, type Faults, header, headerParameter, queryParameters } from '../docs/openapi.ts';
import { FEED_PARAMETERS, readFeedQuery } from './query.ts';
import { otherFeed, PRECONDITION_FAILED, refusalOf } from './refusals.ts';

const DESCRIPTION = `A workspace's access rules as a list of IP networks for network appliances. Addresses, countries and ASNs become
networks, which are deduplicated, coalesced and sorted, IPv4 before IPv6. A feed is rebuilt at most once every 30 seconds.`;

/** spec 7.3. */
export const FeedError = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String(),
    details: Type.Unsafe<object>({
      type: 'object',
      description: 'Empty when there is nothing to add.',
      properties: {
        supported: { type: 'array', items: { type: 'string' }, description: '400: the allowed values.' },
        lists: {
          type: 'array',
          maxItems: MOST_DETAILS,
          items: { type: 'string', format: 'uuid' },
          description: '409: the matching lists.',
        },
        entries: { type: 'integer', description: '413: networks in the feed.' },
        limit: { type: 'integer', description: '413: the entry cap.' },
        hint: { type: 'string', description: '413: how to reduce the feed.' },
      },
    }),
  },
  { title: 'FeedError' },
);

export const ETAG = '"4f2a9c1e7b3d5f60"';
export const DATE = 'Fri, 20 Nov 2026 10:00:00 GMT';

const FORMAT_LIST = FORMAT_NAMES.map((name) => {
  const { aliases, description } = FORMATS[name];
  const also = aliases.length === 0 ? '' : ` (also ${aliases.map((alias) => `\`${alias}\``).join(', ')})`;
  return `- \`${name}\`${also}: ${description}`;
}).join('\n');

export const GZIP = headerParameter('Accept-Encoding', 'gzip compresses the body, which then has its own ETag.', 'gzip');
const withDefault = (description: string, fallback: string) => ({ description, schema: { default: fallback } });
const PARAMETERS = [
  ...queryParameters(FEED_PARAMETERS, {
    format: {
      description: `Output format:\n\n${FORMAT_LIST}`,
      schema: { enum: [...FORMAT_NAMES, ...FORMAT_ALIASES.keys()], default: DEFAULT_VARIANT.format },
    },
    family: withDefault('Address family published.', DEFAULT_VARIANT.family),
    action: withDefault('The deny list, without protected networks, or the never-block list.', DEFAULT_VARIANT.action),
    checksum: 'Return the MD5 digest of the feed body instead of the feed.',
    signature: 'Return a signed statement about the feed instead of the feed (SSHSIG).',
  }),
  headerParameter('If-None-Match', 'Entity tags; takes precedence over If-Modified-Since.', ETAG),
  headerParameter('If-Modified-Since', 'An HTTP date.', DATE),
  GZIP,
];

export const LIMIT_HEADERS = {
  'X-Feed-Entry-Count': header('Number of networks in the feed.', '3'),
  'X-Feed-Entry-Limit': header("The feed's entry cap.", String(DEFAULT_ENTRY_LIMIT)),
  'X-Feed-Left-Out': header('If the feed was trimmed to its cap: the removed parts with their entries.', 'firehol;entries=4021'),
  'X-Feed-Stale-Since': header('While the store does not answer: when the feed was last confirmed.', DATE),
};
export const FEED_HEADERS = {
  ETag: header('Strong validator; differs per format, family, action and content coding.', ETAG),
  'Last-Modified': header('First appearance of the current content.', DATE),
  'Cache-Control': header('How long the response may be cached.', 'private, max-age=30, must-revalidate'),
  Vary: header('Further inputs of the response.', 'Accept-Encoding, Authorization'),
  ...LIMIT_HEADERS,
};

const text = (examples: Record<string, string>) => ({
  schema: { type: 'string' },
  examples: Object.fromEntries(Object.entries(examples).map(([summary, value]) => [summary, { summary, value }])),
});

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

export const documentAnswers = (description: string, content: object) => ({
  200: {
    description,
    headers: { ...FEED_HEADERS, 'Content-Encoding': header('gzip when the body is compressed.', 'gzip') },
    content,
  },
  304: { description: 'Unchanged; no body.', headers: FEED_HEADERS },
});

const LISTS = ['0195a3c0-0000-7000-8000-000000000001', '0195a3c0-0000-7000-8000-000000000002'];

export const documentFaults = (refusal: typeof refusalOf): Faults => ({
  412: { says: 'If-Match or If-Unmodified-Since failed.', examples: { 'precondition failed': PRECONDITION_FAILED } },
  413: {
    says: 'The document exceeds its cap; it is never truncated.',
    examples: {
      'too many entries': refusal({
        kind: 'too_large',
        facts: { entryCount: 214_310, entryLimit: DEFAULT_ENTRY_LIMIT, nextExpiry: 0 },
        hint: 'Narrow the rules or raise max_entries of the list',
        staleSince: undefined,
      }),
    },
    headers: LIMIT_HEADERS,
  },
});

export const listFaults = (refusal: typeof refusalOf): Faults => ({
  404: { says: 'No such access-rules list.', examples: { 'unknown list': refusal({ kind: 'unknown_list' }) } },
  409: {
    says: 'The name matches more than one list: address it by UUID.',
    examples: { 'ambiguous name': refusal({ kind: 'ambiguous', lists: LISTS }) },
  },
});

const LIST = {
  name: 'list',
  in: 'path',
  required: true,
  description: 'UUID or name of the list or composed feed.',
  schema: { type: 'string' },
  example: 'edge',
};

function about({ path }: Address): About {
  const ofList = path !== '/v1/threat/feeds';
  const description = 'The complete feed. Without matching networks, the body is empty or has only the header of the format.';
  return {
    id: ofList ? 'getListFeed' : 'getWorkspaceFeed',
    summary: ofList ? 'One access-rules list or composed feed; its settings are the defaults of the query' : "The workspace's access rules",
    parameters: ofList ? [LIST, ...PARAMETERS] : PARAMETERS,
    answers: documentAnswers(description, bodies()),
    faults: {
      400: {
        says: 'Unsupported parameter, or malformed request.',
        examples: {
          'unsupported format': feedFault('format=xml'),
          'unsupported family': feedFault('family=v5'),
          'repeated parameter': feedFault('action=block&action=allow'),
        },
      },
      403: { examples: { 'another list': otherFeed({ listId: LISTS[0]! }), 'another feed': otherFeed({ listId: null }) } },
      ...documentFaults(refusalOf),
      ...(ofList && listFaults(refusalOf)),
    },
  };
}

export const FEED_API: Api = {
  group: 'feed',
  title: 'Threat feeds',
  description: DESCRIPTION,
  schemas: [FeedError],
  securitySchemes: { bearer: BEARER, basic: BASIC },
  error: FeedError,
  about,
};
