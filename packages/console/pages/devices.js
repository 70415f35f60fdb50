/** What pulls feeds: firewalls, agents, scripts; and which of them have stopped or are behind. */

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages } from '../api.js';
import { useLiveWork } from '../data.js';
import { count, counted, dateTime, duration, percent } from '../format.js';
import { useNames } from '../names.js';
import { link } from '../router.js';
import { Badge } from '../ui/badge.js';
import { Dialog } from '../ui/dialog.js';
import { Facts } from '../ui/figures.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Notice, Shown } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { linkToFeed } from './feeds/read-feeds.js';

/**
 * @typedef {object} Device
 * @property {string} id
 * @property {string} key_id
 * @property {string} user_agent
 * @property {string} address
 * @property {string} first_pull
 * @property {string} last_pull
 * @property {number} last_status
 * @property {number} pulls
 * @property {number | null} interval_seconds
 * @property {Record<'200' | '304' | '4xx' | '5xx', number>} answers
 * @property {boolean} sends_validators
 * @property {string | null} stopped_at
 * @property {{ feed_id: string | null, format: string, family: string, action: string, etag: string, last_modified: string, at: string, behind_seconds: number | null }[]} documents
 */

/** @param {import('../pages.js').PageProps} props */
export function Page({ session }) {
  const live = useLiveWork('devices', readDevices);
  const names = useNames(session);
  const [shown, setShown] = useState(/** @type {string | undefined} */ (undefined));
  return html`
    <${PageHead} title="Devices">What pulls feeds, told apart by key, address and User-Agent; those that need a look come first.<//>
    <${Shown} live=${live}>${(/** @type {Device[]} */ devices) => {
      const stopped = devices.filter(({ stopped_at: at }) => at !== null).length;
      const device = devices.find(({ id }) => id === shown);
      if (devices.length === 0) return html`<${NoDevices} />`;
      return html`
        ${stopped > 0 && html`<${Notice} kind="bad">${counted(stopped, 'device has', 'devices have')} stopped pulling: what they block grows old.<//>`}
        <${LongList} label="Devices" columns=${columns(names)} rows=${devices} keyOf=${keyOf}
          onRow=${(/** @type {Device} */ { id }) => setShown(id)} />
        ${device !== undefined && html`<${DeviceDialog} device=${device} names=${names} onClose=${() => setShown(undefined)} />`}
      `;
    }}<//>
  `;
}

const keyOf = (/** @type {Device} */ { id }) => id;

/** All devices: those that stopped first, then those that are refused, then by their last pull. @returns {Promise<Device[]>} */
async function readDevices() {
  const devices = await allPages('/devices', 'devices');
  return devices.sort((a, b) => urgency(b) - urgency(a) || (a.last_pull < b.last_pull ? 1 : -1));
}

/** @param {Device} device */
const urgency = ({ stopped_at: stopped, last_status: status }) => (stopped !== null ? 2 : status >= 400 ? 1 : 0);

const NoDevices = () => html`
  <${Empty} icon="devices" title="No device has pulled a feed yet">
    <p>Make a key with the permission feed:read, and point a firewall at the address of a feed. <a href=${link('/feeds')}>Feeds</a> has the set-up for each appliance.</p>
  <//>
`;

/** @param {{ device: Device }} props */
function State({ device: { stopped_at: stopped, last_status: status } }) {
  if (stopped !== null) return html`<${Badge} kind="bad">stopped<//>`;
  return status >= 400 ? html`<${Badge} kind="warn">answered ${status}<//>` : html`<${Badge} kind="good">pulls<//>`;
}

/** By how much the document that is furthest behind is, s; null where that is not known. @param {Device} device */
function behindOf({ documents }) {
  const known = documents.flatMap(({ behind_seconds: behind }) => behind ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

/** @param {{ seconds: number | null }} props */
const Behind = ({ seconds }) =>
  seconds === null ? html`<span class="soft">–</span>` : seconds === 0 ? 'up to date' : duration(seconds * 1000);

/** @param {Device} device */
const shareOfUnchanged = ({ answers }) => {
  const good = answers['200'] + answers['304'];
  return good === 0 ? '–' : percent(answers['304'] / good);
};

/** @param {import('../names.js').Names} names @returns {import('../ui/long-list.js').LongColumn<Device>[]} */
const columns = (names) => [
  { label: 'State', width: '7.75rem', cell: (device) => html`<${State} device=${device} />` },
  { label: 'Address', width: 'minmax(7rem, 1fr)', cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  { label: 'User-Agent', width: 'minmax(7rem, 1.5fr)', secondary: true, cell: ({ user_agent: agent }) => html`<bdi>${agent || '–'}</bdi>` },
  { label: 'Key', width: 'minmax(6rem, 1fr)', secondary: true, cell: ({ key_id: id }) => html`<bdi>${names.keyName(id)}</bdi>` },
  { label: 'Last pull', width: '6.5rem', number: true, cell: ({ last_pull: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Every',
    width: '5.5rem',
    number: true,
    secondary: true,
    cell: ({ interval_seconds: every }) => (every === null ? html`<span class="soft">–</span>` : duration(every * 1000)),
  },
  { label: 'Behind', width: '6.5rem', number: true, secondary: true, cell: (device) => html`<${Behind} seconds=${behindOf(device)} />` },
  { label: '304', width: '3.5rem', number: true, secondary: true, cell: shareOfUnchanged },
];

/** @param {{ device: Device, names: import('../names.js').Names, onClose: () => void }} props */
function DeviceDialog({ device, names, onClose }) {
  const { answers } = device;
  return html`
    <${Dialog} title=${device.address} wide onClose=${onClose}>
      ${device.stopped_at !== null && html`<${Notice} kind="bad">It stopped: it used to pull every ${duration((device.interval_seconds ?? 0) * 1000)}, and last did ${dateTime(device.last_pull)}.<//>`}
      ${!device.sends_validators && device.pulls > 3 && html`<${Notice}>It never asks conditionally (If-None-Match), so it gets the whole feed at each pull.<//>`}
      <${Facts} facts=${[
        ['State', html`<${State} device=${device} />`],
        ['User-Agent', html`<bdi>${device.user_agent}</bdi>`],
        ['Key', names.keyName(device.key_id)],
        ['First pull', dateTime(device.first_pull)],
        ['Last pull', dateTime(device.last_pull)],
        ['Pulls', count(device.pulls)],
        [
          'Answers',
          `${count(answers['200'])} new, ${count(answers['304'])} unchanged, ${count(answers['4xx'])} refused, ${count(answers['5xx'])} failed`,
        ],
      ]} />
      ${
        device.documents.length > 0 &&
        html`<${Table} label="What it has" columns=${documentColumns(names)} rows=${device.documents}
        keyOf=${(/** @type {any} */ each) => `${each.feed_id} ${each.format} ${each.family} ${each.action}`} />`
      }
    <//>
  `;
}

/** @param {import('../names.js').Names} names @returns {import('../ui/table.js').Column<Device['documents'][number]>[]} */
const documentColumns = (names) => [
  {
    label: 'Feed',
    cell({ feed_id: id }) {
      const feed = names.feedOf(id);
      return html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`;
    },
  },
  { label: 'Document', cell: ({ format, family, action }) => `${format}, ${family}, ${action}` },
  { label: 'Got it', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Content of', cell: ({ last_modified: at }) => html`<${Ago} at=${at} />` },
  { label: 'Behind', number: true, cell: ({ behind_seconds: behind }) => html`<${Behind} seconds=${behind} />` },
];
