import { LISTS_ORIGIN, ORIGIN, SCOPES } from '../../decisions/decisions.ts';
import { exampleOf, type Fields, objectOf, Type } from '../../json/schema.ts';
import { type About, type Api, type Faults, json, jsonOf, queryParameter, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { NO_SIGNING_KEY } from '../feeds/signature.ts';
import { MANY_ANSWERS, MANY_REPORTS, MANY_WAIT, NO_LIST, NO_OBJECT, refusalOf } from './answer.ts';
import { readCurrentQuery, readStreamQuery } from './query.ts';

const DECISION = {
  id: [206158463072, 'The same network always has the same number.'],
  duration: ['3h59m20.5s', "Hours, minutes and seconds in Go's format; negative in deleted."],
  origin: ['weir', Type.Enum([ORIGIN, LISTS_ORIGIN])],
  scenario: ['edge', 'The name of the list; with the origin weir, weir if several lists contain the network.'],
  scope: ['Ip', Type.Enum([...SCOPES])],
  type: ['ban', Type.Literal('ban')],
  value: ['192.0.2.1', 'An address, or a network in CIDR notation.'],
} as const satisfies Fields;
const Decision = objectOf(DECISION, { title: 'Decision' });
const decisions = Type.Array(Type.Unsafe(reference(Decision)));
const DecisionStream = Type.Object({ new: decisions, deleted: decisions }, { title: 'DecisionStream' });
const UsageMetrics = Type.Unsafe<object>({
  title: 'UsageMetrics',
  type: 'object',
  description:
    "Usage metrics in the client's format. Dropped packets of origins lists:NAME count for these lists; a repeated window counts once. enforced has the networks read back from the client's firewall: version (X-Feed-Version), count and digest (as X-Feed-Digest).",
});
const Message = objectOf({ message: '' }, { title: 'Message' });

const current = exampleOf(DECISION);
const expired = { ...current, id: 212816429080, duration: '-1.5s', scenario: 'weir', scope: 'Range', value: '198.51.100.0/24' };

const SHARED: Faults = {
  403: { says: 'The key is missing, invalid, or cannot read feeds.', examples: {} },
  500: { says: 'No valid decisions are available.', examples: {} },
};
const NO_DECISIONS: Faults = {
  ...SHARED,
  404: {
    says: 'The list or feed of the key no longer exists, or the workspace has no signing key.',
    examples: { expired: NO_LIST, unsigned: NO_SIGNING_KEY },
  },
  429: {
    says: 'Too many requests, waiting clients, or different responses of the workspace in progress.',
    examples: { 'too many answers': MANY_ANSWERS, 'too many waiting clients': MANY_WAIT },
  },
  413: {
    says: 'The feed exceeds its cap.',
    examples: {
      'too large': refusalOf({
        kind: 'too_large',
        facts: { entryCount: 214_310, entryLimit: 131_072, nextExpiry: 0 },
        hint: 'Narrow or remove rules.',
        staleSince: undefined,
      }),
    },
  },
};

const FILTERS = [
  queryParameter('scopes', 'Only these scopes, comma-separated: ip, range.', 'ip,range'),
  queryParameter('origins', 'Only these origins, comma-separated: weir, lists.', 'weir'),
  queryParameter('scenarios_containing', 'Only scenarios that contain one of these words, comma-separated.', 'edge'),
  queryParameter('scenarios_not_containing', 'No scenarios that contain one of these words, comma-separated.', 'test'),
];

const WORDS: Faults = {
  400: {
    says: 'The filter is too long, a parameter is invalid, or signature has a filter.',
    examples: { malformed: readStreamQuery(`scopes=${'a,'.repeat(100)}`) as HttpFault, wait: readStreamQuery('wait=90') as HttpFault },
  },
};

const STREAM: About = {
  id: 'DecisionStream',
  summary: "Changes since this bouncer's last fetch",
  parameters: [
    { ...queryParameter('startup', 'true: everything.', 'true'), schema: { type: 'string', enum: ['true', 'false'], default: 'false' } },
    queryParameter('wait', 'Seconds to wait for a change, from 1 to 60.', '30'),
    queryParameter('since', 'The X-Feed-Version that the client has: the answer has the changes since.', ''),
    {
      ...queryParameter('signature', 'ssh: X-Feed-Signature has a signed statement about the answer. Excludes filters.', 'ssh'),
      schema: { type: 'string', enum: ['ssh'] },
    },
    ...FILTERS,
  ],
  answers: {
    200: {
      description:
        'New, renewed and deleted decisions. With wait or since, X-Feed-Version, X-Feed-Since (absent: everything), X-Feed-Count and X-Feed-Digest describe the feed; with signature, X-Feed-Signature is a signed statement in base64.',
      content: jsonOf(reference(DecisionStream), 'one new, one deleted', { new: [current], deleted: [expired] }),
    },
  },
  faults: { ...NO_DECISIONS, ...WORDS },
};
const LOOK_UP: About = {
  id: 'Decisions',
  summary: 'Current decisions for an address or network',
  parameters: [
    queryParameter('ip', 'An address.', '192.0.2.1'),
    queryParameter('range', 'A network; matches if all of it is blocked.', '192.0.2.0/28'),
    queryParameter('scope', 'With value: ip or range.', 'ip'),
    queryParameter('value', 'An address or network.', '192.0.2.1'),
    queryParameter('type', 'Always ban.', 'ban'),
    ...FILTERS,
  ],
  answers: {
    200: {
      description: 'The decisions, or null.',
      content: json(
        { anyOf: [decisions, { type: 'null' }] },
        { blocked: { summary: 'blocked', value: [current] }, free: { summary: 'not blocked', value: null } },
      ),
    },
  },
  faults: {
    ...NO_DECISIONS,
    400: {
      says: 'The value is not an address, or the filter is too long.',
      examples: { malformed: readCurrentQuery('ip=192.0.2.300') as HttpFault },
    },
  },
};
const USAGE: About = {
  id: 'UsageMetrics',
  summary: 'Usage metrics of a bouncer',
  requestBody: {
    required: true,
    content: jsonOf(reference(UsageMetrics), 'usage', { remediation_components: [{ type: 'firewall', version: '1', metrics: [] }] }),
  },
  answers: { 201: { description: 'Stored.', content: jsonOf(reference(Message), 'stored', { message: 'usage metrics are stored' }) } },
  faults: {
    ...SHARED,
    400: { says: 'The body is not a JSON object, or enforced is invalid.', examples: { malformed: NO_OBJECT } },
    429: { says: 'Too many requests, or too many pending reports of the workspace.', examples: { 'too many reports': MANY_REPORTS } },
  },
};

const headOf = (documented: About): About => ({ ...documented, id: `${documented.id}Head`, summary: 'Check the key' });

export const BOUNCER_API: Api = {
  group: 'bouncer',
  title: 'Bouncers',
  description: "Decisions for firewalls, web servers and proxies that enforce them, with the protocol of CrowdSec's local API.",
  schemas: [Decision, DecisionStream, UsageMetrics, Message],
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
  error: Message,
  about({ path, method }) {
    const documented = path === '/v1/decisions/stream' ? STREAM : path === '/v1/decisions' ? LOOK_UP : USAGE;
    return method === 'HEAD' ? headOf(documented) : documented;
  },
};
