import { html } from 'htm/preact';
import { manage } from '../../api.js';
import { LEVELS } from '../../tables.js';
import { FormDialog } from '../../ui/dialog.js';
import { useFields } from '../../ui/form.js';
import { toast } from '../../ui/toast.js';
import { ExpiryField } from './expiry.js';
import { ListField } from './list-field.js';
import { FeedChanges, usePreview } from './preview.js';
import { neverBlockedText, StillBlocked } from './still-blocked.js';
import { WhatChanges } from './what-changes.js';

const ACTIONS = [
  { value: 'block', label: 'Block' },
  { value: 'allow', label: 'Never block (allow)' },
];

/** @param {{ names: Names, value?: string, action?: string, onClose: () => void, onDone: () => void }} props */
export function BlockForm({ names, value = '', action = 'block', onClose, onDone }) {
  const { values, set, body, input } = useFields('blockTarget', { value, action });
  const isGiven = body.value !== undefined;
  const preview = usePreview(manage('/rules'), isGiven ? { ...body, preview: true } : undefined);
  const isAllow = values.action === 'allow';
  const announce = (done) => {
    if (isAllow) toast(neverBlockedText(body.value, done), done.still_blocked?.length === 0 ? 'good' : 'bad');
    else toast(html`<bdi>${body.value}</bdi> ${done.landed ? 'is now blocked.' : 'was accepted and takes effect in a moment.'}`);
    onDone();
  };
  const level = (field) => input(field, { empty: 'Default', options: LEVELS });
  return html`
    <${FormDialog} title="Block or allow" wide action=${isAllow ? 'Never block' : 'Block'} request=${{ address: manage('/rules'), body }} onDone=${announce} onClose=${onClose} disabled=${preview.answer === undefined}>
      ${input('value', { label: 'Address, network, ASN or country', hint: undefined, required: true, autofocus: true, placeholder: '192.0.2.0/24, AS64500, NL', autocomplete: 'off', fault: preview.faultOf('value') })}
      <div class="form-row">
        ${input('action', { hint: undefined, options: ACTIONS })}
        <${ListField} names=${names} value=${values.list} onValue=${(list) => set({ list })} />
        <${ExpiryField} value=${values.expires} onValue=${(expires) => set({ expires })} usual=${isAllow ? 'Never' : '1 day (default)'} />
      </div>
      <div class="form-row">
        ${input('reason', { fault: preview.faultOf('reason') })}${level('confidence')}${level('severity')}
      </div>
      <${WhatChanges} preview=${preview} isGiven=${isGiven} isFault=${preview.faultOf('value') !== undefined}>
        ${(answer) => html`<${StillBlocked} answer=${answer} /><${FeedChanges} answer=${answer} />`}
      <//>
    <//>
  `;
}
