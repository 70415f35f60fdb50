/** The audit log: who changed what. */

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { dateTime } from '../format.js';
import { useKeyset } from '../keyset.js';
import { useNames } from '../names.js';
import { link } from '../router.js';
import { Dialog } from '../ui/dialog.js';
import { Facts } from '../ui/figures.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Shown } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';

/**
 * @typedef {object} Entry
 * @property {number} id
 * @property {string} at
 * @property {string} event
 * @property {string} object
 * @property {string | null} name
 * @property {string | null} key_id
 * @property {string | null} person The provider that has named him, and who that is there.
 * @property {string | null} key_name
 * @property {string | null} actor
 * @property {Record<string, unknown> | null} before
 * @property {Record<string, unknown> | null} after
 * @property {Record<string, string>} names Of the ids in before and after.
 */
/** @typedef {import('../names.js').Names} Names */

/** Entries of a page. */
const LIMIT = 200;

/** @param {import('../pages.js').PageProps} props */
export function Page({ session }) {
  const names = useNames(session);
  const { items, isWhole, error, refresh, onSight } = useKeyset('/audit', 'entries', {}, { limit: LIMIT, keyOf });
  const [shown, setShown] = useState(/** @type {Entry | undefined} */ (undefined));
  return html`
    <${PageHead} title="Audit">Who changed what in the last 90 days, newest first.<//>
    <${Shown} live=${{ value: items, error, refresh }}>${(/** @type {Entry[]} */ read) =>
      read.length === 0
        ? html`<${Empty} icon="audit" title="Nothing was changed yet"><p>Changes of lists, feeds, keys, settings and rules show here, with the person who made them.</p><//>`
        : html`<${LongList} label="Audit log" columns=${columns(names)} rows=${read} keyOf=${keyOf} onSight=${onSight}
        total=${isWhole ? read.length : -1} onRow=${setShown} />`}<//>
    ${shown !== undefined && html`<${EntryDialog} entry=${shown} names=${names} onClose=${() => setShown(undefined)} />`}
  `;
}

const keyOf = (/** @type {Entry} */ { id }) => id;

/** @param {Entry} entry @param {Names} names */
const whoOf = ({ actor, key_id: key, key_name: name }, names) => actor ?? (key === null ? 'a command' : (name ?? names.keyName(key)));

/** @param {Names} names @returns {import('../ui/long-list.js').LongColumn<Entry>[]} */
const columns = (names) => [
  { label: 'When', width: '6.5rem', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Who', width: 'minmax(6rem, 1fr)', cell: (entry) => html`<bdi>${whoOf(entry, names)}</bdi>` },
  { label: 'What', width: 'minmax(7rem, 1fr)', cell: ({ event }) => event },
  { label: 'Change', width: 'minmax(8rem, 2.5fr)', secondary: true, cell: (entry) => html`<bdi class="soft">${summaryOf(entry)}</bdi>` },
];

/** A change on one line. @param {Entry} entry */
function summaryOf({ object, name, before, after, names }) {
  const fields = Object.entries(after ?? before ?? {})
    .filter(([field, value]) => value !== null && field !== 'name')
    .map(([field, value]) => `${field.replaceAll('_', ' ')}: ${textOf(value, names)}`);
  return [...(name === null && fields.length > 0 ? [] : [name ?? object]), ...fields].join(', ');
}

/** @param {unknown} value @param {Record<string, string>} names Of ids. @returns {string} */
function textOf(value, names) {
  if (value === null || value === undefined) return '–';
  if (Array.isArray(value)) return value.map((each) => textOf(each, names)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : (names[String(value)] ?? String(value));
}

/** @param {{ entry: Entry, names: Names, onClose: () => void }} props */
function EntryDialog({ entry, names, onClose }) {
  const { at, event, object, name, actor, person, key_id: key, key_name: keyName, before, after } = entry;
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = fields.map((field) => ({ field, was: textOf(before?.[field], entry.names), is: textOf(after?.[field], entry.names) }));
  const isBatch = event.startsWith('rule') || event.startsWith('batch') || event.startsWith('file');
  return html`
    <${Dialog} title=${event} wide onClose=${onClose}>
      <${Facts} facts=${[
        ['When', dateTime(at)],
        ['Who', person === null ? actor : `${actor} (${person})`],
        ['Key', key === null ? (person === null ? 'none: a command' : 'none') : (keyName ?? names.keyName(key))],
        [isBatch ? 'Batch' : 'Object', isBatch ? html`<a href=${link('/batches', object)}>${object}</a>` : (name ?? object)],
      ]} />
      ${
        rows.length > 0 &&
        html`<${Table} label="What changed" columns=${COLUMNS} rows=${rows}
        keyOf=${(/** @type {any} */ { field }) => field} />`
      }
    <//>
  `;
}

/** @type {import('../ui/table.js').Column<{ field: string, was: string, is: string }>[]} */
const COLUMNS = [
  { label: 'Field', cell: ({ field }) => html`<bdi>${field.replaceAll('_', ' ')}</bdi>` },
  { label: 'Before', cell: ({ was }) => html`<bdi>${was}</bdi>` },
  { label: 'After', cell: ({ is }) => html`<bdi>${is}</bdi>` },
];
