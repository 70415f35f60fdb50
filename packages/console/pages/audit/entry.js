import { html } from 'htm/preact';
import { count, dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Table } from '../../ui/table.js';
import { ChangedFields } from './fields.js';
import { objectOf, summaryOf } from './words.js';

const MOST_ROWS = 100;

/** @param {{ act: Act, names: Names, onClose: () => void }} props */
export function EntryDialog({ act: { entry, parts }, names, onClose }) {
  const { at, event, actor, person, key_id: key } = entry;
  return html`
    <${Dialog} title=${event} wide onClose=${onClose}>
      <${Facts} facts=${[
        ['When', dateTime(at)],
        ['Who', person === null ? actor : `${actor} (${person})`],
        ['Key', key === null ? (person === null ? 'none (a command)' : 'none') : keyName(entry)],
        ['Object', html`<${Named} entry=${entry} names=${names} />`],
      ]} />
      <${ChangedFields} entry=${entry} />
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

/** @param {Names} names @returns {Column<AuditEntry>[]} */
const partColumns = (names) => [
  { label: 'Object', cell: (entry) => html`<${Named} entry=${entry} names=${names} />` },
  { label: 'What', cell: ({ event }) => event },
  { label: 'Change', cell: (entry) => html`<bdi class="soft">${summaryOf(entry)}</bdi>` },
];
