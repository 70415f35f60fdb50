import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../api.js';
import { curlOf } from '../curl.js';
import { useLiveWork, useWork } from '../data.js';
import { count } from '../format.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { Confirm, FormDialog } from '../ui/dialog.js';
import { useFields } from '../ui/form.js';
import { PageHead } from '../ui/page-head.js';
import { Failed, Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { toast } from '../ui/toast.js';

/** @param {PageProps} _props */
export function Page(_props) {
  const live = useLiveWork('webhooks', readWebhooks);
  const [form, setForm] = useState(/** @type {{ webhook?: Webhook } | undefined} */ (undefined));
  const [deleted, setDeleted] = useState(/** @type {Webhook | undefined} */ (undefined));
  const actions = html`<${Button} kind="main" icon="plus" onClick=${() => setForm({})}>New webhook<//>`;
  return html`
    <${PageHead} title="Webhooks" actions=${actions}>Send alerts to Slack, Mattermost, Teams, PagerDuty or a program, at most once a minute.<//>
    <${Loaded} live=${live}>${(/** @type {Webhook[]} */ webhooks) => html`
      ${webhooks.length === 0 && html`<${Notice} kind="info">No webhooks yet.<//>`}
      ${webhooks.map((webhook) => html`<${One} key=${webhook.id} webhook=${webhook} change=${() => setForm({ webhook })} remove=${() => setDeleted(webhook)} />`)}
      ${form !== undefined && html`<${WebhookForm} webhook=${form.webhook} onClose=${() => setForm(undefined)} onDone=${live.refresh} />`}
      ${deleted !== undefined && html`<${Delete} deleted=${deleted} onClose=${() => setDeleted(undefined)} onDone=${live.refresh} />`}
    `}<//>
  `;
}

/** @returns {Promise<Webhook[]>} */
async function readWebhooks() {
  const { body } = await ask(manage('/webhooks'));
  return Promise.all(
    body.webhooks.map(async (/** @type {Webhook} */ { id }) => {
      const { body: webhook, tag } = await ask(manage(`/webhooks/${id}`));
      return { ...webhook, tag };
    }),
  );
}

const OUTCOMES = /** @type {Record<string, string>} */ ({ delivered: 'good', failed: 'warn', 'given up': 'bad' });

/** @type {Column<any>[]} */
const COLUMNS = [
  { label: 'When', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Outcome', cell: ({ outcome }) => html`<${Badge} kind=${OUTCOMES[outcome]}>${outcome}<//>` },
  { label: 'Status', cell: ({ status }) => status ?? 'none' },
  { label: 'Took', number: true, cell: ({ ms }) => `${count(ms)} ms` },
  { label: 'Response', cell: ({ text }) => html`<span class="text small">${text}</span>` },
];

/** @param {{ webhook: Webhook, change: () => void, remove: () => void }} props */
function One({ webhook: { id, name, url, style, has_secret: hasSecret, waiting, deliveries }, change, remove }) {
  const { busy, error, run } = useWork();
  const test = () =>
    run(async () => {
      const { body } = await ask(manage(`/webhooks/${id}/test`), { method: 'POST', body: {} });
      toast(
        body.delivered
          ? html`<bdi>${name}</bdi> accepted the test (${body.status}).`
          : html`<bdi>${name}</bdi> rejected the test: <span class="text">${body.status ?? ''} ${body.text}</span>`,
        body.delivered ? 'good' : 'bad',
      );
    });
  const actions = html`<span class="row">
    <${Button} tiny busy=${busy} aria-label=${`Test ${name}`} onClick=${test}>Send test<//>
    <${Button} tiny aria-label=${`Change ${name}`} onClick=${change}>Change<//>
    <${Button} tiny kind="danger" aria-label=${`Delete ${name}`} onClick=${remove}>Delete<//>
  </span>`;
  return html`
    <${Card} title=${html`<bdi>${name}</bdi>`} actions=${actions} aria-label=${`Webhook ${name}`}>
      <p class="row"><span class="mono small text">${new URL(url).origin}/…</span><${Badge}>${style}<//>${hasSecret && html`<${Badge}>secret<//>`}</p>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${waiting && html`<${Notice} kind="warn">Delivery failing. weir retries automatically.<//>`}
      ${
        deliveries.length === 0
          ? html`<p class="soft">No messages yet.</p>`
          : html`<${Table} label=${`Messages of ${name}`} columns=${COLUMNS} rows=${deliveries}
              keyOf=${(/** @type {any} */ { at, message }) => `${at} ${message}`} />`
      }
    <//>
  `;
}

/** @param {{ webhook?: Webhook, onClose: () => void, onDone: () => void }} props */
function WebhookForm({ webhook, onClose, onDone }) {
  const isNew = webhook === undefined;
  const { body, input } = useFields('createWebhook', webhook ?? { style: 'weir' });
  const request = isNew
    ? { address: manage('/webhooks'), method: /** @type {const} */ ('POST'), body }
    : { address: manage(`/webhooks/${webhook.id}`), method: /** @type {const} */ ('PATCH'), ifMatch: webhook.tag ?? '*', body };
  const curl = curlOf(request.method, request.address, { ...body, ...(body.secret && { secret: '…' }) });
  return html`
    <${FormDialog} title=${isNew ? 'New webhook' : 'Change webhook'} action=${isNew ? 'Create webhook' : 'Apply'} request=${request} curl=${curl}
      done=${() => html`Webhook <bdi>${body.name}</bdi> ${isNew ? 'created' : 'changed'}.`} onDone=${onDone} onClose=${onClose} disabled=${!body.name || !body.url}>
      ${(faultOf) => html`
        ${input('name', { autofocus: true, fault: faultOf('name') })}
        ${input('url', { inputmode: 'url', fault: faultOf('url'), hint: 'Anyone with this URL can post there, so only people with the permission “manage” see it.' })}
        ${input('style', { fault: faultOf('style') })}
        ${input('secret', { type: 'password', autocomplete: 'off', fault: faultOf('secret'), ...(webhook?.has_secret && { hint: 'Leave empty to keep it. Enter it again for another host or style.' }) })}
      `}
    <//>
  `;
}

/** @param {{ deleted: Webhook, onClose: () => void, onDone: () => void }} props */
const Delete = ({ deleted: { id, name }, onClose, onDone }) => html`
  <${Confirm} title="Delete webhook?" action="Delete" danger request=${{ address: manage(`/webhooks/${id}`), method: 'DELETE', ifMatch: '*' }}
    done=${() => html`Webhook <bdi>${name}</bdi> deleted.`} onDone=${onDone} onClose=${onClose}>
    <p><bdi>${name}</bdi> gets no more messages. Pending ones are not sent.</p>
  <//>
`;
