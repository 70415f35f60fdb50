import { html } from 'htm/preact';
import { count, dateTime, duration } from '../../format.js';
import { keyName } from '../../names.js';
import { Badge } from '../../ui/badge.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { Refused, whyRefused } from '../clients/refused.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { documentText, isFeed } from './documents.js';

/** Silence after which a device is shown as silent, ms. */
const QUIET = 86_400_000;

/** A device with few fetches has no interval to miss. @param {Device} device */
export const isSilent = ({ stopped_at: stopped, last_pull: at }) => stopped !== null || Date.now() - Date.parse(at) > QUIET;

/** @param {{ device: Device }} props */
export function State({ device }) {
  const { stopped_at: stopped, last_status: status, refusals } = device;
  if (stopped !== null) return html`<${Badge} kind="bad">stopped<//>`;
  if (isSilent(device)) return html`<${Badge}>silent<//>`;
  if (refusals.length > 0) return html`<${Refused} status=${refusals[0].status} />`;
  return status >= 400 ? html`<${Badge} kind="warn">status ${status}<//>` : html`<${Badge} kind="good">active<//>`;
}

/** Lag of the oldest document, s; null: unknown, also for refused documents. @param {Device} device */
export function behindOf({ documents, refusals }) {
  const behind = Math.max(-1, ...documents.map(({ behind_seconds: each }) => each ?? -1));
  return behind < (refusals.length > 0 ? 1 : 0) ? null : behind;
}

/** @param {{ seconds: number | null }} props */
export const Behind = ({ seconds }) =>
  seconds === null ? html`<span class="soft">–</span>` : seconds === 0 ? 'up to date' : duration(seconds * 1000);

/** @param {{ device: Device, names: Names, onClose: () => void }} props */
export function DeviceDialog({ device, names, onClose }) {
  const { answers } = device;
  return html`
    <${Dialog} title=${keyName(device)} wide onClose=${onClose}>
      ${device.stopped_at !== null && html`<${Notice} kind="bad">Stopped: its last fetch was ${dateTime(device.last_pull)}, the usual interval is ${duration((device.interval_seconds ?? 0) * 1000)}.<//>`}
      ${!device.sends_validators && answers['200'] > 3 && html`<${Notice}>It sends no conditional requests (If-None-Match), so every fetch transfers the complete feed.<//>`}
      <${Facts} facts=${[
        ['State', html`<${State} device=${device} />`],
        ['User-Agent', html`<bdi>${device.user_agent}</bdi>`],
        ['Address', html`<span class="mono">${device.address}</span>`],
        ['Key', keyName(device)],
        ['First fetch', dateTime(device.first_pull)],
        ['Last fetch', dateTime(device.last_pull)],
        ['Fetches', count(device.pulls)],
        [
          'Responses',
          `${count(answers['200'])} new, ${count(answers['304'])} unchanged, ${count(answers['4xx'])} refused, ${count(answers['5xx'])} failed`,
        ],
      ]} />
      ${
        device.refusals.length > 0 &&
        html`<${Table} label="Refused requests" columns=${refusalColumns(names)} rows=${device.refusals}
        keyOf=${(each) => `${each.feed_id} ${each.feed_name} ${each.format} ${each.family} ${each.action} ${each.status}`} />`
      }
      ${
        device.documents.length > 0 &&
        html`<${Table} label="Versions" columns=${documentColumns(names, device.refusals)} rows=${device.documents}
        keyOf=${(each) => `${each.feed_id} ${each.format} ${each.family} ${each.action}`} />`
      }
    <//>
  `;
}

/** @param {Names} names @returns {Column<Refusal>[]} */
const refusalColumns = (names) => [
  {
    label: 'Refused',
    cell({ feed_id: id, feed_name: name, format }) {
      if (format !== null && !isFeed({ format })) return documentText({ format, family: '', action: '' });
      if (id === null && name !== null) return /^[0-9a-f-]{36}$/i.test(name) ? 'a deleted feed' : html`<bdi>${name}</bdi>`;
      const feed = names.feedOf(id);
      return html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`;
    },
  },
  { label: 'Response', cell: ({ status }) => whyRefused(status) },
  { label: 'Times', number: true, cell: ({ count: times }) => count(times) },
  { label: 'Since', cell: ({ since }) => html`<${Ago} at=${since} />` },
  { label: 'Last', cell: ({ at }) => html`<${Ago} at=${at} />` },
];

/** @param {Names} names @param {readonly Refusal[]} refusals @returns {Column<Device['documents'][number]>[]} */
const documentColumns = (names, refusals) => [
  {
    label: 'Feed',
    cell(document) {
      if (!isFeed(document)) return html`<span class="soft">none</span>`;
      const feed = names.feedOf(document.feed_id);
      return html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`;
    },
  },
  { label: 'Document', cell: documentText },
  { label: 'Fetched', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Version', cell: ({ last_modified: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Behind',
    number: true,
    cell({ feed_id: id, at, behind_seconds: behind }) {
      const isRefused = refusals.some((each) => each.feed_id === id && each.at >= at);
      return html`<${Behind} seconds=${isRefused && behind === 0 ? null : behind} />`;
    },
  },
];
