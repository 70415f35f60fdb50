import { SCOPES } from '../../bouncers/decisions.ts';
import { Type } from '../../json-schema.ts';
import { BUSY, ENCODED } from '../bodies/body.ts';
import { type ApiGroup, errorResponse, header, json, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { MANY_ANSWERS, NO_LIST, NO_OBJECT, refusalOf } from './answer.ts';
import { readHeldQuery } from './query.ts';
import { USAGE_BODY } from './routes.ts';

const text = { type: 'string' };
const Decision = Type.Unsafe<object>({
  title: 'Decision',
  type: 'object',
  required: ['id', 'duration', 'origin', 'scenario', 'scope', 'type', 'value'],
  properties: {
    id: { type: 'integer', description: 'Always the same number for the same network.' },
    duration: { ...text, description: 'Hours, minutes and seconds as Go writes them; negative in deleted.' },
    origin: { const: 'weir' },
    scenario: { ...text, description: 'The name of the list; weir where the network comes of several.' },
    scope: { enum: SCOPES },
    type: { const: 'ban' },
    value: { ...text, description: 'An address, or a network in CIDR notation.' },
  },
});
const decisions = { type: 'array', items: reference(Decision) };
const DecisionStream = Type.Unsafe<object>({
  title: 'DecisionStream',
  type: 'object',
  required: ['new', 'deleted'],
  properties: { new: decisions, deleted: decisions },
});
const UsageMetrics = Type.Unsafe<object>({
  title: 'UsageMetrics',
  type: 'object',
  description: 'What the client counts, in its own form.',
});
const Message = Type.Unsafe<object>({ title: 'Message', type: 'object', required: ['message'], properties: { message: text } });

const held = { id: 206158463072, duration: '3h59m20.5s', origin: 'weir', scenario: 'edge', scope: 'Ip', type: 'ban', value: '192.0.2.1' };
const gone = {
  id: 212816429080,
  duration: '-1.5s',
  origin: 'weir',
  scenario: 'weir',
  scope: 'Range',
  type: 'ban',
  value: '198.51.100.0/24',
};

const error = (description: string, faults: Readonly<Record<string, HttpFault>>, headers = {}) =>
  errorResponse('bouncer', Message, description, faults, headers);
const LIMITED = { 'Retry-After': header('Seconds until the next request is admitted.', '12') };
const SHARED = {
  402: error('The subscription of the organization is not active.', { 'not active': { status: 402 } }),
  403: error('The key is missing, wrong, or may not read feeds.', {
    'wrong key': { status: 401 },
    'no permission': { status: 403, message: 'The API key does not have the permission feed:read' },
  }),
  405: error(
    'Another method.',
    { method: { status: 405, message: 'Method not allowed, use GET or HEAD' } },
    { Allow: header('The methods.', 'GET, HEAD') },
  ),
  429: error('Too many requests.', { 'too many requests': { status: 429 } }, LIMITED),
  500: error('weir has nothing good to tell.', { 'server error': { status: 500 } }),
};
const NO_DECISIONS = {
  404: error('The list or feed that the key is bound to is gone.', { gone: NO_LIST }),
  429: error(
    'Too many requests, or too many different answers of the workspace are being sent.',
    { 'too many requests': { status: 429 }, 'too many answers': MANY_ANSWERS },
    LIMITED,
  ),
  413: error('The feed exceeds its cap.', {
    'too large': refusalOf({
      kind: 'too_large',
      entryCount: 214_310,
      entryLimit: 131_072,
      hint: 'Narrow or remove rules.',
      staleSince: undefined,
    }),
  }),
};

const parameter = (name: string, description: string, example: string) => ({ name, in: 'query', description, schema: text, example });
const FILTERS = [
  parameter('scopes', 'Only these scopes, with commas: ip, range.', 'ip,range'),
  parameter('origins', 'Only these origins, with commas; all decisions have the origin weir.', 'weir'),
  parameter('scenarios_containing', 'Only scenarios with one of these parts, with commas.', 'edge'),
  parameter('scenarios_not_containing', 'No scenarios with one of these parts, with commas.', 'test'),
];

const methods = (id: string, summary: string, parameters: readonly object[], responses: Readonly<Record<number, object>>) => ({
  get: { operationId: id, summary, parameters, responses },
  head: { operationId: `${id}Head`, summary: 'Whether the key is good', parameters, responses },
});

const stream = methods(
  'DecisionStream',
  'What has changed since this bouncer pulled',
  [
    { ...parameter('startup', 'true: everything.', 'true'), schema: { type: 'string', enum: ['true', 'false'], default: 'false' } },
    ...FILTERS,
  ],
  {
    200: {
      description: 'What is new or told again, and what is gone.',
      content: json(reference(DecisionStream), { changes: { summary: 'one new, one gone', value: { new: [held], deleted: [gone] } } }),
    },
    ...SHARED,
    ...NO_DECISIONS,
  },
);
const lookUp = methods(
  'Decisions',
  'The decisions that hold for an address or network',
  [
    parameter('ip', 'An address.', '192.0.2.1'),
    parameter('range', 'A network, all of which has to be blocked.', '192.0.2.0/28'),
    parameter('scope', 'With value: ip or range.', 'ip'),
    parameter('value', 'An address or network.', '192.0.2.1'),
    parameter('type', 'ban; there is no other.', 'ban'),
    ...FILTERS,
  ],
  {
    200: {
      description: 'The decisions, or null.',
      content: json(
        { anyOf: [decisions, { type: 'null' }] },
        { blocked: { summary: 'blocked', value: [held] }, free: { summary: 'not blocked', value: null } },
      ),
    },
    400: error('What is asked for is no address.', { malformed: readHeldQuery('ip=192.0.2.300') as HttpFault }),
    ...SHARED,
    ...NO_DECISIONS,
  },
);
const usage = {
  post: {
    operationId: 'UsageMetrics',
    summary: 'What a bouncer has counted',
    requestBody: {
      required: true,
      content: json(reference(UsageMetrics), {
        usage: { summary: 'usage', value: { remediation_components: [{ type: 'firewall', version: '1', metrics: [] }] } },
      }),
    },
    responses: {
      201: {
        description: 'Kept.',
        content: json(reference(Message), { kept: { summary: 'kept', value: { message: 'usage metrics are kept' } } }),
      },
      400: error('The body is no JSON object.', { malformed: NO_OBJECT }),
      ...SHARED,
      413: error('The body is too large.', { 'too large': USAGE_BODY.tooLarge }),
      415: error('The body has a Content-Encoding.', { 'content encoding': ENCODED }),
      429: error('Too many requests.', { 'too many requests': { status: 429 }, 'too many bytes': BUSY }, LIMITED),
    },
  },
};

export const BOUNCER_API: ApiGroup = {
  title: 'Bouncers',
  description:
    'Decisions for clients that enforce them: firewalls, web servers, proxies. The protocol is that of the local API of CrowdSec.',
  schemas: [Decision, DecisionStream, UsageMetrics, Message],
  securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
  paths: { '/v1/decisions/stream': stream, '/v1/decisions': lookUp, '/v1/usage-metrics': usage },
};
