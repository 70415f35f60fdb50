import type { TSchema } from 'typebox';
import { errorBody, type Group, type HttpFault } from './errors.ts';

/** Building blocks of the two OpenAPI documents. Examples of errors come from the code that answers. */

export interface ApiGroup {
  readonly title: string;
  readonly description: string;
  readonly schemas: readonly Titled[];
  readonly securitySchemes: object;
  readonly paths: object;
}

/** A schema that has its place in `components.schemas`, under its title. */
type Titled = TSchema & { title?: string };
type Header = ReturnType<typeof header>;
type Examples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

/** An OpenAPI 3.1 document: its schemas are plain JSON Schema, the same that validate. */
export function apiDocument({ title, description, schemas, securitySchemes, paths }: ApiGroup, baseUrl: string) {
  return {
    openapi: '3.1.0',
    info: { title, description, version: '1' },
    servers: [{ url: baseUrl }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    paths,
    components: { securitySchemes, schemas: Object.fromEntries(schemas.map((schema) => [schema.title, schema])) },
  };
}

export const reference = ({ title }: Titled) => ({ $ref: `#/components/schemas/${title}` });

export const examplesOf = (schema: TSchema): readonly unknown[] => ('examples' in schema ? (schema.examples as unknown[]) : []);

export const header = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

export const json = (schema: object, examples: Examples) => ({ 'application/json': { schema, examples } });

/** A documented error: the ways to get there as examples, by a short name. */
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

export const BEARER = { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer API_KEY' };
export const BASIC = { type: 'http', scheme: 'basic', description: 'The user name is api, the password is the API key.' };
