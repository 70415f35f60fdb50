/** One document per group, from its addresses and its `openapi.ts`. */
import type { TSchema } from 'typebox';
import { type Address, pathsOf } from '../address.ts';
import { missing } from '../auth/gate.ts';
import { BUSY, ENCODED } from '../bodies/body.ts';
import { errorBody, type HttpFault, malformedIn, statusIn } from '../errors.ts';
import type { Parameter } from '../feeds/parameters.ts';
import { GROUPS, type Group } from '../groups.ts';
import { notAllowed } from '../router.ts';

export interface Api {
  readonly group: Group;
  readonly title: string;
  readonly description: string;
  readonly schemas: readonly Titled[];
  readonly securitySchemes: object;
  /** `errors` has exceptions by status. */
  readonly error: Titled;
  readonly errors?: Readonly<Record<number, Titled>>;
  readonly about: (row: Address) => About;
}

export interface About {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly answers: Readonly<Record<number, object>>;
  /** Additions to the common errors; null: cannot occur. */
  readonly faults?: Faults;
}

export type Faults = Readonly<Record<number, Fault | null>>;
interface Fault {
  readonly says?: string;
  readonly examples: Readonly<Record<string, HttpFault>>;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly schema?: Titled;
}

/** A schema in `components.schemas`, under its title. */
export type Titled = TSchema & { title?: string };
type Header = ReturnType<typeof header>;
type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** OpenAPI 3.1. Uses the JSON Schemas that validate requests. */
export function apiDocument(api: Api, addresses: readonly Address[], baseUrl: string) {
  const { title, description, schemas, securitySchemes, group } = api;
  const rows = addresses.filter((row) => row.group === group && row.gate !== 'all');
  const paths = rows.flatMap((row) => pathsOf(row).map((path, form) => ({ path, row, form })));
  const byPath = Map.groupBy(paths, ({ path }) => path);
  const pathItem = (all: readonly (typeof paths)[number][]) => {
    const methods = all.flatMap(({ row }) => (row.method === 'GET' ? ['GET', 'HEAD'] : [row.method]));
    const fault = notAllowed([...new Set(methods)]);
    return Object.fromEntries(all.flatMap(({ row, form }) => operations(api, row, form === 0 ? '' : `V${form}`, fault, all.length)));
  };
  return {
    openapi: '3.1.0',
    info: { title, description, version: '1' },
    servers: [{ url: baseUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    tags: [{ name: title }],
    paths: Object.fromEntries([...byPath].map(([path, all]) => [path, pathItem(all)])),
    components: { securitySchemes, schemas: Object.fromEntries(schemas.map((schema) => [schema.title, schema])) },
  };
}

function operations(api: Api, row: Address, form: string, other: HttpFault, rows: number): [string, object][] {
  const { id, summary, description, parameters = [], requestBody, answers, faults } = api.about(row);
  const operation = (operationId: string, about: string) => ({
    tags: [api.title],
    operationId: operationId + form,
    summary: about,
    ...(description !== undefined && { description }),
    parameters,
    ...(requestBody !== undefined && { requestBody }),
    responses: { ...answers, ...errorsOf(api, [faultsOf(row, other), faults ?? {}]) },
  });
  const method = row.method.toLowerCase();
  const own: [string, object] = [method, operation(id, summary)];
  if (row.method !== 'GET' || api.group === 'manage' || rows > 1) return [own];
  return [own, ['head', operation(id.replace(/^get/, 'head'), `${summary}: the headers only`)]];
}

/** `other`: the response to another method. */
function faultsOf({ group, needs, body }: Address, other: HttpFault): Faults {
  return {
    400: { says: 'The request is malformed.', examples: { 'malformed request': malformedIn(group!) } },
    401: {
      says: 'Invalid or missing API key, or a key without organization or workspace.',
      examples: { 'no valid key': { status: 401 } },
      headers: { 'WWW-Authenticate': header('How to authenticate; one header per scheme.', GROUPS[group!].challenges.join(', ')) },
    },
    402: { says: 'The subscription is not active.', examples: { 'subscription inactive': { status: 402 } } },
    403: { says: 'The key is valid but not permitted.', examples: needs == null ? {} : { 'no permission': missing(needs) } },
    404: { says: 'This process does not serve the address (ROLES).', examples: { 'not served': { status: 404 } } },
    405: {
      says: 'Method not supported by this address.',
      examples: { 'wrong method': other },
      headers: { Allow: header('The methods of the address.', String(other.headers!.Allow)) },
    },
    ...bodyFaults(body),
    429: {
      says: 'Too many requests of this key, or failed authentications from this address: back off and retry.',
      examples: { 'rate limit': { status: 429 }, ...(body !== undefined && { 'too many bytes': BUSY }) },
      headers: { 'Retry-After': header('Seconds to wait.', '1') },
    },
    500: { says: 'Server error.', examples: { 'server error': { status: 500 } } },
    408: { says: 'The request took too long to arrive.', examples: { 'too slow': { status: 408 } } },
    417: { says: 'Expect asks for something other than 100-continue.', examples: { 'unknown expectation': { status: 417 } } },
    431: { says: 'The request headers are too large.', examples: { 'large headers': { status: 431 } } },
  };
}

const bodyFaults = (body: Address['body']): Faults =>
  body === undefined
    ? {}
    : {
        [body.tooLarge.status]: { says: 'The body is too large.', examples: { 'too large': body.tooLarge } },
        415: { says: 'The request body has a Content-Encoding.', examples: { 'content encoding': ENCODED } },
      };

function errorsOf({ group, error, errors = {} }: Api, all: readonly Faults[]): Record<number, object> {
  const merged = new Map<number, Fault>();
  for (const [text, fault] of all.flatMap((each) => Object.entries(each))) {
    const status = statusIn(group, Number(text));
    if (fault === null) merged.delete(status);
    else {
      const before = merged.get(status);
      const { examples, headers } = fault as Fault;
      merged.set(status, {
        ...{ ...before, ...fault },
        ...{ examples: { ...before?.examples, ...examples }, headers: { ...before?.headers, ...headers } },
      });
    }
  }
  const response = ([status, { says, examples, headers, schema }]: [number, Fault]) => [
    status,
    {
      description: says,
      headers: { 'Cache-Control': header('Errors are never cached.', 'no-store'), ...headers },
      content: json(
        reference(schema ?? errors[status] ?? error),
        Object.fromEntries(
          Object.entries(examples).map(([name, fault]) => [named(name), { summary: name, value: JSON.parse(errorBody(group, fault)) }]),
        ),
      ),
    },
  ];
  return Object.fromEntries([...merged].map(response));
}

const named = (summary: string): string => summary.replaceAll(/\W+/g, '_');

export const reference = ({ title }: Titled) => ({ $ref: `#/components/schemas/${title}` });

export const examplesOf = (schema: TSchema): readonly unknown[] => ('examples' in schema ? (schema.examples as unknown[]) : []);

export const header = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

export const json = (schema: object, examples: Examples) => ({ 'application/json': { schema, examples } });

export const jsonOf = (schema: object, summary: string, value: unknown) => json(schema, { [named(summary)]: { summary, value } });

const textParameter = (place: 'header' | 'query') => (name: string, description: string, example: string) => ({
  name,
  in: place,
  description,
  schema: { type: 'string' },
  example,
});
export const headerParameter = textParameter('header');
export const queryParameter = textParameter('query');

export const queryParameters = <P extends string>(
  table: Readonly<Record<P, Parameter<unknown>>>,
  documented: Readonly<Partial<Record<P, string | (object & { readonly description: string; readonly schema: object })>>>,
): object[] =>
  (Object.keys(documented) as P[]).map((name) => {
    const { description, schema } =
      typeof documented[name] === 'string' ? { description: documented[name], schema: {} } : documented[name]!;
    const { allowed } = table[name];
    return { name, in: 'query', description, schema: { type: 'string', ...(allowed && { enum: allowed }), ...schema } };
  });

/** SPEC D15.6, D45.2. */
export const ACTOR = {
  name: 'X-Actor',
  in: 'header',
  description: 'The acting person, for the audit log and as author of rules: UTF-8, raw or percent-encoded, at most 100 characters.',
  schema: { type: 'string' },
};

export const BEARER = { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer API_KEY' };
export const BASIC = { type: 'http', scheme: 'basic', description: 'The user name is api, the password is the API key.' };
