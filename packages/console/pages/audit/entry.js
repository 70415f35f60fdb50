import { html } from 'htm/preact';
import { count, dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Table } from '../../ui/table.js';
import { fieldOf, objectOf, summaryOf, textOf } from './words.js';

const MOST_ROWS = 100;

/** @param {{ act: Act, names: Names, onClose: () => void }} props */
export function EntryDialog({ act: { entry, parts }, names, onClose }) {
  const { at, event, actor, person, key_id: key, before, after } = entry;
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = fields.map((field) => ({
    field,
    was: textOf(before?.[field], entry.names, field),
    is: textOf(after?.[field], entry.names, field),
  }));
  return html`
    <${Dialog} title=${event} wide onClose=${onClose}>
      <${Facts} facts=${[
        ['When', dateTime(at)],
        ['Who', person === null ? actor : `${actor} (${person})`],
        ['Key', key === null ? (person === null ? 'none (a command)' : 'none') : keyName(entry)],
        ['Object', html`<${Named} entry=${entry} names=${names} />`],
      ]} />
      ${
        rows.length > 0 &&
        html`<${Table} label="What changed" columns=${COLUMNS} rows=${rows}
        keyOf=${({ field }) => field} />`
      }
      ${
        parts.length > 1 &&
        html`<h3>${count(parts.length)} changes in total${parts.length > MOST_ROWS && `, the first ${MOST_ROWS}`}</h3>
          <${Table} label="All changes of this act" columns=${partColumns(names)} rows=${parts.slice(0, MOST_ROWS)} keyOf=${(/** @type {AuditEntry} */ { id }) => id} />`
      }
    <//>
  `;
}

/** @param {{ entry: AuditEntry, names: Names }} props */
function Named({ entry, names }) {
  const { label, href } = objectOf(entry, names);
  return href === undefined ? html`<bdi>${label}</bdi>` : html`<a class="text" href=${href}><bdi>${label}</bdi></a>`;
}

/** @type {Column<{ field: string, was: string, is: string }>[]} */
const COLUMNS = [
  { label: 'Field', cell: ({ field }) => html`<bdi>${fieldOf(field)}</bdi>` },
  { label: 'Before', cell: ({ was }) => html`<bdi>${was}</bdi>` },
  { label: 'After', cell: ({ is }) => html`<bdi>${is}</bdi>` },
];

/** @param {Names} names @returns {Column<AuditEntry>[]} */
const partColumns = (names) => [
  { label: 'Object', cell: (entry) => html`<${Named} entry=${entry} names=${names} />` },
  { label: 'What', cell: ({ event }) => event },
  { label: 'Change', cell: (entry) => html`<bdi class="soft">${summaryOf(entry)}</bdi>` },
];
