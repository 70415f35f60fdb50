import { html } from 'htm/preact';
import { dateTime, isForGood } from '../../format.js';
import { senderName } from '../../names.js';
import { Badge } from '../../ui/badge.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { batchAt } from '../changes/see.js';

/** @param {{ events: TargetEvent[] }} props */
export const History = ({ events }) =>
  events.length === 0
    ? html`<p class="soft">No history.</p>`
    : html`<${Table} label="History" columns=${COLUMNS} rows=${events.map((each, i) => ({ ...each, i }))} keyOf=${({ i }) => i} />`;

/** @param {TargetEvent} event */
const kindOf = ({ event, action }) => (['added', 'renewed', 'restored'].includes(event) ? (action === 'block' ? 'bad' : 'good') : '');

/** @type {Column<TargetEvent>[]} */
const COLUMNS = [
  { label: 'When', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'What', cell: (event) => html`<${Badge} kind=${kindOf(event)}>${event.event}<//>` },
  {
    label: 'Rule',
    cell: ({ target, action }) =>
      html`<span><bdi class="mono">${target}</bdi>${action === 'allow' && html` <span class="soft small">never block</span>`}</span>`,
  },
  { label: 'List', cell: ({ list_name: name }) => html`<bdi>${name}</bdi>` },
  {
    label: 'By',
    cell: (row) => {
      if (row.event === 'expired') return html`<span class="soft">expiry</span>`;
      const { batch_id: batch } = row;
      return batch === null ? html`<bdi>${senderName(row)}</bdi>` : html`<a class="text" href=${batchAt(batch)}>${senderName(row)}</a>`;
    },
  },
  { label: 'Reason', cell: ({ reason }) => (reason === null ? '' : html`<bdi>${reason}</bdi>`) },
  {
    label: 'Until',
    cell: ({ expires_at: until }) =>
      until === null || isForGood(Date.parse(until) - Date.now()) ? 'never expires' : html`<span class="nowrap">${dateTime(until)}</span>`,
  },
];
