/** Who has pulled with a key, or a feed, in the last ten minutes. */

import { html } from 'htm/preact';
import { count } from '../../format.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';

/** @typedef {{ kind: 'device' | 'bouncer', key_id: string, key_name: string | null, user_agent: string, address: string, last_pull: string }} Use */
/** @typedef {{ pulled: Use[], pulled_left_out: number }} Uses */

/** @param {{ uses: Uses }} props */
export function Pulled({ uses: { pulled, pulled_left_out: more } }) {
  if (pulled.length === 0) return html`<p class="soft">Nobody has pulled in the last ten minutes, as far as that is written.</p>`;
  return html`
    <p><strong>Pulled in the last ten minutes:</strong></p>
    <${Table} label="Pulled in the last ten minutes" columns=${COLUMNS} rows=${pulled}
      keyOf=${(/** @type {Use} */ { kind, key_id: key, user_agent: agent, address }) => [kind, key, agent, address].join(' ')} />
    ${more > 0 && html`<p class="small soft">And ${count(more)} more.</p>`}
  `;
}

/** @type {import('../../ui/table.js').Column<Use>[]} */
const COLUMNS = [
  { label: 'Address', cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  {
    label: 'Program',
    cell: ({ kind, user_agent: program }) => html`<span><bdi class="text">${program}</bdi> <span class="soft small">${kind}</span></span>`,
  },
  { label: 'Key', cell: ({ key_name: name }) => html`<bdi>${name ?? 'a deleted key'}</bdi>` },
  { label: 'Last pull', cell: ({ last_pull: at }) => html`<${Ago} at=${at} />` },
];
