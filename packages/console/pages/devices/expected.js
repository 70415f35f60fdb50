import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, manage } from '../../api.js';
import { useLive, useLiveWork } from '../../data.js';
import { may } from '../../session.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { LinuxHost } from './linux-host.js';

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

/** @param {{ session: Session }} props */
export function EnrolHost({ session }) {
  const [isOpen, setOpen] = useState(false);
  if (!may(session, 'keys:write')) return null;
  return html`
    <${Button} kind="main" icon="plus" onClick=${() => setOpen(true)}>Enrol Linux host<//>
    ${isOpen && html`<${EnrolDialog} onClose=${() => setOpen(false)} />`}
  `;
}

/** @param {{ onClose: () => void }} props */
function EnrolDialog({ onClose }) {
  const { value: feeds = [] } = useLiveWork('feeds to enrol', readFeedNames);
  const [name, setName] = useState('');
  const [feed, setFeed] = useState('');
  const [isNamed, setNamed] = useState(false);
  if (isNamed)
    return html`
      <${Dialog} title="Enrol Linux host" wide onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Close<//>`}>
        <${LinuxHost} name=${name} feed=${feed} />
      <//>
    `;
  const options = [{ value: '', label: 'Choose a feed' }, ...feeds.map(({ id, name: label }) => ({ value: id, label }))];
  return html`
    <${Dialog}
      title="Enrol Linux host" onClose=${onClose} onSubmit=${() => setNamed(true)}
      footer=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" disabled=${name.trim() === '' || feed === ''}>Create line<//>`}
    >
      <${TextField} label="Name" value=${name} onValue=${setName} maxlength=${200} autofocus />
      <${SelectField} label="Feed" value=${feed} onValue=${setFeed} options=${options} />
    <//>
  `;
}

/** Composed feeds first. */
const readFeedNames = async () =>
  [...(await allPages('/feeds', 'feeds')), ...(await allPages('/lists', 'lists'))].map(({ id, name }) => ({ id, name }));
