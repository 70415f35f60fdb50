import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useWork } from '../../data.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Failed } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';
import { ExpiryField } from './expiry.js';
import { ListField } from './list-field.js';
import { FeedChanges, usePreview } from './preview.js';
import { neverBlockedText, StillBlocked } from './still-blocked.js';
import { WhatChanges } from './what-changes.js';

const LEVELS = [{ value: '', label: 'Default' }, ...['low', 'medium', 'high', 'critical'].map((level) => ({ value: level, label: level }))];
const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Never block (allow)' },
];

/** @param {{ names: Names, value?: string, action?: string, onClose: () => void, onDone: () => void }} props */
export function BlockForm({ names, value: given = '', action = 'block', onClose, onDone }) {
  const [form, setForm] = useState({ value: given, action, list: '', expires: '', reason: '', confidence: '', severity: '' });
  const set = (field) => (text) => setForm((before) => ({ ...before, [field]: text }));
  const [once] = useState(() => crypto.randomUUID());
  const { busy, error, run } = useWork();
  const body = Object.fromEntries(Object.entries({ ...form, value: form.value.trim() }).filter(([, text]) => text !== ''));
  const isGiven = body.value !== undefined;
  const preview = usePreview(manage('/rules'), isGiven ? { ...body, preview: true } : undefined);
  const isAllow = form.action === 'allow';
  const submit = () =>
    run(async () => {
      const { body: done } = await ask(manage('/rules'), { method: 'POST', once, body });
      if (isAllow) toast(neverBlockedText(body.value, done), done.still_blocked?.length === 0 ? 'good' : 'bad');
      else toast(html`<bdi>${body.value}</bdi> ${done.landed ? 'is now blocked.' : 'was accepted and takes effect in a moment.'}`);
      onDone();
      onClose();
    });
  const fault = preview.faultOf;
  return html`
    <${Dialog}
      title="Block or allow" wide onClose=${onClose} onSubmit=${submit}
      footer=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy} disabled=${preview.answer === undefined}>${isAllow ? 'Never block' : 'Block'}<//>`}
    >
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <${TextField} label="Address, network, ASN or country" value=${form.value} onValue=${set('value')} required autofocus maxlength="64"
        placeholder="192.0.2.0/24, AS64500, NL" autocomplete="off" fault=${fault('value')} />
      <div class="form-row">
        <${SelectField} label="Action" value=${form.action} onValue=${set('action')} options=${ACTIONS} />
        <${ListField} names=${names} value=${form.list} onValue=${set('list')} />
        <${ExpiryField} value=${form.expires} onValue=${set('expires')} usual=${isAllow ? 'Never' : '1 day (default)'} />
      </div>
      <div class="form-row">
        <${TextField} label="Reason" value=${form.reason} onValue=${set('reason')} maxlength="2048" fault=${fault('reason')} />
        <${SelectField} label="Confidence" value=${form.confidence} onValue=${set('confidence')} options=${LEVELS} />
        <${SelectField} label="Severity" value=${form.severity} onValue=${set('severity')} options=${LEVELS} />
      </div>
      <${WhatChanges} preview=${preview} isGiven=${isGiven} isFault=${fault('value') !== undefined}
        curl=${curlOf('POST', manage('/rules'), body)}>
        ${(answer) => html`<${StillBlocked} answer=${answer} /><${FeedChanges} answer=${answer} />`}
      <//>
    <//>
  `;
}
