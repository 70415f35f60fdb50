/** SPEC D23.40. */
import { nullable, Type } from '../../../json/schema.ts';
import { CATALOGUE } from '../../../source/catalogue.ts';
import type { CatalogueRow } from '../../../source/catalogue-row.ts';
import { type Operation, operation } from '../../operation.ts';

const Row = Type.Object({
  name: Type.String({ description: 'The name to add it by.' }),
  title: Type.String(),
  url: Type.String(),
  purpose: Type.Enum(['block', 'allow']),
  paths: Type.Array(Type.String(), { description: 'JSON paths of its entries; empty: detected.' }),
  where: nullable(Type.String({ description: 'The value that JSON objects need for their entries to count.' })),
  every: Type.Integer({ description: 'Default interval of fetches, seconds.' }),
  least: Type.Integer({ description: 'Minimum interval of its host, seconds.' }),
  terms: Type.String({ description: 'Terms of use.' }),
  may_be_empty: Type.Boolean(),
  min_prefix_v4: Type.Integer({ description: 'Default of the shortest IPv4 prefix that it may contain.' }),
  min_prefix_v6: Type.Integer({ description: 'The same for IPv6.' }),
  recommended: Type.Boolean({ description: 'A never-block list for most workspaces.' }),
  entries: nullable(Type.Integer({ description: 'Entries in the month `entries_at`, roughly; null: not known.' })),
  entries_at: nullable(Type.String({ examples: ['2026-09'] })),
  note: nullable(Type.String({ description: 'To know before adding it.' })),
});

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
  recommended: row.isRecommended ?? false,
  entries: row.size?.[0] ?? null,
  entries_at: row.size?.[1] ?? null,
  note: row.note ?? null,
});

export const CATALOGUE_OPERATIONS: readonly Operation[] = [
  operation('listCatalogue', 'GET /catalogue', 'rules:read', {
    summary: 'List the well-known lists that can be added as a source by name',
    description: 'None of them is active until it is added.',
    answer: Type.Object({ sources: Type.Array(Row) }, { title: 'Catalogue', examples: [{ sources: [catalogueJson(CATALOGUE[0]!)] }] }),
    run: async () => ({ sources: CATALOGUE.map(catalogueJson) }),
  }),
];
