import { packagedSchemes } from '@weir/expression/scheme.ts';
import { RULE_KINDS } from '../../rule.ts';
import { validateBatch } from '../../signal/batch.ts';
import type { EntryFault } from '../../signal/faults.ts';
import { LIMITS } from '../../signal/limits.ts';
import { ENVELOPES, V1Event } from '../../signal/schema.ts';
import { CHALLENGES } from '../auth/credentials.ts';
import { BUSY, ENCODED } from '../bodies/body.ts';
import { type ApiGroup, BEARER, errorResponse, examplesOf, header, json, reference } from '../docs/openapi.ts';
import { badRequest } from '../errors.ts';
import { BATCH } from './routes.ts';
import { BatchRefusal, SignalError, SignalSummary } from './schema.ts';
import { OVER_ENTRIES, summary } from './submit.ts';

const kindNames = Object.values(RULE_KINDS).map(({ called }) => called);

const DESCRIPTION = `Security signals create or remove ${new Intl.ListFormat('en-GB').format(kindNames)}. A request is a batch: a JSON
array of 1 to ${LIMITS.batchEntries} entries, at most ${LIMITS.batchBytes / 1024 / 1024} MiB. Each entry is validated and processed on its own; entries take effect in array
order. An answer of 200 or 206 means that the good entries are kept durably. The content type of a request is not looked at; unknown
properties are ignored, and null is the same as absent.`;

const PARAMETERS = [
  {
    name: 'list',
    in: 'query',
    description:
      "Id or name of the access-rules list where access rules land; omitted, the key's list or else the workspace's default list.",
    schema: { type: 'string', minLength: 1 },
  },
  {
    name: 'dry_run',
    in: 'query',
    description: '1: validate and answer, say in `feeds` how many entries feeds would have, but publish nothing.',
    schema: { type: 'string', enum: ['0', '1', 'false', 'true'], default: '0' },
  },
];

/** The faults that real validation finds in a body, for the examples. */
function refusal(version: 1 | 2, body: unknown) {
  const check = { hasAsn: () => true, isCountry: () => true, schemes: packagedSchemes(), listBound: false };
  const { refused } = validateBatch(version, JSON.stringify(body), check);
  return badRequest(refused!);
}

const BATCH_HEADER = {
  'X-Signal-Batch': header('What the accepted entries are known by; absent when none was taken.', '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'),
};
const [event] = examplesOf(V1Event);
const COMMON_ERRORS = {
  401: errorResponse(
    'signal',
    SignalError,
    'Invalid or missing API key, or a key without organization or workspace.',
    { 'no valid key': { status: 401 } },
    { 'WWW-Authenticate': header('How to authenticate.', CHALLENGES.signal.join(', ')) },
  ),
  402: errorResponse('signal', SignalError, 'The subscription is not active.', { 'subscription inactive': { status: 402 } }),
  403: errorResponse('signal', SignalError, 'The key is valid but not permitted.', {
    'no permission': { status: 403, message: 'The API key does not have the permission signal:write' },
    'another list': { status: 403, message: 'The API key is bound to another access-rules list' },
  }),
  404: errorResponse('signal', SignalError, 'The list named by ?list= does not exist.', {
    'unknown list': { status: 404, message: 'No such access-rules list' },
  }),
  405: errorResponse(
    'signal',
    SignalError,
    'Another method than POST.',
    { 'wrong method': { status: 405, message: 'Method not allowed, use POST' } },
    { Allow: header('The methods of the address.', 'POST') },
  ),
  409: errorResponse('signal', SignalError, 'The name in ?list= matches more than one list.', {
    'ambiguous name': { status: 409, message: 'The name matches more than one access-rules list; use the id of one of them' },
  }),
  415: errorResponse('signal', SignalError, 'The request body has a Content-Encoding.', { 'content encoding': ENCODED }),
  429: errorResponse(
    'signal',
    SignalError,
    'Too many requests, entries or bytes of this key, or failed authentications from this address: back off and retry.',
    { 'rate limit': { status: 429 }, 'too many entries': OVER_ENTRIES, 'too many bytes': BUSY },
    { 'Retry-After': header('Seconds to wait.', '1') },
  ),
  500: errorResponse('signal', SignalError, 'Server error. The batch may be sent again without harm.', { 'server error': { status: 500 } }),
};

function responses(version: 1 | 2, fault: EntryFault) {
  const done = summary(version, 2, []).body;
  const partly = summary(version, 1, [fault]).body;
  const oversized = { 'too many entries': refusal(version, Array(LIMITS.batchEntries + 1).fill({})), 'too large': BATCH.tooLarge };
  const refusals =
    version === 1
      ? { 'invalid action': refusal(1, [{ ...(event as object), action: 'deny' }]), 'not an array': refusal(1, {}), ...oversized }
      : {
          'rule.type missing': refusal(2, [{ kind: 'waf_rule', op: 'upsert', rule_ref: 'waf-1', rule: {} }]),
          'not an array': refusal(2, {}),
          ...oversized,
        };
  return {
    200: {
      description: 'Every entry was processed.',
      headers: BATCH_HEADER,
      content: json(reference(SignalSummary), { all: { summary: 'all good', value: done } }),
    },
    206: {
      description: 'Some entries failed, the others were processed. Do not retry the whole batch.',
      headers: BATCH_HEADER,
      content: json(reference(SignalSummary), { some: { summary: 'one failed', value: partly } }),
    },
    400: errorResponse('signal', BatchRefusal, 'The whole batch is refused; retrying does not help.', refusals),
    ...COMMON_ERRORS,
  };
}

const batch = (items: object, examples: Record<string, unknown>) => ({
  required: true,
  content: json(
    { type: 'array', minItems: 1, maxItems: LIMITS.batchEntries, items },
    Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { summary: name, value }])),
  ),
});

const envelopes = Object.values(ENVELOPES);

export const SIGNAL_API: ApiGroup = {
  title: 'Signal submission',
  description: DESCRIPTION,
  schemas: [V1Event, ...envelopes, SignalSummary, BatchRefusal, SignalError],
  securitySchemes: { bearer: BEARER },
  paths: {
    '/v1/signal': {
      post: {
        operationId: 'submitV1Signals',
        summary: 'Submit flat access-rule events',
        parameters: PARAMETERS,
        requestBody: batch(reference(V1Event), {
          block: [event],
          unblock: [{ type: 'access_rules', action: 'unblock', country: 'NL' }],
        }),
        responses: responses(1, { entry: 1, field: 'country', message: 'must be a valid ISO-3166 Alpha-2 code' }),
      },
    },
    '/v2/signal': {
      post: {
        operationId: 'submitV2Signals',
        summary: `Submit typed envelopes: ${kindNames.join(', ')}`,
        parameters: PARAMETERS,
        requestBody: batch(
          {
            oneOf: envelopes.map(reference),
            discriminator: {
              propertyName: 'kind',
              mapping: Object.fromEntries(Object.entries(ENVELOPES).map(([kind, schema]) => [kind, reference(schema).$ref])),
            },
          },
          {
            ...Object.fromEntries(Object.entries(ENVELOPES).map(([kind, schema]) => [kind, examplesOf(schema)])),
            delete: [{ kind: 'access_rule', op: 'delete', rule_ref: 'soc-1234' }],
          },
        ),
        responses: responses(2, { entry: 1, field: 'rule.expression', message: '(1:1) unknown field "http.foo"', isExpression: true }),
      },
    },
  },
};
