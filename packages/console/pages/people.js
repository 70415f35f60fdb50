import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError, ask, manage } from '../api.js';
import { useLiveWork } from '../data.js';
import { may } from '../session.js';
import { ROLES } from '../tables.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { Confirm, FormDialog } from '../ui/dialog.js';
import { SelectField, TextField } from '../ui/field.js';
import { PageHead } from '../ui/page-head.js';
import { Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { toast } from '../ui/toast.js';

const ADDRESS = manage('/workspace');

/** @param {PageProps} props */
export function Page({ session }) {
  const live = useLiveWork('people', readPeople);
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState(/** @type {GroupRole | undefined} */ (undefined));
  const actions = html`<${Button} kind="main" icon="plus" onClick=${() => setAdding(true)}>Add group role<//>`;
  return html`
    <${PageHead} title="People" actions=${actions}>Roles for identity-provider groups, in addition to those in the service's settings.<//>
    <${Loaded} live=${live}>${(/** @type {any} */ known) => html`
      <${Card} title="Groups">
        ${
          known.rows.length === 0
            ? html`<${Notice} kind="info">No group roles yet.<//>`
            : html`<${Table} label="Groups" columns=${columns(session, setRemoved)} rows=${known.rows} keyOf=${(/** @type {GroupRole} */ { text }) => text} />`
        }
      <//>
      <${Card} title="Active in the last 90 days">
        ${known.seen.length === 0 ? html`<p class="soft">No one yet.</p>` : html`<${Table} label="People" columns=${SEEN} rows=${known.seen} keyOf=${(/** @type {any} */ { id }) => id} />`}
      <//>
      ${isAdding && html`<${Add} session=${session} onClose=${() => setAdding(false)} onDone=${live.refresh} />`}
      ${removed !== undefined && html`<${Remove} removed=${removed} onClose=${() => setRemoved(undefined)} onDone=${live.refresh} />`}
    `}<//>
  `;
}

/** @returns {Promise<any>} */
async function readPeople() {
  const [{ body }, seen] = await Promise.all([ask(ADDRESS), ask(manage('/people'))]);
  return { rows: body.people.map(rowOf), seen: seen.body.people };
}

/** Parses `operator@keycloak=soc`. @param {string} text @returns {GroupRole} */
function rowOf(text) {
  const [, role = '', provider = '', group = ''] = /^(\w+)(?:@([a-z0-9-]+))?=(.+)$/s.exec(text) ?? [];
  return { text, role, provider, group };
}

/** Nobody may grant or revoke a role above their own. @param {Session} session @param {string} role */
const mayGive = (session, role) => ROLES.find(({ value }) => value === role)?.permissions.every((each) => may(session, each)) ?? false;

/** @param {Session} session @param {(row: GroupRole) => void} remove @returns {Column<GroupRole>[]} */
const columns = (session, remove) => [
  { label: 'Group', cell: ({ group }) => html`<bdi class="text">${group}</bdi>` },
  { label: 'Provider', cell: ({ provider }) => (provider === '' ? 'any' : html`<span class="mono">${provider}</span>`) },
  { label: 'Role', cell: ({ role }) => html`<${Badge}>${role}<//>` },
  {
    label: 'Change',
    cell: (row) =>
      mayGive(session, row.role) &&
      html`<${Button} tiny kind="danger" aria-label=${`Remove ${row.group}`} onClick=${() => remove(row)}>Remove<//>`,
  },
];

/** @type {Column<any>[]} */
const SEEN = [
  {
    label: 'Name',
    cell: ({ name, id }) => html`<span><bdi class="text">${name}</bdi><br /><span class="soft small mono text">${id}</span></span>`,
  },
  { label: 'Role', cell: ({ role }) => html`<${Badge}>${role}<//>` },
  { label: 'Last seen', cell: ({ last_seen: at }) => html`<${Ago} at=${at} />` },
];

/** Attempts when the workspace changes concurrently. */
const TRIES = 5;

/** @param {(people: string[]) => string[]} change */
async function write(change, tries = TRIES) {
  const { body, tag } = await ask(ADDRESS);
  try {
    await ask(ADDRESS, { method: 'PATCH', ifMatch: tag ?? '*', body: { people: change(body.people) } });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 412) || tries === 1) throw error;
    await write(change, tries - 1);
  }
}

/** @param {{ session: Session, onClose: () => void, onDone: () => void }} props */
function Add({ session, onClose, onDone }) {
  const roles = ROLES.filter(({ value }) => mayGive(session, value));
  const [{ group, provider, role }, setForm] = useState({ group: '', provider: '', role: roles[0]?.value ?? '' });
  const set = (field) => (value) => setForm((before) => ({ ...before, [field]: value }));
  const work = async () => {
    const text = `${role}${provider.trim() === '' ? '' : `@${provider.trim()}`}=${group}`;
    await write((people) => [...people.filter((each) => each !== text), text]);
    toast(html`Group <bdi>${group}</bdi> now has the role ${role}.`);
    onDone();
  };
  return html`
    <${FormDialog} title="Add group role" action="Add role" work=${work} onClose=${onClose} disabled=${group === ''}>
      ${(faultOf) => html`
        <${TextField} label="Group" hint="Its name at the provider." value=${group} onValue=${set('group')} maxlength="256" autofocus fault=${faultOf('people')} />
        <${SelectField} label="Role" value=${role} onValue=${set('role')} options=${roles} />
        <${TextField} label="Provider" hint="Its id in the settings, such as keycloak; empty: any provider." value=${provider} onValue=${set('provider')} maxlength="32" />
      `}
    <//>
  `;
}

/** @param {{ removed: GroupRole, onClose: () => void, onDone: () => void }} props */
function Remove({ removed: { text, group, role }, onClose, onDone }) {
  const work = async () => {
    await write((people) => people.filter((each) => each !== text));
    toast(html`Role ${role} removed from <bdi>${group}</bdi>.`);
    onDone();
  };
  return html`
    <${Confirm} title="Remove role?" action="Remove" danger work=${work} onClose=${onClose}>
      <p>Members of <bdi class="text">${group}</bdi> lose the role ${role} with their next request. Roles from the service's settings remain.</p>
    <//>
  `;
}
