/** One act of the audit log: who, what, and each change before and after. */

import { html } from 'htm/preact';
import { count, dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Table } from '../../ui/table.js';
import { fieldOf, objectOf, summaryOf, textOf } from './words.js';

/** @typedef {import('./acts.js').Entry} Entry */
/** @typedef {import('../../names.js').Names} Names */

/** Parts of an act that are shown. */
const SHOWN = 100;

/** @param {{ act: import('./acts.js').Act, names: Names, onClose: () => void }} props */
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
        ['Key', key === null ? (person === null ? 'none: a command' : 'none') : keyName(entry)],
        ['Object', html`<${Named} entry=${entry} names=${names} />`],
      ]} />
      ${
        rows.length > 0 &&
        html`<${Table} label="What changed" columns=${COLUMNS} rows=${rows}
        keyOf=${(/** @type {any} */ { field }) => field} />`
      }
      ${
        parts.length > 1 &&
        html`<h3>All of it: ${count(parts.length)} changes${parts.length > SHOWN && `, ${SHOWN} of them here`}</h3>
          <${Table} label="All changes of this act" columns=${partColumns(names)} rows=${parts.slice(0, SHOWN)} keyOf=${(/** @type {Entry} */ { id }) => id} />`
      }
    <//>
  `;
}

/** What was changed, as a link where it is there. @param {{ entry: Entry, names: Names }} props */
function Named({ entry, names }) {
  const { label, href } = objectOf(entry, names);
  return href === undefined ? html`<bdi>${label}</bdi>` : html`<a class="text" href=${href}><bdi>${label}</bdi></a>`;
}

/** @type {import('../../ui/table.js').Column<{ field: string, was: string, is: string }>[]} */
const COLUMNS = [
  { label: 'Field', cell: ({ field }) => html`<bdi>${fieldOf(field)}</bdi>` },
  { label: 'Before', cell: ({ was }) => html`<bdi>${was}</bdi>` },
  { label: 'After', cell: ({ is }) => html`<bdi>${is}</bdi>` },
];

/** @param {Names} names @returns {import('../../ui/table.js').Column<Entry>[]} */
const partColumns = (names) => [
  { label: 'Object', cell: (entry) => html`<${Named} entry=${entry} names=${names} />` },
  { label: 'What', cell: ({ event }) => event },
  { label: 'Change', cell: (entry) => html`<bdi class="soft">${summaryOf(entry)}</bdi>` },
];
