import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages } from '../api.js';
import { useLiveWork } from '../data.js';
import { counted, duration, percent } from '../format.js';
import { keyName, useNames } from '../names.js';
import { setQuery, useDo } from '../router.js';
import { may } from '../session.js';
import { Button } from '../ui/button.js';
import { later } from '../ui/later.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { ClientFilter, chosen } from './clients/filter.js';
import { Versions } from './clients/versions.js';
import { Behind, behindOf, DeviceDialog, State } from './devices/device.js';
import { documentText, isFeed } from './devices/documents.js';
import { Expected } from './devices/expected.js';
import { linkToFeed } from './feeds/read-feeds.js';

const NewDevice = later(() => import('./devices/new-device.js'), 'NewDevice');

/** @param {PageProps} props */
export function Page({ session, place }) {
  const live = useLiveWork('devices', readDevices);
  const names = useNames(session);
  const { query } = place;
  const selected = query.get('id');
  const setSelected = (id) => setQuery({ id });
  const [isNew, setNew] = useState(false);
  useDo(place, (what) => setNew(what === 'new'));
  return html`
    <${PageHead} title="Devices" actions=${may(session, 'keys:write') && html`<${Button} kind="main" icon="plus" onClick=${() => setNew(true)}>New device<//>`}>Clients that fetch feeds, rules or agent configuration. Problems first.<//>
    <${Expected} names=${names} />
    ${isNew && html`<${NewDevice} session=${session} onClose=${() => setNew(false)} />`}
    <${Loaded} live=${live}>${(/** @type {Device[]} */ devices) => {
      const stopped = devices.filter(({ stopped_at: at }) => at !== null).length;
      const refused = devices.filter(({ stopped_at: at, refusals }) => at === null && refusals.length > 0).length;
      const device = devices.find(({ id }) => id === selected);
      if (devices.length === 0) return html`<${NoDevices} />`;
      const etag = query.get('etag');
      const has = devices.filter(({ documents }) => etag === null || documents.some((each) => each.etag === etag));
      const matching = chosen(has, query);
      return html`
        ${stopped > 0 && html`<${Notice} kind="bad">${counted(stopped, 'device has', 'devices have')} stopped fetching: ${stopped === 1 ? 'its' : 'their'} rules are getting outdated.<//>`}
        ${refused > 0 && html`<${Notice} kind="warn">weir refuses requests of ${counted(refused, 'device')}; ${refused === 1 ? 'it keeps its' : 'they keep their'} last version.<//>`}
        <${ClientFilter} query=${query} matching=${matching.length} all=${devices.length} what="device" />
        ${
          matching.length === 0
            ? html`<p class="soft">No matches. <${Button} tiny onClick=${() => setQuery({ q: '', silent: '', etag: '' })}>Show all<//></p>`
            : html`<${LongList} label="Devices" columns=${COLUMNS} rows=${matching} keyOf=${keyOf}
                onRow=${(/** @type {Device} */ { id }) => setSelected(id)} />`
        }
        <${Versions} title="Versions in use" of="Feed" whose="Devices" versions=${versionsOf(devices, names, etag)} />
        ${device !== undefined && html`<${DeviceDialog} device=${device} names=${names} onClose=${() => setSelected('')} />`}
      `;
    }}<//>
  `;
}

const keyOf = (/** @type {Device} */ { id }) => id;

/**
 * Groups devices by feed content, the newest content of each feed first.
 * @param {Device[]} devices
 * @param {Names} names
 * @param {string | null} selected ETag of the selected version.
 * @returns {Version[]}
 */
function versionsOf(devices, names, selected) {
  const documents = devices.flatMap(({ documents: each }) => each);
  const groups = [
    ...Map.groupBy(documents, ({ feed_id: id, format, family, action, etag }) => [id, format, family, action, etag].join(' ')),
  ];
  return groups
    .map(([key, each]) => {
      const [first] = each;
      const feed = names.feedOf(first.feed_id);
      return {
        order: `${feed.name} ${first.format} ${first.family} ${first.action}`,
        at: first.last_modified,
        key,
        what: isFeed(first)
          ? html`<span><a class="text" href=${linkToFeed(feed)}>${feed.name}</a> <span class="small soft">${documentText(first)}</span></span>`
          : html`<span>${documentText(first)}</span>`,
        note: html`<span>${behindText(first.behind_seconds)} (<${Ago} at=${first.last_modified} />)</span>`,
        clients: each.length,
        query: { etag: first.etag },
        isSelected: first.etag === selected,
      };
    })
    .toSorted((a, b) => (a.order === b.order ? Date.parse(b.at) - Date.parse(a.at) : a.order < b.order ? -1 : 1));
}

/** @param {number | null} seconds null: not known. */
const behindText = (seconds) => (seconds === null ? 'unknown' : seconds === 0 ? 'current' : `${duration(seconds * 1000)} behind`);

/** Stopped devices first, then refused ones, then by last fetch. @returns {Promise<Device[]>} */
async function readDevices() {
  const devices = await allPages('/devices', 'devices');
  return devices.sort((a, b) => urgency(b) - urgency(a) || (a.last_pull < b.last_pull ? 1 : -1));
}

/** @param {Device} device */
const urgency = ({ stopped_at: stopped, last_status: status, refusals }) =>
  stopped !== null ? 2 : status >= 400 || refusals.length > 0 ? 1 : 0;

const NoDevices = () => html`
  <${Empty} icon="devices" title="No device has fetched a feed yet">
    <p>New device creates a key and the lines to paste, and waits for the first fetch.</p>
  <//>
`;

/** @param {Device} device */
const shareOfUnchanged = ({ answers }) => {
  const good = answers['200'] + answers['304'];
  return good === 0 ? '–' : percent(answers['304'] / good);
};

/** @type {LongColumn<Device>[]} */
const COLUMNS = [
  { label: 'State', width: '7.75rem', cell: (device) => html`<${State} device=${device} />` },
  { label: 'Name', width: 'minmax(6rem, 1fr)', cell: (device) => html`<bdi>${keyName(device)}</bdi>` },
  { label: 'Address', width: 'minmax(7rem, 1fr)', secondary: true, cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  { label: 'User-Agent', width: 'minmax(7rem, 1.5fr)', secondary: true, cell: ({ user_agent: agent }) => html`<bdi>${agent || '–'}</bdi>` },
  { label: 'Last fetch', width: '6.5rem', number: true, cell: ({ last_pull: at }) => html`<${Ago} at=${at} />` },
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
