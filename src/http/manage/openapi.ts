import type { TSchema } from 'typebox';
import { Type } from '../../json/schema.ts';
import type { Operation } from '../../manage/operation.ts';
import { PENDING_ANSWER } from '../../manage/operations/answers.ts';
import { OPERATIONS } from '../../manage/table.ts';
import type { Address } from '../address.ts';
import { type About, ACTOR, type Api, BEARER, examplesOf, type Faults, header, json, reference } from '../docs/openapi.ts';
import { badRequest } from '../errors.ts';
import { BatchRefusal, SignalError } from '../signals/schema.ts';
import { BOUND, OTHER_REQUEST, WHICH_STATE } from './faults.ts';
import { MANAGE } from './routes.ts';

const DESCRIPTION = `Manages the workspace of a key. Send the API key as a Bearer token, and the name of the person in X-Actor.
Editable resources have an ETag; send it in If-Match with each change. To repeat a creation safely, send the same Idempotency-Key.
Pages: send next as after.`;

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: true,
  description: 'The ETag of the state to change; * for any.',
  schema: { type: 'string' },
};
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Your choice. For 24 hours, the same request with the same value runs once and gets the same response.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,200}$' },
};

type Titled = TSchema & { title: string };
const titled = (schema: TSchema) => schema as Titled;

function parametersOf({ path, query, edits, creates, method }: Operation): object[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: `UUID or unique name of the ${name}.`,
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

function answersOf(operation: Operation): About['answers'] {
  const { answer, edits, method, summary, name, isLong, status = 200 } = operation;
  const headers = edits && method === 'PATCH' ? { ETag: header('Identifies the state.', '"Ju3VgNEgCQ0bPzPQ3aGpYA"') } : {};
  const isAskedFor = answer === PENDING_ANSWER;
  const own = json(reference(titled(answer)), { example: { summary: name, value: examplesOf(answer)[0] } });
  const any = json({ type: 'object' }, { example: { summary: 'as returned by that operation', value: { landed: true } } });
  const lands = 'landed' in ((answer as { properties?: object }).properties ?? {});
  const description = isAskedFor ? 'The result of the operation.' : summary;
  const answers: Record<number, object> = { [status]: { description, headers, content: isAskedFor ? any : own } };
  if (isRevalidated(operation)) answers[304] = { description: 'Unchanged since the ETag in If-None-Match.' };
  if (isLong || lands) answers[202] = { ...ASYNC_ANSWER, content: !lands || isAskedFor ? late : isLong ? either(answer) : own };
  return answers;
}

/** Whether a read supports 304: not if its ETag covers only the editable fields. */
const isRevalidated = ({ method, path }: Operation): boolean =>
  method === 'GET' && !OPERATIONS.some((each) => each.edits && each.path === path);

const late = json(reference(titled(PENDING_ANSWER)), { late: { summary: 'late', value: examplesOf(PENDING_ANSWER)[0] } });
const ASYNC_ANSWER = {
  description: 'The change is applied asynchronously. With `answer`, the result is not ready: fetch it at the address in Location.',
  headers: { Location: header('Address of the progress or result.', `${MANAGE}/answers/0199f3c2-8a51-7c3e-9d0b-4f1e2a6b7002`) },
};

const either = (answer: TSchema) =>
  json(
    { anyOf: [reference(titled(answer)), reference(titled(PENDING_ANSWER))] },
    {
      example: { summary: 'applied asynchronously', value: examplesOf(answer)[0] },
      late: { summary: 'late', value: examplesOf(PENDING_ANSWER)[0] },
    },
  );

const stateAt = (path: string) => titled(OPERATIONS.find((each) => each.path === path && each.method === 'GET')!.answer);

/** For a 412. */
function changedAt(path: string): Titled {
  const state = stateAt(path);
  const properties = { error: Type.String(), message: Type.String(), code: Type.Integer(), current: Type.Unsafe(reference(state)) };
  return titled(Type.Object(properties, { title: `Changed${state.title}` }));
}

function faultsOf({ answer, path, method, edits, creates, audit, refusals }: Operation): Faults {
  // A polled result is that of any long operation.
  const others = answer === PENDING_ANSWER ? OPERATIONS.filter(({ isLong }) => isLong) : [];
  const all: NonNullable<Operation['refusals']> = Object.assign({}, ...others.map((each) => each.refusals), refusals);
  const refused = ([status, message]: [string, string]) => [
    status,
    { says: message, examples: { [`refused ${status}`]: { status: Number(status), message } } },
  ];
  return {
    400: {
      says: 'A parameter, a field of the body, or the request is malformed.',
      examples: { malformed: badRequest([{ field: 'limit', message: 'must be an integer from 1 to 1000', value: 0 }]) },
    },
    403: { examples: { 'bound key': BOUND } },
    ...(audit !== null && method !== 'DELETE' && { 409: NO_QUOTA }),
    ...Object.fromEntries(Object.entries(all).map(refused)),
    ...(edits && {
      412: {
        says: 'Another state than in If-Match; the response has the current one.',
        examples: {
          changed: {
            status: 412,
            message: 'it has changed since you read it: read it again',
            current: examplesOf(stateAt(path))[0] as object,
          },
        },
        schema: changedAt(path),
      },
      428: { says: 'If-Match is missing.', examples: { 'no If-Match': WHICH_STATE } },
    }),
    ...(creates && {
      422: { says: 'The Idempotency-Key was used for another request.', examples: { 'another request': OTHER_REQUEST } },
    }),
  };
}

const NO_QUOTA = {
  says: 'The workspace has no quota left for the audit log or for answers with an Idempotency-Key.',
  examples: { 'audit log full': { status: 409, message: 'the audit log of the workspace takes 64 MiB, as much as it may' } },
};

const rawContent = (summary: string, { type, example }: NonNullable<Operation['rawBody']>) => ({
  [type]: { schema: { type: 'string' }, examples: { example: { summary, value: example } } },
});

function about({ path, method: asked }: Address): About {
  const operation = OPERATIONS.find((each) => MANAGE + each.path === path && each.method === asked)!;
  const { name, summary, description, permission, role, body, rawBody, examples = [], audit } = operation;
  const needs =
    permission === null
      ? 'Needs any key of the workspace.'
      : role === undefined
        ? `Needs the permission ${permission}.`
        : `Needs the role ${role}.`;
  const requestExamples = Object.fromEntries(examples.map((value, i) => [`example_${i + 1}`, { summary: `${name} ${i + 1}`, value }]));
  const sentences = [description, needs, audit === null ? undefined : `In the audit log: ${audit}.`];
  return {
    id: name,
    summary,
    description: sentences.filter((text) => text !== undefined).join(' '),
    parameters: parametersOf(operation),
    ...(rawBody !== undefined && { requestBody: { required: true, content: rawContent(name, rawBody) } }),
    ...(body !== undefined && { requestBody: { required: true, content: json(body, requestExamples) } }),
    answers: answersOf(operation),
    faults: faultsOf(operation),
  };
}

const edited = OPERATIONS.flatMap(({ path, edits }) => (edits ? changedAt(path) : []));
const byTitle = new Map([...OPERATIONS.map(({ answer }) => titled(answer)), ...edited].map((schema) => [schema.title, schema]));

export const MANAGE_API: Api = {
  group: 'manage',
  title: 'Management',
  description: DESCRIPTION,
  schemas: [...byTitle.values(), BatchRefusal, SignalError],
  securitySchemes: { bearer: BEARER },
  error: SignalError,
  errors: { 400: BatchRefusal },
  about,
};
