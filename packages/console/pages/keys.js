import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, allPages, ask, manage } from '../api.js';
import { curlOf } from '../curl.js';
import { useLiveWork, useWork } from '../data.js';
import { counted } from '../format.js';
import { useDo } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Code, SameWithCurl } from '../ui/code.js';
import { Confirm, Dialog } from '../ui/dialog.js';
import { CheckField, CheckList, SelectField, TextField } from '../ui/field.js';
import { PageHead } from '../ui/page-head.js';
import { Failed, Notice, Shown } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago, Countdown } from '../ui/time.js';
import { toast } from '../ui/toast.js';
import { PERMISSIONS, ROLES } from '../words.js';
import { Pulled } from './keys/pulled.js';

const DAY = 86_400;
const EXPIRIES = [
  { value: '', label: 'Never' },
  { value: String(DAY), label: '1 day' },
  { value: String(30 * DAY), label: '30 days' },
  { value: String(365 * DAY), label: '1 year' },
];

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
    <${Shown} live=${live}>${(/** @type {any} */ { keys, lists, feeds }) => {
      const ended = keys.filter((key) => stateOf(key) !== 'valid').length;
      const shown = isAll ? keys : keys.filter((key) => stateOf(key) === 'valid');
      return html`
        ${
          ended > 0 &&
          html`<${CheckField} label=${`Show ${counted(ended, 'expired or revoked key')}`} checked=${isAll}
          onValue=${setAll} />`
        }
        <${Table} label="Keys" columns=${columns(session, { lists, feeds }, setRevoked)} rows=${shown}
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

/**
 * @param {{ session: Session, lists: { id: string, name: string }[], feeds: { id: string, name: string }[], onClose: () => void, onDone:
 *   () => void }} props
 */
function NewKey({ session, lists, feeds, onClose, onDone }) {
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState(() => firstChoice(session));
  const [role, setRole] = useState('');
  const [bound, setBound] = useState('');
  const [from, setFrom] = useState('');
  const [expires, setExpires] = useState('');
  const [made, setMade] = useState(/** @type {(Key & { key: string | null }) | undefined} */ (undefined));
  const [once] = useState(() => crypto.randomUUID());
  const { busy, error, run } = useWork();
  if (made !== undefined) return html`<${MadeKey} made=${made} onClose=${onClose} />`;

  const offered = PERMISSIONS.filter(({ value, whole }) => may(session, value) && !(whole && bound !== ''));
  const chosen = permissions.filter((each) => offered.some(({ value }) => value === each));
  // Roles that cannot be bound or exceed this session are not offered.
  const roles = ROLES.filter((each) => each.permissions.every((permission) => offered.some(({ value }) => value === permission)));
  const isRole = roles.some(({ value }) => value === role);
  const [kind, id] = bound.split(' ');
  const body = {
    ...(name.trim() !== '' && { name: name.trim() }),
    ...(isRole ? { role } : { permissions: chosen }),
    ...(bound !== '' && { [kind]: id }),
    ...(from.trim() !== '' && { from: from.trim().split(/[\s,]+/) }),
    ...(expires !== '' && { expires_in: Number(expires) }),
  };
  const submit = () =>
    run(async () => {
      const { body: key } = await ask(manage('/keys'), { method: 'POST', once, body });
      setMade(key);
      onDone();
    });
  const faultOf = (field) =>
    error instanceof ApiError ? error.faults.find((fault) => fault.field.split('.')[0] === field)?.message : undefined;
  const bindings = [
    { value: '', label: 'The whole workspace' },
    ...lists.map((list) => ({ value: `list ${list.id}`, label: `List ${list.name}` })),
    ...feeds.map((feed) => ({ value: `feed ${feed.id}`, label: `Feed ${feed.name}` })),
  ];
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy} disabled=${!isRole && chosen.length === 0}>Create key<//>`;
  return html`
    <${Dialog} title="New key" onClose=${onClose} onSubmit=${submit} footer=${footer}>
      ${error !== undefined && faultOf('name') === undefined && faultOf('from') === undefined && html`<${Failed} error=${error} />`}
      <${TextField} label="Name" hint="Its owner, such as edge firewall." value=${name} onValue=${setName}
        maxlength="200" autofocus fault=${faultOf('name')} />
      ${
        roles.length > 0 &&
        html`<${SelectField} label="Role" value=${isRole ? role : ''} onValue=${setRole}
          options=${[{ value: '', label: 'None: choose permissions' }, ...roles]} />`
      }
      ${
        !isRole &&
        html`<${CheckList} label="Permissions" options=${offered.map(({ value, label }) => ({ value, label: `${label} (${value})` }))} values=${chosen}
        onValues=${setPermissions} hint="You can grant only your own permissions." />`
      }
      <div class="form-row">
        <${SelectField} label="Bound to" value=${bound} onValue=${setBound} options=${bindings} />
        <${SelectField} label="Expires after" value=${expires} onValue=${setExpires} options=${EXPIRIES} />
      </div>
      <${TextField} label="Allowed from" hint="Networks, such as 198.51.100.0/24; empty: any. From other networks the key is rejected."
        value=${from} onValue=${setFrom} maxlength="4000" fault=${faultOf('from')} />
      <${SameWithCurl} text=${curlOf('POST', manage('/keys'), body)} />
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
  const address = manage(`/keys/${revoked.id}`);
  const [uses, setUses] = useState(/** @type {Uses | undefined} */ (undefined));
  useEffect(() => {
    // Without the preview the dialog only asks.
    ask(manage(`/keys/${revoked.id}`, { preview: true }), { method: 'DELETE' }).then(
      ({ body }) => setUses(body),
      () => undefined,
    );
  }, [revoked.id]);
  const work = async () => {
    await ask(address, { method: 'DELETE' });
    toast(html`Key <bdi>${revoked.name ?? revoked.prefix}</bdi> revoked.`);
    onDone();
  };
  return html`
    <${Confirm} title="Revoke key?" action="Revoke" danger work=${work} onClose=${onClose}>
      <p>The key ${revoked.name !== null && html`<bdi>${revoked.name}</bdi> `}<span class="mono">${revoked.prefix}…</span> stops working within two seconds (HTTP 401). This cannot be undone.</p>
      ${revoked.id !== session.key_id && html`<p>Last used: <${Ago} at=${revoked.last_used_at} />.</p>`}
      ${uses !== undefined && html`<${Pulled} uses=${uses} />`}
      ${revoked.id === session.key_id && html`<${Notice} kind="bad">You are signed in with this key and will be signed out.<//>`}
      <${SameWithCurl} text=${curlOf('DELETE', address)} />
    <//>
  `;
}
