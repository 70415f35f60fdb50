import { html } from 'htm/preact';
import { Table } from '../../ui/table.js';
import { fieldOf, textOf } from './words.js';

/** The changed fields of an entry; nothing without any. @param {{ entry: Pick<AuditEntry, 'before' | 'after' | 'names'> }} props */
export function ChangedFields({ entry: { before, after, names } }) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = fields.map((field) => ({ field, was: textOf(before?.[field], names, field), is: textOf(after?.[field], names, field) }));
  return rows.length > 0 && html`<${Table} label="What changed" columns=${COLUMNS} rows=${rows} keyOf=${({ field }) => field} />`;
}

/** @type {Column<{ field: string, was: string, is: string }>[]} */
const COLUMNS = [
  { label: 'Field', cell: ({ field }) => html`<bdi>${fieldOf(field)}</bdi>` },
  { label: 'Before', cell: ({ was }) => html`<bdi>${was}</bdi>` },
  { label: 'After', cell: ({ is }) => html`<bdi>${is}</bdi>` },
];
