/** Pages by keyset: each page says where the next one begins, and costs the same however far back it lies (SPEC D15.8). */
import type { TObject, TSchema } from 'typebox';
import { exampleOf, type Fields, nullable, objectOf, Type } from '../json/schema.ts';
import type { Page, PageRequest } from '../ports/stored/account-store.ts';
import { fieldFault } from './operation.ts';

/** Items of a page at most, and where a request says nothing. */
const MOST_ITEMS = 1000;
const USUAL = 100;

/** The parameters of a query for a page. */
export const PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ITEMS, description: `Items of the page; ${USUAL} when absent.` })),
  after: Type.Optional(Type.String({ maxLength: 400, description: 'The value of next in the page before.' })),
};

/** The place at which pages by a number go on. */
export const BY_NUMBER = /^\d{1,15}$/;

/** The page that a query asks for. A place that `places` does not know rejects with USAGE. */
export function pageRequest({ limit = USUAL, after }: { readonly limit?: number; readonly after?: string }, places: RegExp): PageRequest {
  if (after !== undefined && !places.test(after)) throw fieldFault('after', 'must be next of a page');
  return { after: after ?? null, limit };
}

/** The schema of a page of items under a name. */
export const pageSchema = (title: string, name: string, fields: Fields, item: TSchema = objectOf(fields)): TObject =>
  Type.Object(
    {
      [name]: Type.Array(item),
      next: nullable(Type.String(), { description: 'The after of the next page; null: the last.' }),
    },
    { title, examples: [{ [name]: [exampleOf(fields)], next: null }] },
  );

/** The body of a page. */
export const pageBody = <T>(name: string, { items, next }: Page<T>, json: (item: T) => object): object => ({
  [name]: items.map(json),
  next,
});
