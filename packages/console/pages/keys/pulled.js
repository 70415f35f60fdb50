import { html } from 'htm/preact';
import { count } from '../../format.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';

/** @param {{ uses: Uses }} props */
export function Pulled({ uses: { pulled, pulled_left_out: more } }) {
  if (pulled.length === 0) return html`<p class="soft">No fetches in the last 10 minutes.</p>`;
  return html`
    <p><strong>Fetches in the last 10 minutes:</strong></p>
    <${Table} label="Fetches in the last 10 minutes" columns=${COLUMNS} rows=${pulled}
      keyOf=${(/** @type {Use} */ { kind, key_id: key, user_agent: agent, address }) => [kind, key, agent, address].join(' ')} />
    ${more > 0 && html`<p class="small soft">And ${count(more)} more.</p>`}
  `;
}

/** @type {Column<Use>[]} */
const COLUMNS = [
  { label: 'Address', cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  {
    label: 'Program',
    cell: ({ kind, user_agent: program }) => html`<span><bdi class="text">${program}</bdi> <span class="soft small">${kind}</span></span>`,
  },
  { label: 'Key', cell: ({ key_name: name }) => html`<bdi>${name ?? 'a deleted key'}</bdi>` },
  { label: 'Last fetch', cell: ({ last_pull: at }) => html`<${Ago} at=${at} />` },
];
