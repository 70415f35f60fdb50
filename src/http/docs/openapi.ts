import type { TSchema } from 'typebox';
import { errorBody, type Group, type HttpFault } from '../errors.ts';

/** The groups of addresses that have a document, as its address calls them. */
export const DOCUMENTED = ['signal', 'feeds', 'rules', 'agent', 'bouncer', 'manage'] as const;
export type Documented = (typeof DOCUMENTED)[number];

/** Building blocks of the OpenAPI documents, one for each group. Examples of errors come from the code that answers them. */

/** One group of endpoints as its document describes it. */
export interface ApiGroup {
  /** Also the heading of its operations. */
  readonly title: string;
  readonly description: string;
  readonly schemas: readonly Titled[];
  readonly securitySchemes: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** A schema that stands in `components.schemas` under its title. */
type Titled = TSchema & { title?: string };
type Header = ReturnType<typeof header>;
type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** The OpenAPI 3.1 document of a group. Its schemas are the JSON Schemas that validate requests. */
export function apiDocument({ title, description, schemas, securitySchemes, paths }: ApiGroup, baseUrl: string) {
  const tagged = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, { tags: [title], ...operation }])),
  ]);
  return {
    openapi: '3.1.0',
    info: { title, description, version: '1' },
    servers: [{ url: baseUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    tags: [{ name: title }],
    paths: Object.fromEntries(tagged),
    components: { securitySchemes, schemas: Object.fromEntries(schemas.map((schema) => [schema.title, schema])) },
  };
}

/** A reference to a schema of the document. */
export const reference = ({ title }: Titled) => ({ $ref: `#/components/schemas/${title}` });

/** The examples that a schema carries. */
export const examplesOf = (schema: TSchema): readonly unknown[] => ('examples' in schema ? (schema.examples as unknown[]) : []);

/** A documented header of text. */
export const header = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

/** A documented JSON body. */
export const json = (schema: object, examples: Examples) => ({ 'application/json': { schema, examples } });

/** A documented error; `faults` are its examples, by a short name. */
export function errorResponse(
  group: Group,
  schema: Titled,
  description: string,
  faults: Readonly<Record<string, HttpFault>>,
  headers: Readonly<Record<string, Header>> = {},
) {
  const examples = Object.entries(faults).map(([summary, fault]) => [
    summary.replaceAll(' ', '_'),
    { summary, value: JSON.parse(errorBody(group, fault)) },
  ]);
  return {
    description,
    headers: { 'Cache-Control': header('Errors are never kept by a cache.', 'no-store'), ...headers },
    content: json(reference(schema), Object.fromEntries(examples)),
  };
}

/** GET, and HEAD, which equals it without the body. */
export function methods(id: string, summary: string, parameters: readonly object[], responses: object) {
  const operation = (name: string, about: string) => ({ operationId: `${name}${id}`, summary: about, parameters, responses });
  return { get: operation('get', summary), head: operation('head', `${summary}: the headers only`) };
}

/** The two ways to send an API key. */
export const BEARER = { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer API_KEY' };
export const BASIC = { type: 'http', scheme: 'basic', description: 'The user name is api, the password is the API key.' };
