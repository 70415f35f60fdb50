import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../api.js';
import { useLive } from '../data.js';
import { counted, dateTime } from '../format.js';
import { isAdmin, may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Code } from '../ui/code.js';
import { FormDialog } from '../ui/dialog.js';
import { TextField } from '../ui/field.js';
import { Facts } from '../ui/figures.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { toast } from '../ui/toast.js';

const ADDRESS = manage('/approvals');
const nameOf = ({ actor, person, key_name: key }) => actor ?? person ?? key ?? 'a command';

const COLUMNS = [
  { label: 'Change', cell: ({ why }) => html`<bdi>${why}</bdi>` },
  { label: 'State', cell: ({ state }) => html`<${Badge} kind=${state === 'pending' ? 'warn' : undefined}>${state}<//>` },
  { label: 'Requested by', cell: (each) => html`<bdi>${nameOf(each)}</bdi>` },
  { label: 'Reason', secondary: true, cell: ({ reason }) => html`<bdi>${reason ?? ''}</bdi>` },
  { label: 'Approved by', secondary: true, cell: ({ approvers }) => html`<bdi>${approvers.join(', ')}</bdi>` },
  { label: 'Requested', cell: ({ requested_at: at }) => html`<${Ago} at=${at} />` },
];

/** @param {PageProps} props */
export function Page({ session }) {
  const live = useLive(ADDRESS);
  const [decided, setDecided] = useState(/** @type {{ id: string, verb: Verb } | undefined} */ (undefined));
  const decide = (verb) => (each) =>
    html`<${Button} size="small" kind=${verb === 'approve' ? undefined : 'danger'} onClick=${() => setDecided({ id: each.id, verb })}>${LABELS[verb]}<//>`;
  const actions = {
    label: 'Decision',
    cell: (each) =>
      each.state === 'pending' &&
      may(session, 'rules:write') &&
      html`<div class="row">${decide('approve')(each)}${decide('reject')(each)}${isAdmin(session) && decide('force')(each)}</div>`,
  };
  return html`
    <${PageHead} title="Approvals">Large changes that wait until two people stand behind them.<//>
    <${Loaded} live=${live}>${({ approvals }) =>
      approvals.length === 0
        ? html`<${Empty} icon="check" title="No requests"><p>No change waits for approval.</p><//>`
        : html`<${Table} label="Approvals" columns=${[...COLUMNS, actions]} rows=${approvals} keyOf=${({ id }) => id} />`}<//>
    ${decided !== undefined && html`<${Decide} ...${decided} onClose=${() => setDecided(undefined)} onDone=${live.refresh} />`}
  `;
}

/** @typedef {'approve' | 'reject' | 'force'} Verb */
const LABELS = { approve: 'Approve', reject: 'Reject', force: 'Force' };

/** Approves the content that it shows, by its hash. @param {{ id: string, verb: Verb, onClose: () => void, onDone: () => void }} props */
function Decide({ id, verb, onClose, onDone }) {
  const live = useLive(`${ADDRESS}/${id}`);
  const [reason, setReason] = useState('');
  const work = async () => {
    const body = { ...(reason !== '' && { reason }), ...(verb === 'approve' && { hash: live.value?.hash }) };
    const answer = await ask(`${ADDRESS}/${id}/${verb}`, { method: 'POST', body });
    toast(answer.body.state === 'pending' ? 'Approved. Another person has to approve it too.' : `The change is ${answer.body.state}.`);
    onDone();
  };
  return html`
    <${FormDialog} title=${`${LABELS[verb]} this change?`} wide action=${LABELS[verb]} kind=${verb === 'approve' ? 'main' : 'danger'} work=${work} onClose=${onClose} disabled=${live.value === undefined || (verb === 'force' && reason === '')}>
      ${() => html`
        <${Loaded} live=${live}>${(each) => html`
          <${Notice} kind="warn"><span class="text">${each.why}</span><//>
          <${Facts} facts=${[
            ['Requested by', html`<bdi>${nameOf(each)}</bdi>`],
            ['Rules', counted(each.rules, 'rule')],
            ['Expires', dateTime(each.expires_at)],
          ]} />
          ${verb === 'force' && html`<p>Forcing applies the change now, without another person. The reason is in the audit log and reported by webhooks.</p>`}
          <${Code} text=${each.content.join('\n')} label="The change" />
        `}<//>
        <${TextField} label="Reason" value=${reason} onValue=${setReason} />
      `}
    <//>
  `;
}
