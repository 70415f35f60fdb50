/** Lists that are known well enough to be added by a name (SPEC D23.40). */
import { nullable, Type } from '../../../json/schema.ts';
import { CATALOGUE, type CatalogueRow } from '../../../source/catalogue.ts';
import { type Operation, operation } from '../../operation.ts';

const Row = Type.Object({
  name: Type.String({ description: 'What it is added by.' }),
  title: Type.String(),
  url: Type.String(),
  purpose: Type.Enum(['block', 'allow']),
  paths: Type.Array(Type.String(), { description: 'Where its entries stand in JSON; none where that is found out.' }),
  where: nullable(Type.String({ description: 'What the objects of JSON have to say for their entries to count.' })),
  every: Type.Integer({ description: 'How often it is fetched unless something else is said, seconds.' }),
  least: Type.Integer({ description: 'How often its host may be asked at most, seconds.' }),
  terms: Type.String({ description: 'What its maker allows and asks for.' }),
  may_be_empty: Type.Boolean(),
  min_prefix_v4: Type.Integer({ description: 'The shortest prefix of an IPv4 network that it may bring unless something else is set.' }),
  min_prefix_v6: Type.Integer({ description: 'The same of an IPv6 network.' }),
  note: nullable(Type.String({ description: 'What to know before it is added.' })),
});

/** A row as JSON has it. */
export const catalogueJson = (row: CatalogueRow) => ({
  name: row.name,
  title: row.title,
  url: row.url,
  purpose: row.purpose,
  paths: [...(row.paths ?? [])],
  where: row.condition ?? null,
  every: row.every,
  least: row.least,
  terms: row.terms,
  may_be_empty: row.mayBeEmpty ?? false,
  min_prefix_v4: row.minPrefixV4,
  min_prefix_v6: row.minPrefixV6,
  note: row.note ?? null,
});

export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  operation('listCatalogue', 'GET /catalogue', 'rules:read', {
    summary: 'Lists that are known well enough to be added as a source by their name',
    description: 'None is on unless somebody adds it.',
    answer: Type.Object({ sources: Type.Array(Row) }, { title: 'Catalogue', examples: [{ sources: [catalogueJson(CATALOGUE[0]!)] }] }),
    run: async () => ({ sources: CATALOGUE.map(catalogueJson) }),
  }),
];
