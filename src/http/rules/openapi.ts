import { Type } from '../../json-schema.ts';
import { isExpressionKind, KINDS, type Kind, RULE_KINDS, RULE_TYPES } from '../../rule.ts';
import { CHALLENGES } from '../auth/credentials.ts';
import { type ApiGroup, BEARER, errorResponse, header, json, methods } from '../docs/openapi.ts';
import type { Group, HttpFault } from '../errors.ts';
import { condition, DATE, ETAG, FEED_HEADERS, FeedError, LIMIT_HEADERS } from '../feeds/openapi.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { belongsToWorkspace } from './answer.ts';
import { calledRules, pathOfKind, readRulesQuery } from './query.ts';

const nullable = (type: object) => ({ anyOf: [type, { type: 'null' }] });
const text = nullable({ type: 'string' });
const instant = nullable({ type: 'string', format: 'date-time' });

const Rules = Type.Unsafe<object>({
  title: 'Rules',
  type: 'object',
  required: ['rules', 'next'],
  properties: {
    rules: {
      type: 'array',
      description: 'In the order of enforcement: by order, then rule_ref; rules without order after those with; access rules by id.',
      items: {
        type: 'object',
        required: ['id', 'kind', 'rule_ref', 'name', 'action', 'reason', 'labels', 'config', 'expires_at', 'created_at', 'updated_at'],
        properties: {
          id: { type: 'integer' },
          kind: { type: 'string', enum: KINDS },
          rule_ref: text,
          name: text,
          action: { type: 'string' },
          reason: text,
          labels: nullable({ type: 'object' }),
          config: nullable({ type: 'object' }),
          expires_at: instant,
          created_at: { type: 'string', format: 'date-time' },
          updated_at: { type: 'string', format: 'date-time' },
          type: { type: 'string', enum: RULE_TYPES },
          expression: { type: 'string' },
          order: nullable({ type: 'integer' }),
          short_description: text,
          phase: { type: 'string', enum: ['request', 'response'] },
          phase_detected: { type: 'boolean', description: 'True when the sender gave no phase: it follows from the expression.' },
          list_id: { type: 'string', format: 'uuid' },
          target: { type: 'string', description: 'A network, AS and a number, or a country.' },
          confidence: text,
          severity: text,
        },
      },
    },
    next: { ...text, description: 'Of a page: the value of after for the page behind it; null for the last.' },
  },
});

const created = '2026-11-20T10:00:00.000Z';
const NOTHING = { reason: null, labels: null, config: null, expires_at: null, created_at: created, updated_at: created };
const EXAMPLES: Readonly<Record<'target' | 'expression', (kind: Kind) => object>> = {
  target: (kind) => ({
    id: 7,
    kind,
    rule_ref: null,
    name: null,
    list_id: '0195a3c0-0000-7000-8000-000000000001',
    target: '192.0.2.0/24',
    action: 'block',
    confidence: 'high',
    severity: null,
    ...NOTHING,
  }),
  expression: (kind) => {
    if (!isExpressionKind(kind)) throw new Error(`${kind} has no expression`);
    const { ruleRef, type, expression, action, order = null, name = null } = { order: null, name: null, ...RULE_KINDS[kind].example };
    const phase = RULE_KINDS[kind].hasPhase ? { phase: 'request', phase_detected: true } : {};
    return { id: 8, kind, rule_ref: ruleRef, name, type, expression, action, order, short_description: null, ...NOTHING, ...phase };
  },
};

const parameter = (name: string, description: string, schema: object) => ({ name, in: 'query', description, schema });
const COMMON = [
  parameter('label', 'Only rules with this label, as name:value.', { type: 'string', examples: ['source:soc'] }),
  parameter('after', 'Only what stands behind the page that ended with this next.', { type: 'string' }),
  parameter('limit', 'A page of at most so many rules. Without limit and after the document is whole.', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
  }),
  condition('If-None-Match', 'Entity tags; takes precedence over If-Modified-Since.', ETAG),
  condition('If-Modified-Since', 'An HTTP date; means nothing where label, type, after or limit is given.', DATE),
  condition('Accept-Encoding', 'gzip compresses the body, which then has its own ETag.', 'gzip'),
];
const OWN = {
  list: [parameter('list', 'Only the access rules of this list or feed, by UUID or name.', { type: 'string' })],
  workspace: [parameter('type', 'Only rules of this type.', { type: 'string', enum: RULE_TYPES })],
};

/** The answers of a document that is polled, but for its 200 and 403. */
export function documentResponses(group: Group, malformed: HttpFault, permission: string) {
  const error = (description: string, faults: Readonly<Record<string, HttpFault>>, headers = {}) =>
    errorResponse(group, FeedError, description, faults, headers);
  const staleSince = undefined;
  return {
    304: { description: 'Unchanged; no body.', headers: FEED_HEADERS },
    400: error('Unsupported parameter, or malformed request.', { 'unsupported parameter': malformed }),
    401: error(
      'Invalid or missing API key.',
      { 'no valid key': { status: 401 } },
      { 'WWW-Authenticate': header('How to authenticate.', CHALLENGES[group].join(', ')) },
    ),
    402: error('The subscription is not active.', { 'subscription inactive': { status: 402 } }),
    403: error('The key is valid but not permitted.', {
      'no permission': { status: 403, message: `The API key does not have the permission ${permission}` },
      'bound key': belongsToWorkspace('these rules'),
    }),
    405: error(
      'Another method than GET or HEAD.',
      { 'wrong method': { status: 405, message: 'Method not allowed, use GET or HEAD' } },
      { Allow: header('The methods of the address.', 'GET, HEAD') },
    ),
    412: error('If-Match or If-Unmodified-Since is not met.', {
      'precondition failed': { status: 412, message: 'A precondition of the request is not met' },
    }),
    413: error(
      'More than a document may hold; it is never truncated.',
      {
        'too many entries': documentRefusalOf({
          kind: 'too_large',
          entryCount: 214_310,
          entryLimit: 131_072,
          hint: 'Narrow the rules',
          staleSince,
        }),
      },
      LIMIT_HEADERS,
    ),
    429: error('Too many requests of this key.', { 'rate limit': { status: 429 } }, { 'Retry-After': header('Seconds to wait.', '1') }),
    500: error('Internal server error.', { 'server error': { status: 500 } }),
  };
}

function pathOf(kind: Kind) {
  const fault = readRulesQuery(kind, 'limit=0');
  if (!('status' in fault)) throw new Error('limit=0 is no fault');
  const { holds, scope } = RULE_KINDS[kind];
  const ok = {
    description: 'The rules, complete or a page.',
    headers: { ...FEED_HEADERS, 'Content-Encoding': header('gzip when the body is compressed.', 'gzip') },
    content: json(
      { $ref: '#/components/schemas/Rules' },
      { rules: { summary: calledRules(kind), value: { rules: [EXAMPLES[holds](kind)], next: null } } },
    ),
  };
  const id = pathOfKind(kind).replace(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
  const responses = { 200: ok, ...documentResponses('rules', fault, 'rules:read') };
  const named = {
    404: errorResponse('rules', FeedError, 'No such access-rules list.', { 'unknown list': documentRefusalOf({ kind: 'unknown_list' }) }),
    409: errorResponse('rules', FeedError, 'The name matches more than one list: name it by UUID.', {
      'ambiguous name': documentRefusalOf({ kind: 'ambiguous', lists: ['0195a3c0-0000-7000-8000-000000000001'] }),
    }),
  };
  return methods(`${id}Rules`, `The ${calledRules(kind)} that are active`, [...OWN[scope], ...COMMON], {
    ...responses,
    ...(scope === 'list' && named),
  });
}

export const RULES_API: ApiGroup = {
  title: 'Rules',
  description:
    'The active rules of a workspace, as they are stored, with everything that feeds have: validators, gzip, lapse to the second.',
  schemas: [Rules, FeedError],
  securitySchemes: { bearer: BEARER },
  paths: Object.fromEntries(KINDS.map((kind) => [`/v1/rules/${pathOfKind(kind)}`, pathOf(kind)])),
};
