/** The API document of management, from the table of operations. */
import type { TSchema } from 'typebox';
import { Type } from '../../json-schema.ts';
import type { Operation, Outcome } from '../../manage/operation.ts';
import { OPERATIONS } from '../../manage/table.ts';
import { CHALLENGES } from '../auth/credentials.ts';
import { missing } from '../auth/gate.ts';
import { BUSY, ENCODED } from '../bodies/body.ts';
import { type ApiGroup, BEARER, errorResponse, examplesOf, header, json, reference } from '../docs/openapi.ts';
import { badRequest, type HttpFault } from '../errors.ts';
import { BatchRefusal, SignalError } from '../signals/schema.ts';
import { BOUND, OTHER_REQUEST, tooLarge, WHICH_STATE } from './faults.ts';
import { MANAGE, USUAL_BODY } from './routes.ts';

const DESCRIPTION = `Everything that can be managed in the workspace of a key. Send the API key as a Bearer token, and the name of the
person in X-Actor. What is edited has an ETag, and every change of it names the one that it was made from in If-Match; what is created
can be asked for again with the same Idempotency-Key. Pages: give next as after.`;

/** The body of a 412. */
const Changed = Type.Object(
  { error: Type.String(), message: Type.String(), code: Type.Integer(), current: Type.Object({}, { description: 'As it is now.' }) },
  { title: 'Changed' },
);

const ACTOR = {
  name: 'X-Actor',
  in: 'header',
  description: 'The person who acts, for the audit log: UTF-8, as it is or percent-encoded, at most 100 characters.',
  schema: { type: 'string' },
};
const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: true,
  description: 'The ETag of the state that is to be changed; * for any.',
  schema: { type: 'string' },
};
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Of your choice: the same request with it is done once, and answered the same for 24 hours.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
};

type Titled = TSchema & { title: string };
const titled = (schema: TSchema) => schema as Titled;

function parametersOf({ path, query, edits, creates, method }: Operation): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: `UUID, or unique name, of the ${name}.`,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    description: (schema as { description?: string }).description,
    schema,
  }));
  return [...inPath, ...inQuery, ...(method === 'GET' ? [] : [ACTOR]), ...(edits ? [IF_MATCH] : []), ...(creates ? [IDEMPOTENCY_KEY] : [])];
}

const error = (description: string, faults: Readonly<Record<string, HttpFault>>, headers = {}) =>
  errorResponse('manage', SignalError, description, faults, headers);

/** The status with which an operation answers what it has done. */
const successOf = ({ creates }: Operation): NonNullable<Outcome['status']> => (creates === 'in_store' ? 201 : 200);

function responsesOf(operation: Operation): Record<number, object> {
  const { answer, permission, edits, creates, method, refusals = {}, bodyBytes = USUAL_BODY } = operation;
  const headers = edits && method === 'PATCH' ? { ETag: header('Names the state that this is.', '"Ju3VgNEgCQ0bPzPQ3aGpYA"') } : {};
  const malformed = badRequest([{ field: 'limit', message: 'must be an integer from 1 to 1000', value: 0 }]);
  const example = examplesOf(answer)[0];
  const refused = ([status, message]: [string, string]) => [
    status,
    error(message, { [`refused ${status}`]: { status: Number(status), message } }),
  ];
  return {
    [successOf(operation)]: {
      description: operation.summary,
      headers,
      content: json(reference(titled(answer)), { example: { summary: operation.name, value: example } }),
    },
    400: errorResponse('manage', BatchRefusal, 'A parameter, a field of the body, or the request is malformed.', { malformed }),
    401: error(
      'Invalid or missing API key.',
      { 'no valid key': { status: 401 } },
      { 'WWW-Authenticate': header('How to authenticate.', CHALLENGES.manage.join(', ')) },
    ),
    402: error('The subscription is not active.', { 'subscription inactive': { status: 402 } }),
    403: error('The key is valid but not permitted.', {
      ...(permission !== null && { 'no permission': missing(permission) }),
      'bound key': BOUND,
    }),
    ...Object.fromEntries(Object.entries(refusals).map(refused)),
    405: error(
      'A method that this address does not have.',
      { 'wrong method': { status: 405, message: `Method not allowed, use ${method}` } },
      { Allow: header('The methods of the address.', method) },
    ),
    ...(edits && {
      412: errorResponse('manage', titled(Changed), 'It is not as If-Match says: the answer has it as it is.', {
        changed: {
          status: 412,
          message: 'it has been changed since: read it again, and change what it is now',
          current: example as object,
        },
      }),
      428: error('If-Match is missing.', { 'no If-Match': WHICH_STATE }),
    }),
    ...(method !== 'GET' && {
      413: error('The body is too large.', { 'too large': tooLarge(bodyBytes) }),
      415: error('The request body has a Content-Encoding.', { 'content encoding': ENCODED }),
    }),
    ...(creates && { 422: error('The Idempotency-Key was used for another request.', { 'another request': OTHER_REQUEST }) }),
    429: error(
      'Too many requests of this key, or bytes of bodies.',
      { 'rate limit': { status: 429 }, 'too many bytes': BUSY },
      { 'Retry-After': header('Seconds to wait.', '1') },
    ),
    500: error('Server error.', { 'server error': { status: 500 } }),
  };
}

const rawContent = (summary: string, { type, example }: NonNullable<Operation['rawBody']>) => ({
  [type]: { schema: { type: 'string' }, examples: { example: { summary, value: example } } },
});

function methodOf(operation: Operation): [string, object] {
  const { name, summary, description, permission, method, body, rawBody, examples = [] } = operation;
  const needs = permission === null ? 'Needs any key of the workspace.' : `Needs the permission ${permission}.`;
  const shown = Object.fromEntries(examples.map((value, i) => [`example_${i + 1}`, { summary: `${name} ${i + 1}`, value }]));
  return [
    method.toLowerCase(),
    {
      operationId: name,
      summary,
      description: [description, needs, operation.audit === null ? undefined : `In the audit log: ${operation.audit}.`]
        .filter((text) => text !== undefined)
        .join(' '),
      parameters: parametersOf(operation),
      ...(rawBody !== undefined && { requestBody: { required: true, content: rawContent(name, rawBody) } }),
      ...(body !== undefined && { requestBody: { required: true, content: json(body, shown) } }),
      responses: responsesOf(operation),
    },
  ];
}

const byTitle = new Map(OPERATIONS.map(({ answer }) => [titled(answer).title, titled(answer)]));

export const MANAGE_API: ApiGroup = {
  title: 'Management',
  description: DESCRIPTION,
  schemas: [...byTitle.values(), BatchRefusal, titled(Changed), SignalError],
  securitySchemes: { bearer: BEARER },
  paths: Object.fromEntries(
    Map.groupBy(OPERATIONS, ({ path }) => path)
      .entries()
      .map(([path, operations]) => [MANAGE + path, Object.fromEntries(operations.map(methodOf))]),
  ),
};
