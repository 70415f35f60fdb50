import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, ask, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Code } from '../../ui/code.js';
import { Dialog, FormDialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { useFields } from '../../ui/form.js';
import { Notice } from '../../ui/states.js';
import { FirstPull, keyOf, withKey } from '../feeds/set-up-card.js';
import { SET_UPS } from '../feeds/setup.js';
import { LinuxHost } from './linux-host.js';

const LINUX = 'Linux host';
const NEW = 'new';
const ALL = 'all';
/** Settings of a new feed behind Advanced. */
const ADVANCED = ['max_entries', 'format', 'family', 'subtract_allow'];

/**
 * From the kind of a device to its first fetch: a feed, old or new, a key of its own, and the lines to paste.
 * @param {{ session: Session, onClose: () => void }} props
 */
export function NewDevice({ session, onClose }) {
  const { value: feeds = [] } = useLiveWork('feeds for devices', readFeedNames);
  const kinds = [LINUX, ...SET_UPS.filter(({ needs }) => may(session, needs ?? 'feed:read')).map(({ name }) => name)];
  const [form, setForm] = useState({ kind: LINUX, name: '', feed: '', lists: ALL });
  const made = useFields('createFeed');
  const [ready, setReady] = useState(/** @type {{ feed: NamedFeed, made?: { id: string, key: string } } | undefined} */ (undefined));
  const set = (/** @type {string} */ field) => (/** @type {string} */ value) => setForm({ ...form, [field]: value });
  const setUp = SET_UPS.find(({ name }) => name === form.kind);
  const feedId = form.feed || (feeds[0]?.id ?? NEW);
  const isNew = feedId === NEW;
  const work = async () => {
    const lists = form.lists === ALL ? { all_lists: true } : { lists: [form.lists] };
    const feed = isNew
      ? { ...(await ask(manage('/feeds'), { method: 'POST', body: { ...made.body, ...lists } })).body, kind: 'composed' }
      : feeds.find(({ id }) => id === feedId);
    const key =
      setUp && (await ask(manage('/keys'), { method: 'POST', once: crypto.randomUUID(), body: keyOf(feed, setUp, form.name) })).body;
    setReady({ feed, made: key });
  };
  if (ready !== undefined)
    return html`
      <${Dialog} title=${html`Set up <bdi>${form.name}</bdi>`} wide onClose=${onClose} footer=${html`<${Button} onClick=${onClose}>Close<//>`}>
        ${setUp === undefined ? html`<${LinuxHost} name=${form.name} feed=${ready.feed.id} />` : html`<${Lines} setUp=${setUp} ...${ready} />`}
      <//>
    `;
  return html`
    <${FormDialog} title="New device" action="Next" stays work=${work} onClose=${onClose} disabled=${form.name.trim() === '' || (isNew && made.body.name === undefined)}>
      ${(/** @type {(field: string) => string | undefined} */ faultOf) => html`
        <${SelectField} label="Kind" value=${form.kind} onValue=${set('kind')} options=${kinds} hint=${setUp?.advice} />
        <${TextField} label="Name" value=${form.name} onValue=${set('name')} maxlength="200" autofocus hint="Its key has this name." />
        <${SelectField} label="Feed" value=${feedId} onValue=${set('feed')}
          options=${[...feeds.map(({ id, name }) => ({ value: id, label: name })), ...(may(session, 'manage') ? [{ value: NEW, label: 'New feed…' }] : [])]} />
        ${
          isNew &&
          html`
          <div class="form-row">
            ${made.input('name', { label: 'Name of the feed', hint: undefined, fault: faultOf('name') })}
            <${SelectField} label="Lists" value=${form.lists} onValue=${set('lists')}
              options=${[{ value: ALL, label: 'All lists' }, ...feeds.filter(({ kind }) => kind === 'list').map(({ id, name }) => ({ value: id, label: name }))]} />
            ${made.input('target', { label: 'Model', empty: 'Any', hint: undefined })}
          </div>
          <details><summary>Advanced</summary><div class="form-row">${ADVANCED.map((field) => made.input(field, { empty: 'Default', fault: faultOf(field) }))}</div></details>`
        }
      `}
    <//>
  `;
}

/** @typedef {{ id: string, name: string, kind: 'list' | 'composed' }} NamedFeed */

/** @param {{ setUp: SetUp, feed: NamedFeed, made?: { id: string, key: string } }} props */
function Lines({ setUp, feed, made }) {
  const path = `/v1/threat/feeds/${encodeURIComponent(feed.name)}`;
  const text = setUp.text({ address: location.origin + path, origin: location.origin, path });
  return html`
    <${Notice} kind="warn">These lines contain the key. Copy them now: weir stores only a hash and cannot show the key again.<//>
    <${Code} label=${`Set-up for ${setUp.name}`} text=${made === undefined ? text : withKey(text, made.key)} />
    ${made !== undefined && html`<${FirstPull} keyId=${made.id} feed=${feed} isBouncer=${setUp.name === 'Bouncer'} />`}
  `;
}

/** Composed feeds first. @returns {Promise<NamedFeed[]>} */
async function readFeedNames() {
  const [feeds, lists] = await Promise.all([allPages('/feeds', 'feeds'), allPages('/lists', 'lists')]);
  const named = (/** @type {any[]} */ rows, /** @type {'list' | 'composed'} */ kind) => rows.map(({ id, name }) => ({ id, name, kind }));
  return [...named(feeds, 'composed'), ...named(lists, 'list')];
}
