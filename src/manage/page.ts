/** Keyset pagination: constant cost at any depth (SPEC D15.8). */
import type { TObject, TSchema } from 'typebox';
import { exampleOf, type Fields, nullable, objectOf, Type } from '../json/schema.ts';
import type { Page, PageRequest } from '../ports/stored/account-store.ts';
import { fieldFault } from './operation.ts';

const MOST_ITEMS = 1000;
const USUAL = 100;

export const PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MOST_ITEMS, description: `Items per page; ${USUAL} if absent.` })),
  after: Type.Optional(Type.String({ maxLength: 400, description: 'The next of the previous page.' })),
};

/** For pages sorted by a number. */
export const BY_NUMBER = /^\d{1,15}$/;

/** Rejects with USAGE for an invalid `after`. */
export function pageRequest({ limit = USUAL, after }: { readonly limit?: number; readonly after?: string }, places: RegExp): PageRequest {
  if (after !== undefined && !places.test(after)) throw fieldFault('after', 'must be the value of next in a page');
  return { after: after ?? null, limit };
}

export const pageSchema = (title: string, name: string, fields: Fields, item: TSchema = objectOf(fields)): TObject =>
  Type.Object(
    {
      [name]: Type.Array(item),
      next: nullable(Type.String(), { description: 'Pass as after to get the next page; null: this is the last.' }),
    },
    { title, examples: [{ [name]: [exampleOf(fields)], next: null }] },
  );

export const pageBody = <T>(name: string, { items, next }: Page<T>, json: (item: T) => object): object => ({
  [name]: items.map(json),
  next,
});
