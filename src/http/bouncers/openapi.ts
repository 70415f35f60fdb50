import { LISTS_ORIGIN, ORIGIN, SCOPES } from '../../decisions/decisions.ts';
import { exampleOf, type Fields, objectOf, Type } from '../../json/schema.ts';
import { type About, type Api, type Faults, json, jsonOf, queryParameter, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { MANY_ANSWERS, MANY_REPORTS, NO_LIST, NO_OBJECT, refusalOf } from './answer.ts';
import { readOnHoldQuery, readStreamQuery } from './query.ts';

const DECISION = {
  id: [206158463072, 'Always the same number for the same network.'],
  duration: ['3h59m20.5s', 'Hours, minutes and seconds as Go writes them; negative in deleted.'],
  origin: ['weir', Type.Enum([ORIGIN, LISTS_ORIGIN])],
  scenario: ['edge', 'The name of the list; with the origin weir, weir where the network comes of several.'],
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
    'What the client counts, in its own form. What was dropped by origins of the form lists:NAME is counted for those lists; a window that comes again is not counted again.',
});
const Message = objectOf({ message: '' }, { title: 'Message' });

const held = exampleOf(DECISION);
const gone = { ...held, id: 212816429080, duration: '-1.5s', scenario: 'weir', scope: 'Range', value: '198.51.100.0/24' };

const SHARED: Faults = {
  403: { says: 'The key is missing, wrong, or may not read feeds.', examples: {} },
  500: { says: 'weir has nothing good to tell.', examples: {} },
};
const NO_DECISIONS: Faults = {
  ...SHARED,
  404: { says: 'The list or feed that the key is bound to is gone.', examples: { gone: NO_LIST } },
  429: {
    says: 'Too many requests, or too many different answers of the workspace are being sent.',
    examples: { 'too many answers': MANY_ANSWERS },
  },
  413: {
    says: 'The feed exceeds its cap.',
    examples: {
      'too large': refusalOf({
        kind: 'too_large',
        entryCount: 214_310,
        entryLimit: 131_072,
        hint: 'Narrow or remove rules.',
        staleSince: undefined,
      }),
    },
  },
};

const FILTERS = [
  queryParameter('scopes', 'Only these scopes, with commas: ip, range.', 'ip,range'),
  queryParameter('origins', 'Only these origins, with commas: weir, lists.', 'weir'),
  queryParameter('scenarios_containing', 'Only scenarios with one of these parts, with commas.', 'edge'),
  queryParameter('scenarios_not_containing', 'No scenarios with one of these parts, with commas.', 'test'),
];

const WORDS: Faults = {
  400: { says: 'The filter is too long.', examples: { malformed: readStreamQuery(`scopes=${'a,'.repeat(100)}`) as HttpFault } },
};

const STREAM: About = {
  id: 'DecisionStream',
  summary: 'What has changed since this bouncer pulled',
  parameters: [
    { ...queryParameter('startup', 'true: everything.', 'true'), schema: { type: 'string', enum: ['true', 'false'], default: 'false' } },
    ...FILTERS,
  ],
  answers: {
    200: {
      description: 'What is new or told again, and what is gone.',
      content: jsonOf(reference(DecisionStream), 'one new, one gone', { new: [held], deleted: [gone] }),
    },
  },
  faults: { ...NO_DECISIONS, ...WORDS },
};
const LOOK_UP: About = {
  id: 'Decisions',
  summary: 'The decisions that hold for an address or network',
  parameters: [
    queryParameter('ip', 'An address.', '192.0.2.1'),
    queryParameter('range', 'A network, all of which has to be blocked.', '192.0.2.0/28'),
    queryParameter('scope', 'With value: ip or range.', 'ip'),
    queryParameter('value', 'An address or network.', '192.0.2.1'),
    queryParameter('type', 'ban; there is no other.', 'ban'),
    ...FILTERS,
  ],
  answers: {
    200: {
      description: 'The decisions, or null.',
      content: json(
        { anyOf: [decisions, { type: 'null' }] },
        { blocked: { summary: 'blocked', value: [held] }, free: { summary: 'not blocked', value: null } },
      ),
    },
  },
  faults: {
    ...NO_DECISIONS,
    400: {
      says: 'What is asked for is no address, or the filter is too long.',
      examples: { malformed: readOnHoldQuery('ip=192.0.2.300') as HttpFault },
    },
  },
};
const USAGE: About = {
  id: 'UsageMetrics',
  summary: 'What a bouncer has counted',
  requestBody: {
    required: true,
    content: jsonOf(reference(UsageMetrics), 'usage', { remediation_components: [{ type: 'firewall', version: '1', metrics: [] }] }),
  },
  answers: { 201: { description: 'Kept.', content: jsonOf(reference(Message), 'kept', { message: 'usage metrics are kept' }) } },
  faults: {
    ...SHARED,
    400: { says: 'The body is no JSON object.', examples: { malformed: NO_OBJECT } },
    429: { says: 'Too many requests, or too many reports of the workspace wait.', examples: { 'too many reports': MANY_REPORTS } },
  },
};

const headOf = (said: About): About => ({ ...said, id: `${said.id}Head`, summary: 'Whether the key is good' });

export const BOUNCER_API: Api = {
  group: 'bouncer',
  title: 'Bouncers',
  description:
    'Decisions for clients that enforce them: firewalls, web servers, proxies. The protocol is that of the local API of CrowdSec.',
  schemas: [Decision, DecisionStream, UsageMetrics, Message],
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
  error: Message,
  about({ path, method }) {
    const said = path === '/v1/decisions/stream' ? STREAM : path === '/v1/decisions' ? LOOK_UP : USAGE;
    return method === 'HEAD' ? headOf(said) : said;
  },
};
