import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { addressFacts } from '../../../addresses.js';
import { manage } from '../../../api.js';
import { curlFile } from '../../../curl.js';
import { count, counted } from '../../../format.js';
import { FormDialog } from '../../../ui/dialog.js';
import { CheckField, SelectField, TextField } from '../../../ui/field.js';
import { Facts } from '../../../ui/figures.js';
import { Notice } from '../../../ui/states.js';
import { Table } from '../../../ui/table.js';
import { toast } from '../../../ui/toast.js';
import { ExpiryField } from '../expiry.js';
import { ListField } from '../list-field.js';
import { FeedChanges, usePreview } from '../preview.js';
import { StillBlockedOf } from '../still-blocked.js';
import { Undo } from '../undo.js';
import { WhatChanges } from '../what-changes.js';

const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Never block (allow)' },
  { value: 'unblock', label: 'Unblock' },
];
export const SURE = {
  wide: 'Yes, block these countries, ASNs and large networks',
  removed: 'Yes, remove more than half of the list',
  changed: 'Yes, change more than half of the list or its addresses',
};
const MOST_ROWS = 50;

/** @param {{ names: Names, onClose: () => void, onDone: () => void }} props */
export function PasteForm({ names, onClose, onDone }) {
  const [text, setText] = useState('');
  const [form, setForm] = useState({ action: 'block', list: '', expires: '', reason: '', file: '' });
  const set = (field) => (value) => setForm((before) => ({ ...before, [field]: value }));
  const [isReplacing, setReplacing] = useState(false);
  const [isSure, setSure] = useState(false);
  const { action, list, expires, reason, file } = form;
  const replaces = isReplacing && action !== 'unblock';
  const query = { list, action, expires_in: expires, reason, file, ...(replaces && { replace: true }) };
  const isGiven = text.trim() !== '';
  const preview = usePreview(manage('/imports', { ...query, preview: true }), isGiven ? text : undefined);
  const takes = preview.answer?.accepted ?? 0;
  const isLarge = preview.answer?.replaced?.needs_confirmation === true;
  const isBroad = preview.answer?.wide !== undefined;
  const asks = isLarge || isBroad || preview.answer?.addresses !== undefined;
  const sure = isBroad ? 'wide' : removesMost(preview.answer?.replaced) ? 'removed' : 'changed';
  const change = manage('/imports', { ...query, ...(asks && { confirmed: true }) });
  const announce = (body) => {
    const removed = body.replaced === undefined ? '' : `, ${counted(body.replaced.removed, 'rule')} removed`;
    toast(html`${counted(body.accepted, 'entry', 'entries')} accepted${removed}. <${Undo} batches=${body.batches} onDone=${onDone} />`);
    onDone();
  };
  const onFile = async (event) => {
    const [chosen] = event.target.files;
    if (chosen === undefined) return;
    set('file')(chosen.name);
    setText(await chosen.text());
  };
  return html`
    <${FormDialog} title="Paste list" wide action=${takes === 0 ? 'Apply' : `Apply ${counted(takes, 'entry', 'entries')}`} request=${{ address: change, body: text }}
      curl=${curlFile(change, file === '' ? 'list.txt' : file)} onDone=${announce} onClose=${onClose} disabled=${takes === 0 || (asks && !isSure)}>
      <${TextField}
        label="Entries" rows=${8} value=${text} onValue=${setText} autofocus placeholder=${'192.0.2.1\n198.51.100.0/24  # a comment\nAS64500'}
        hint="Addresses, networks, ASNs and countries, one per line, or as CSV with a header, JSON or NDJSON. Limit: 10,000."
      />
      <label class="file-choice small">Or a file: <input type="file" accept=".txt,.csv,.json,.ndjson,.list,text/*"
        onChange=${onFile} /></label>
      <div class="form-row">
        <${SelectField} label="Action" hint="Used for entries without an action." value=${action} onValue=${set('action')} options=${ACTIONS} />
        <${ListField} names=${names} value=${list} onValue=${set('list')} />
        <${ExpiryField} value=${expires} onValue=${set('expires')} usual=${action === 'block' ? '1 day (default)' : 'Never'} />
        <${TextField} label="Reason" value=${reason} onValue=${set('reason')} maxlength="2048" />
      </div>
      ${
        action !== 'unblock' &&
        html`<${CheckField} label="Replace the list: remove rules that are not pasted" checked=${isReplacing} onValue=${setReplacing} />`
      }
      <${WhatChanges} preview=${preview} isGiven=${isGiven}>
        ${(answer) => html`<${Judged} answer=${answer} /><${StillBlockedOf} answer=${answer} /><${FeedChanges} answer=${answer} />`}
      <//>
      ${asks && html`<${CheckField} label=${SURE[sure]} checked=${isSure} onValue=${setSure} />`}
    <//>
  `;
}

/** @param {any} [replaced] */
const removesMost = (replaced) => replaced !== undefined && replaced.removed > replaced.changed + replaced.unchanged;

/** @param {{ answer: any }} props */
export function Judged({
  answer: { accepted, failed, expired, passed, errors, errors_left_out: leftOut, warnings, replaced, wide, addresses },
}) {
  const more = Math.max(0, errors.length - MOST_ROWS) + leftOut;
  return html`
    <p role="status">
      ${counted(accepted, 'valid entry', 'valid entries')}${failed > 0 && html`, <strong>${count(failed)} invalid</strong> (skipped)`}${expired > 0 && `, ${count(expired)} expired`}.
    </p>
    ${
      wide !== undefined &&
      html`<${Notice} kind="bad">${[counted(wide.countries, 'country', 'countries'), counted(wide.asns, 'ASN', 'ASNs'), counted(wide.networks, 'network', 'networks')].filter((text) => !text.startsWith('0 ')).join(', ')}: is this intended?<//>`
    }
    ${addresses !== undefined && html`<${Facts} facts=${addressFacts(addresses)} />`}
    ${replaced !== undefined && html`<${WhatGoes} ...${replaced} failed=${failed} />`}
    ${
      errors.length > 0 &&
      html`<div class="scrolls"><${Table} label="Problem" columns=${COLUMNS} rows=${errors.slice(0, MOST_ROWS)}
      keyOf=${({ place, message }) => place + message} /></div>`
    }
    ${more > 0 && html`<p class="small soft">And ${counted(more, 'more entry', 'more entries')}.</p>`}
    ${passed.map(({ reason, rows }) => html`<p class="small soft" key=${reason}>Skipped ${counted(rows, 'row')}: ${reason}.</p>`)}
    ${warnings.slice(0, 5).map((warning) => html`<${Notice} kind="warn" key=${warning}><span class="text">${warning}</span><//>`)}
    ${warnings.length > 5 && html`<p class="small soft">And ${counted(warnings.length - 5, 'more warning')}.</p>`}
  `;
}

/** @param {any & { failed: number }} props */
const WhatGoes = ({ failed, ...replaced }) => html`
  <p>
    ${failed > 0 ? 'No rule is removed while an entry is invalid' : html`<strong>${counted(replaced.removed, 'rule')}</strong> removed from the list`}${replaced.kept > 0 && `; ${counted(replaced.kept, 'rule')} with a reference unchanged`}.
  </p>
  ${replaced.needs_confirmation && html`<${Notice} kind="bad">${removesMost(replaced) ? 'This is more than half of the list.' : 'More than half of the list or of its addresses would change.'}<//>`}
`;

/** @type {Column<{ place: string, message: string }>[]} */
const COLUMNS = [
  { label: 'Line', cell: ({ place }) => html`<span class="nowrap">${place}</span>` },
  { label: 'Problem', cell: ({ message }) => html`<span class="text">${message}</span>` },
];
