import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { count, counted, durations, endText } from '../../format.js';
import { FormDialog } from '../../ui/dialog.js';
import { CheckField, SelectField, TextField } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { toast } from '../../ui/toast.js';
import { FeedChanges, usePreview } from './preview.js';
import { nameOf } from './tabs.js';
import { Undo } from './undo.js';
import { WhatChanges } from './what-changes.js';

const ADDRESS = manage('/rules/change');
const AS_IT_IS = { value: '', label: 'Unchanged' };
const EXPIRES = [
  AS_IT_IS,
  ...['1h', '1d', '7d', '30d', '365d'].map((value) => ({ value, label: `In ${durations(value)[0].label}` })),
  { value: 'never', label: 'Never' },
  { value: 'at', label: 'At a date' },
];

/**
 * @param {{ selection: RuleSelection, names: Names, onClose: () => void, onDone: () => void }} props
 */
export function ChangeRules({ selection, names, onClose, onDone }) {
  const [form, setForm] = useState({ expires: '', at: '', hasReason: false, reason: '', list: '' });
  const [isSure, setSure] = useState(false);
  const edit = (changes) => {
    setSure(false);
    setForm((before) => ({ ...before, ...changes }));
  };
  const set = settingOf(form);
  const isGiven = Object.keys(set).length > 0;
  const preview = usePreview(ADDRESS, isGiven ? { ...selection, set, preview: true } : undefined);
  const answer = /** @type {any | undefined} */ (preview.answer);
  const isAccess = selection.kind === undefined || selection.kind === 'access_rule';
  const work = async () => {
    // Sends the previewed expiry, not one relative to a later now.
    const wanted = answer?.expires_at ? { ...set, expires: answer.expires_at } : set;
    const { changed, batches } = await changeAll({ ...selection, set: wanted, ...(isSure && { confirmed: true }) });
    onDone();
    toast(html`${counted(changed, 'rule')} changed. <${Undo} batches=${batches} onDone=${onDone} />`);
  };
  const ready = answer !== undefined && answer.changed > 0 && (!answer.needs_confirmation || isSure);
  return html`
    <${FormDialog} title="Change rules" wide action=${answer === undefined ? 'Apply' : `Apply to ${answer.next === null ? '' : 'at least '}${counted(answer.changed, 'rule')}`} work=${work} curl=${curlOf('POST', ADDRESS, { ...selection, set })} onClose=${onClose} disabled=${!ready}>
      <div class="form-row">
        <${SelectField} label="Expires" value=${form.expires} onValue=${(expires) => edit({ expires })} options=${EXPIRES}
          fault=${form.expires === 'at' ? undefined : preview.faultOf('set.expires')} />
        ${
          form.expires === 'at' &&
          html`<${TextField} label="Date and time" value=${form.at} onValue=${(at) => edit({ at })} placeholder="2027-01-31T12:00:00Z"
            fault=${form.at === '' ? undefined : preview.faultOf('set.expires')} />`
        }
        ${
          isAccess &&
          html`<${SelectField} label="List" value=${form.list} onValue=${(list) => edit({ list })}
            options=${[AS_IT_IS, ...names.lists.filter(({ source }) => source === null).map(({ id, name }) => ({ value: id, label: name }))]} />`
        }
      </div>
      <${CheckField} label="Change the reason" checked=${form.hasReason} onValue=${(hasReason) => edit({ hasReason })} />
      ${
        form.hasReason &&
        html`<${TextField} label="Reason" hint="Leave empty to remove it." value=${form.reason} maxlength="2048" onValue=${(reason) => edit({ reason })} />`
      }
      <${WhatChanges} preview=${preview} isGiven=${isGiven} isFault=${preview.faultOf('set.expires') !== undefined}>
        ${(/** @type {any} */ found) => html`<${Outlook} answer=${found} set=${set} names=${names} />`}
      <//>
      ${
        answer?.needs_confirmation &&
        html`<${CheckField} label=${`Change the other ${count(answer.changed)} anyway`} checked=${isSure} onValue=${setSure} />`
      }
    <//>
  `;
}

/** @param {{ expires: string, at: string, hasReason: boolean, reason: string, list: string }} form */
const settingOf = ({ expires, at, hasReason, reason, list }) => ({
  ...(expires !== '' && (expires !== 'at' || at.trim() !== '') && { expires: expires === 'at' ? at.trim() : expires }),
  ...(hasReason && { reason: reason.trim() === '' ? null : reason.trim() }),
  ...(list !== '' && { list }),
});

/** Repeats requests until all selected rules are changed. @param {Record<string, any>} body */
async function changeAll(body) {
  let changed = 0;
  /** @type {string[]} */
  const batches = [];
  let after;
  do {
    const { body: done } = await ask(ADDRESS, { method: 'POST', once: crypto.randomUUID(), body: { ...body, after } });
    changed += done.changed;
    batches.push(...done.batches);
    after = done.next ?? undefined;
  } while (after !== undefined);
  return { changed, batches };
}

/** @param {{ answer: any, set: Record<string, any>, names: Names }} props */
function Outlook({ answer, set, names }) {
  const { changed, moved, unchanged, left_out: leftOut, refused, refusals, expires_at: until, sample, next } = answer;
  const others = [
    unchanged > 0 && `${count(unchanged)} already up to date`,
    leftOut > 0 && `${count(leftOut)} managed by sources and unchanged`,
  ].filter((text) => text !== false);
  return html`
    <p role="status">
      <strong>${next === null ? '' : 'At least '}${counted(changed, 'rule changes', 'rules change')}</strong>${others.length > 0 && `; ${others.join('; ')}`}.
      You can undo this batch for 7 days.
    </p>
    ${
      refused > 0 &&
      html`<${Notice} kind="warn"><strong>${counted(refused, 'rule')} cannot be changed</strong>:
        <ul>${refusals.map(({ rule, why }) => html`<li key=${rule}><bdi class="mono">${rule}</bdi>: <span class="text">${why}</span></li>`)}</ul><//>`
    }
    ${
      changed > 0 &&
      html`<${Table} label="Sample of changed rules" columns=${columnsOf(set, until, names)} rows=${sample} keyOf=${(/** @type {Rule} */ { id }) => id} />`
    }
    ${moved > 0 ? html`<${FeedChanges} answer=${answer} />` : changed > 0 && html`<p class="soft">No feed changes now: rules leave feeds when they expire.</p>`}
  `;
}

/**
 * @param {Record<string, any>} set
 * @param {string | null | undefined} until
 * @param {Names} names
 * @returns {Column<Rule>[]}
 */
const columnsOf = (set, until, names) => [
  { label: 'Rule', cell: (rule) => html`<bdi class="mono">${nameOf(rule)}</bdi>` },
  ...(set.expires === undefined
    ? []
    : [
        { label: 'Expires now', cell: (/** @type {Rule} */ rule) => endText(rule.expires_at) },
        { label: 'After', cell: () => html`<strong>${endText(until ?? null)}</strong>` },
      ]),
  ...(set.reason === undefined
    ? []
    : [
        { label: 'Reason now', cell: (/** @type {Rule} */ { reason }) => html`<bdi>${reason ?? '–'}</bdi>` },
        { label: 'After', cell: () => html`<strong><bdi>${set.reason ?? '–'}</bdi></strong>` },
      ]),
  ...(set.list === undefined
    ? []
    : [
        { label: 'List now', cell: (/** @type {Rule} */ { list_id: id }) => html`<bdi>${names.listName(id)}</bdi>` },
        { label: 'After', cell: () => html`<strong><bdi>${names.listName(set.list)}</bdi></strong>` },
      ]),
];
