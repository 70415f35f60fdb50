import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, manage } from '../api.js';
import { useLiveWork, usePreviewOfDeletion } from '../data.js';
import { counted } from '../format.js';
import { useDo } from '../router.js';
import { may } from '../session.js';
import { PERMISSIONS, ROLES } from '../tables.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Code } from '../ui/code.js';
import { Confirm, Dialog, FormDialog } from '../ui/dialog.js';
import { CheckField, CheckList, SelectField } from '../ui/field.js';
import { useFields } from '../ui/form.js';
import { PageHead } from '../ui/page-head.js';
import { Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago, Countdown } from '../ui/time.js';
import { Pulled } from './keys/pulled.js';
import { ExpiryField } from './rules/expiry.js';

/** @param {PageProps} props */
export function Page({ session, place }) {
  const live = useLiveWork('keys', readKeys);
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState(/** @type {Key | undefined} */ (undefined));
  const [isAll, setAll] = useState(false);
  useDo(place, (what) => what === 'make' && setMaking(true));
  const actions = html`<${Button} kind="main" icon="plus" onClick=${() => setMaking(true)}>New key<//>`;
  return html`
    <${PageHead} title="Keys" actions=${actions}>API keys of senders, firewalls and people. weir shows a key once, when you create it.<//>
    <${Loaded} live=${live}>${(/** @type {any} */ { keys, lists, feeds }) => {
      const ended = keys.filter((key) => stateOf(key) !== 'valid').length;
      const listed = isAll ? keys : keys.filter((key) => stateOf(key) === 'valid');
      return html`
        ${
          ended > 0 &&
          html`<${CheckField} label=${`Show ${counted(ended, 'expired or revoked key')}`} checked=${isAll}
          onValue=${setAll} />`
        }
        <${Table} label="Keys" columns=${columns(session, { lists, feeds }, setRevoked)} rows=${listed}
          keyOf=${(/** @type {Key} */ { id }) => id} />
        ${
          isMaking &&
          html`<${NewKey} session=${session} lists=${lists} feeds=${feeds} onClose=${() => setMaking(false)}
          onDone=${live.refresh} />`
        }
        ${
          revoked !== undefined &&
          html`<${Revoke} session=${session} revoked=${revoked} onClose=${() => setRevoked(undefined)}
          onDone=${live.refresh} />`
        }
      `;
    }}<//>
  `;
}

async function readKeys() {
  const [keys, lists, feeds] = await Promise.all([allPages('/keys', 'keys'), allPages('/lists', 'lists'), allPages('/feeds', 'feeds')]);
  const named = (/** @type {any[]} */ rows) => rows.map(({ id, name }) => ({ id, name }));
  return { keys, lists: named(lists), feeds: named(feeds) };
}

/** @param {Key} key @returns {'valid' | 'revoked' | 'expired'} */
function stateOf({ revoked_at: revoked, expires_at: expires }) {
  if (revoked !== null) return 'revoked';
  return expires !== null && Date.parse(expires) <= Date.now() ? 'expired' : 'valid';
}

/**
 * @param {Session} session
 * @param {Omit<any, 'keys'>} known
 * @param {(key: Key) => void} revoke
 * @returns {Column<Key>[]}
 */
const columns = (session, known, revoke) => [
  {
    label: 'Key',
    cell: ({ id, name, prefix }) =>
      html`<span><bdi>${name ?? 'unnamed'}</bdi>${id === session.key_id && html` <${Badge} kind="accent">yours<//>`}<br /><span class="soft small mono">${prefix}…</span></span>`,
  },
  {
    label: 'Permissions',
    cell: ({ permissions, role }) =>
      html`<span class="row">${(role === null ? permissions : [role]).map((each) => html`<${Badge} key=${each}>${each}<//>`)}</span>`,
  },
  { label: 'Bound to', cell: (key) => boundTo(key, known) },
  { label: 'Allowed from', cell: ({ from }) => html`<span class="mono small">${from.length === 0 ? 'anywhere' : from.join(', ')}</span>` },
  { label: 'Last used', cell: ({ id, last_used_at: at }) => (id === session.key_id ? 'now' : html`<${Ago} at=${at} />`) },
  {
    label: 'Expires in',
    cell: (key) => {
      const state = stateOf(key);
      return state === 'valid' ? html`<${Countdown} until=${key.expires_at} forever="never" />` : html`<${Badge} kind="warn">${state}<//>`;
    },
  },
  {
    label: 'Change',
    cell: (key) =>
      stateOf(key) === 'valid' &&
      key.permissions.every((each) => may(session, each)) &&
      html`<${Button} tiny kind="danger" aria-label=${`Revoke ${key.name ?? key.prefix}`} onClick=${() => revoke(key)}>Revoke<//>`,
  },
];

/** @param {Key} key @param {Omit<any, 'keys'>} known */
function boundTo({ list_id: list, feed_id: feed }, { lists, feeds }) {
  if (list !== null) return html`<span>list <bdi>${lists.find(({ id }) => id === list)?.name ?? '(deleted)'}</bdi></span>`;
  return feed === null ? '' : html`<span>feed <bdi>${feeds.find(({ id }) => id === feed)?.name ?? '(deleted)'}</bdi></span>`;
}

/** feed:read, or the first permission that this session can grant. @param {Session} session */
function firstChoice(session) {
  const given = PERMISSIONS.map(({ value }) => value).filter((value) => may(session, value));
  return given.includes('feed:read') ? ['feed:read'] : given.slice(0, 1);
}

/** @param {{ session: Session, lists: Named[], feeds: Named[], onClose: () => void, onDone: () => void }} props */
function NewKey({ session, lists, feeds, onClose, onDone }) {
  const { values, set, body: given, input } = useFields('createKey');
  const [permissions, setPermissions] = useState(() => firstChoice(session));
  const [bound, setBound] = useState('');
  const [made, setMade] = useState(/** @type {(Key & { key: string | null }) | undefined} */ (undefined));
  if (made !== undefined) return html`<${MadeKey} made=${made} onClose=${onClose} />`;

  const offered = PERMISSIONS.filter(({ value, whole }) => may(session, value) && !(whole && bound !== ''));
  const chosen = permissions.filter((each) => offered.some(({ value }) => value === each));
  // Roles that cannot be bound or exceed this session are not offered.
  const roles = ROLES.filter((each) => each.permissions.every((permission) => offered.some(({ value }) => value === permission)));
  const isRole = roles.some(({ value }) => value === values.role);
  const [kind, id] = bound.split(' ');
  const { role, permissions: _permissions, ...rest } = given;
  const body = { ...rest, ...(isRole ? { role } : { permissions: chosen }), ...(bound !== '' && { [kind]: id }) };
  const announce = (answer) => {
    setMade(answer);
    onDone();
  };
  const bindings = [
    { value: '', label: 'The whole workspace' },
    ...lists.map((list) => ({ value: `list ${list.id}`, label: `List ${list.name}` })),
    ...feeds.map((feed) => ({ value: `feed ${feed.id}`, label: `Feed ${feed.name}` })),
  ];
  return html`
    <${FormDialog} title="New key" action="Create key" request=${{ address: manage('/keys'), body }} onDone=${announce} stays onClose=${onClose} disabled=${!isRole && chosen.length === 0}>
      ${(faultOf) => html`
        ${input('name', { hint: 'Its owner, such as edge firewall.', autofocus: true, fault: faultOf('name') })}
        ${roles.length > 0 && input('role', { value: isRole ? values.role : '', hint: undefined, empty: 'None: choose permissions', options: roles })}
        ${
          !isRole &&
          html`<${CheckList} label="Permissions" options=${offered.map(({ value, label }) => ({ value, label: `${label} (${value})` }))} values=${chosen}
          onValues=${setPermissions} hint="You can grant only your own permissions." />`
        }
        <div class="form-row">
          <${SelectField} label="Bound to" value=${bound} onValue=${setBound} options=${bindings} />
          <${ExpiryField} value=${values.expires_in} onValue=${(expires) => set({ expires_in: expires })} usual="Never" />
        </div>
        ${input('from', { fault: faultOf('from'), hint: 'Networks, such as 198.51.100.0/24; empty: any. From other networks the key is rejected.' })}
      `}
    <//>
  `;
}

/** @param {{ made: Key & { key: string | null }, onClose: () => void }} props */
const MadeKey = ({ made, onClose }) => html`
  <${Dialog} title="Copy the key now" onClose=${onClose} footer=${html`<${Button} kind="main" onClick=${onClose}>I have copied it<//>`}>
    ${
      made.key === null
        ? html`<${Notice} kind="warn">The key exists, but weir showed it before and does not store it. Revoke it and create another.<//>`
        : html`<${Notice} kind="warn">Copy the key now: weir stores only a hash and cannot show it again.<//><${Code} text=${made.key}
          label="The key" />`
    }
  <//>
`;

/** @param {{ session: Session, revoked: Key, onClose: () => void, onDone: () => void }} props */
function Revoke({ session, revoked, onClose, onDone }) {
  // Without the preview the dialog only asks.
  const { value: uses } = usePreviewOfDeletion(manage(`/keys/${revoked.id}`, { preview: true }));
  return html`
    <${Confirm} title="Revoke key?" action="Revoke" danger request=${{ address: manage(`/keys/${revoked.id}`), method: 'DELETE' }}
      done=${() => html`Key <bdi>${revoked.name ?? revoked.prefix}</bdi> revoked.`} onDone=${onDone} onClose=${onClose}>
      <p>The key ${revoked.name !== null && html`<bdi>${revoked.name}</bdi> `}<span class="mono">${revoked.prefix}…</span> stops working within two seconds (HTTP 401). This cannot be undone.</p>
      ${revoked.id !== session.key_id && html`<p>Last used: <${Ago} at=${revoked.last_used_at} />.</p>`}
      ${uses !== undefined && html`<${Pulled} uses=${uses} />`}
      ${revoked.id === session.key_id && html`<${Notice} kind="bad">You are signed in with this key and will be signed out.<//>`}
    <//>
  `;
}
