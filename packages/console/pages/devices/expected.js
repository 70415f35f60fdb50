import { html } from 'htm/preact';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { Badge } from '../../ui/badge.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { linkToFeed } from '../feeds/read-feeds.js';

/** Devices that never came (SPEC D52.8). @param {{ names: Names }} props */
export function Expected({ names }) {
  const { value } = useLive(manage('/devices/expected'));
  if (value === undefined || value.devices.length === 0) return null;
  return html`
    <h2>Expected</h2>
    <p class="soft">Keys for feeds that no device has used.</p>
    <${Table} label="Expected" columns=${columns(names)} rows=${value.devices} keyOf=${({ key_id: id }) => id} />
  `;
}

/** @param {Names} names @returns {Column<any>[]} */
const columns = (names) => [
  { label: 'State', cell: () => html`<${Badge}>never seen<//>` },
  { label: 'Name', cell: ({ key_name: name }) => html`<bdi>${name ?? 'unnamed'}</bdi>` },
  {
    label: 'Feed',
    cell({ feed_id: id }) {
      const feed = names.feedOf(id);
      return html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`;
    },
  },
  { label: 'Created', cell: ({ created_at: at }) => html`<${Ago} at=${at} />` },
];
