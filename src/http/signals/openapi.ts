import { packagedSchemes } from '@weir/expression/scheme.ts';
import { RULE_KINDS } from '../../rule.ts';
import { validateBatch } from '../../signal/batch.ts';
import type { EntryFault } from '../../signal/faults.ts';
import { LIMITS } from '../../signal/limits.ts';
import { ENVELOPES, V1Event } from '../../signal/schema.ts';
import { type About, ACTOR, type Api, BEARER, examplesOf, type Faults, header, json, reference } from '../docs/openapi.ts';
import { badRequest } from '../errors.ts';
import { BatchRefusal, SignalError, SignalSummary } from './schema.ts';
import { OVER_ENTRIES, summary } from './submit.ts';

const kindNames = Object.values(RULE_KINDS).map(({ called }) => called);

const DESCRIPTION = `Security signals create or remove ${new Intl.ListFormat('en-GB').format(kindNames)}. A request is a batch: a JSON
array of 1 to ${LIMITS.batchEntries} entries, at most ${LIMITS.batchBytes / 1024 / 1024} MiB. Each entry is validated and processed on its own; entries take effect in array
order. A 200 or 206 means that the accepted entries are durable. The content type, unknown properties and null are ignored.`;

const PARAMETERS = [
  {
    name: 'list',
    in: 'query',
    description: "Id or name of the list for access rules; default the key's list, else the workspace's default list.",
    schema: { type: 'string', minLength: 1 },
  },
  {
    name: 'dry_run',
    in: 'query',
    description: '1: validate and return the entries that feeds would have in `feeds`, but publish nothing.',
    schema: { type: 'string', enum: ['0', '1', 'false', 'true'], default: '0' },
  },
  ACTOR,
];

function refusal(version: 1 | 2, body: unknown) {
  const check = { hasAsn: () => true, isCountry: () => true, schemes: packagedSchemes(), listBound: false };
  const { refused } = validateBatch(version, JSON.stringify(body), check);
  return badRequest(refused!);
}

const BATCH_HEADER = {
  'X-Signal-Batch': header('Id of the accepted entries; absent if there are none.', '0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7000'),
};
const [event] = examplesOf(V1Event);
const FAULTS: Faults = {
  403: { examples: { 'another list': { status: 403, message: 'The API key is bound to another access-rules list' } } },
  404: {
    says: 'The list named by ?list= does not exist.',
    examples: { 'unknown list': { status: 404, message: 'No such access-rules list' } },
  },
  409: {
    says: 'The name in ?list= matches more than one list.',
    examples: {
      'ambiguous name': { status: 409, message: 'The name matches more than one access-rules list; use the id of one of them' },
    },
  },
  429: {
    says: 'Too many requests, entries or bytes of this key, or failed authentications from this address: back off and retry.',
    examples: { 'too many entries': OVER_ENTRIES },
  },
  500: { says: 'Server error. The batch can safely be sent again.', examples: {} },
};

const batch = (items: object, examples: Record<string, unknown>) => ({
  required: true,
  content: json(
    { type: 'array', minItems: 1, maxItems: LIMITS.batchEntries, items },
    Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { summary: name, value }])),
  ),
});

const envelopes = Object.values(ENVELOPES);

const answers = (version: 1 | 2, fault: EntryFault) => ({
  200: {
    description: 'Every entry was processed.',
    headers: BATCH_HEADER,
    content: json(reference(SignalSummary), { all: { summary: 'all good', value: summary(version, 2, []).body } }),
  },
  206: {
    description: 'Some entries failed, the others were processed. Do not retry the whole batch.',
    headers: BATCH_HEADER,
    content: json(reference(SignalSummary), { some: { summary: 'one failed', value: summary(version, 1, [fault]).body } }),
  },
});
const refused = (version: 1 | 2, examples: Readonly<Record<string, unknown>>): Faults => ({
  ...FAULTS,
  400: {
    says: 'The whole batch is refused; retrying does not help.',
    examples: {
      ...Object.fromEntries(Object.entries(examples).map(([name, body]) => [name, refusal(version, body)])),
      'not an array': refusal(version, {}),
      'too many entries': refusal(version, Array(LIMITS.batchEntries + 1).fill({})),
    },
  },
});

const V1: About = {
  id: 'submitV1Signals',
  summary: 'Submit flat access-rule events',
  parameters: PARAMETERS,
  requestBody: batch(reference(V1Event), {
    block: [event],
    unblock: [{ type: 'access_rules', action: 'unblock', country: 'NL' }],
  }),
  answers: answers(1, { entry: 1, field: 'country', message: 'must be a valid ISO-3166 Alpha-2 code' }),
  faults: refused(1, { 'invalid action': [{ ...(event as object), action: 'deny' }] }),
};
const V2: About = {
  id: 'submitV2Signals',
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
  answers: answers(2, { entry: 1, field: 'rule.expression', message: '(1:1) unknown field "http.foo"', isExpression: true }),
  faults: refused(2, { 'rule.type missing': [{ kind: 'waf_rule', op: 'upsert', rule_ref: 'waf-1', rule: {} }] }),
};

export const SIGNAL_API: Api = {
  group: 'signal',
  title: 'Signal submission',
  description: DESCRIPTION,
  schemas: [V1Event, ...envelopes, SignalSummary, BatchRefusal, SignalError],
  securitySchemes: { bearer: BEARER },
  error: SignalError,
  errors: { 400: BatchRefusal },
  about: ({ path }) => (path === '/v1/signal' ? V1 : V2),
};
