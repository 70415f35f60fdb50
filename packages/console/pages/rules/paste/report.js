import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../../api.js';
import { curlFile } from '../../../curl.js';
import { andMore, count, counted, durations } from '../../../format.js';
import { link } from '../../../router.js';
import { Badge } from '../../../ui/badge.js';
import { Chips } from '../../../ui/chips.js';
import { FormDialog } from '../../../ui/dialog.js';
import { CheckField, TextField } from '../../../ui/field.js';
import { Failed, Notice } from '../../../ui/states.js';
import { Table } from '../../../ui/table.js';
import { toast } from '../../../ui/toast.js';
import { ListField } from '../list-field.js';
import { FeedChanges, usePreview } from '../preview.js';
import { Undo } from '../undo.js';
import { WhatChanges } from '../what-changes.js';
import { Judged, SURE } from './list.js';

/** Lists offered as chips; more are a menu. */
const FEW_LISTS = 5;
const EXPIRES = [{ value: '', label: '1 day (default)' }, ...durations('7d', '30d', '365d')];
/** @type {Record<PastedVerdict, { label: string, kind: Kind }>} */
const VERDICTS = {
  new: { label: 'new', kind: 'accent' },
  blocked: { label: 'already blocked', kind: '' },
  inside: { label: 'inside a wider block', kind: '' },
  never_block: { label: 'never block', kind: 'good' },
  private: { label: 'private', kind: 'warn' },
  protected: { label: 'protected', kind: 'warn' },
};
const EXTRACT = manage('/extract');

/** Blocks addresses of a report, an e-mail or a log. @param {{ text: string, names: Names, onClose: () => void, onDone: () => void }} props */
export function ReportForm({ text: given, names, onClose, onDone }) {
  const [text, setText] = useState(given);
  const [ticks, setTicks] = useState(/** @type {Record<string, boolean>} */ ({}));
  const [form, setForm] = useState({ list: '', expires_in: '', reason: '' });
  const [isSure, setSure] = useState(false);
  const set = (/** @type {string} */ field) => (/** @type {string} */ value) => setForm((before) => ({ ...before, [field]: value }));
  const extracted = usePreview(EXTRACT, text.trim() === '' ? undefined : text);
  /** @type {PastedTarget[]} */
  const found = extracted.answer?.found ?? [];
  const isTicked = (/** @type {PastedTarget} */ { target, verdict, why }) => why === null && (ticks[target] ?? verdict === 'new');
  const chosen = found.filter(isTicked);
  const lines = chosen.map(({ target }) => target).join('\n');
  const preview = usePreview(manage('/imports', { ...form, preview: true }), chosen.length === 0 ? undefined : lines);
  const { answer } = preview;
  const isBroad = answer?.wide !== undefined || answer?.addresses !== undefined;
  const change = manage('/imports', { ...form, ...(isBroad && { confirmed: true }) });
  const announce = (/** @type {any} */ body) => {
    const show = `${link('/rules/access')}?${new URLSearchParams({ batch: body.batches[0] ?? '' })}`;
    toast(
      html`${counted(body.accepted, 'address or network', 'addresses and networks')} blocked. <a href=${show}>Show</a> <${Undo} batches=${body.batches} onDone=${onDone} />`,
    );
    onDone();
  };
  const toggleAll = (/** @type {string} */ verdict) => {
    const same = found.filter((each) => each.verdict === verdict);
    const isOn = same.some((each) => !isTicked(each));
    setTicks({ ...ticks, ...Object.fromEntries(same.map(({ target }) => [target, isOn])) });
  };
  const own = names.lists.filter(({ source }) => source === null);
  return html`
    <${FormDialog} title="Paste report" wide action=${chosen.length === 0 ? 'Block' : `Block ${count(chosen.length)}`} request=${{ address: change, body: lines }} curl=${curlFile(change, 'list.txt')}
      onDone=${announce} onClose=${onClose}
      disabled=${answer === undefined || answer.accepted === 0 || (isBroad && !isSure)}>
      <${TextField} label="Report, e-mail or log" rows=${found.length > 0 ? 3 : 8} value=${text} onValue=${setText} autofocus=${given === ''}
        placeholder="C2 at hxxp://45[.]83[.]64[.]1:8080/a, scans from 198.51.100.0/24"
        hint="Addresses and networks are found, also defanged. A version such as 1.2.3.4 looks like an address: check each line." />
      ${extracted.error !== undefined && html`<${Failed} error=${extracted.error} />`}
      ${extracted.isWaiting && html`<p class="soft" role="status">Reading…</p>`}
      ${extracted.answer !== undefined && found.length === 0 && html`<p role="status">No addresses found.</p>`}
      ${
        found.length > 0 &&
        html`
        <${Chips} label="Select" values=${[...new Set(chosen.map(({ verdict }) => verdict))]} onValue=${toggleAll}
          options=${verdictsIn(found)} />
        <div class="scrolls"><${Table} label="Found" rows=${found} keyOf=${(/** @type {PastedTarget} */ { target }) => target}
          columns=${columns(isTicked, (target, isOn) => setTicks({ ...ticks, [target]: isOn }))} /></div>
        <${Chips} label="Expires after" options=${EXPIRES} values=${[form.expires_in]} onValue=${set('expires_in')} />
        ${
          own.length <= FEW_LISTS
            ? html`<${Chips} label="List" values=${[form.list || (own.find((list) => list.default)?.id ?? '')]} onValue=${set('list')}
                options=${own.map(({ id, name }) => ({ value: id, label: html`<bdi>${name}</bdi>` }))} />`
            : html`<${ListField} names=${names} value=${form.list} onValue=${set('list')} />`
        }
        <${TextField} label="Reason" value=${form.reason} onValue=${set('reason')} maxlength="2048" />`
      }
      ${extracted.answer !== undefined && html`<${NotFound} answer=${extracted.answer} />`}
      ${
        found.length > 0 &&
        html`<${WhatChanges} preview=${preview} isGiven=${chosen.length > 0}>
          ${(/** @type {any} */ then) => html`<${Judged} answer=${then} /><${FeedChanges} answer=${then} />`}
        <//>`
      }
      ${isBroad && html`<${CheckField} label=${answer.wide !== undefined ? SURE.wide : SURE.changed} checked=${isSure} onValue=${setSure} />`}
    <//>
  `;
}

/** @param {PastedTarget[]} found */
const verdictsIn = (found) =>
  [...Map.groupBy(found, ({ verdict }) => verdict)].map(([verdict, same]) => ({
    value: verdict,
    label: `${VERDICTS[verdict].label} ${count(same.length)}`,
    disabled: same.every(({ why }) => why !== null),
  }));

/** @param {(row: PastedTarget) => boolean} isTicked @param {(target: string, isOn: boolean) => void} onTick @returns {Column<PastedTarget>[]} */
const columns = (isTicked, onTick) => [
  {
    label: 'Target',
    cell: (
      row,
    ) => html`<${CheckField} label=${html`<bdi class="mono nowrap">${row.target}</bdi>`} checked=${isTicked(row)} disabled=${row.why !== null}
      onValue=${(/** @type {boolean} */ isOn) => onTick(row.target, isOn)} />`,
  },
  {
    label: 'State',
    cell: ({ verdict, why, rule }) => html`<div><${Badge} kind=${VERDICTS[verdict].kind}>${VERDICTS[verdict].label}<//>
      ${rule !== null && html`<span class="small"> <bdi class="mono">${rule.target}</bdi> in <bdi>${rule.list_name}</bdi></span>`}
      ${why !== null && html`<span class="small text"> ${why}</span>`}</div>`,
  },
  {
    label: 'Line',
    cell: ({ line, context, times }) =>
      html`<span class="small text">${count(line)}: ${context}${times > 1 && html` <span class="soft">(${count(times)} times)</span>`}</span>`,
  },
];

/** @param {{ answer: { found_left_out: number, unclear: { line: number, text: string, why: string }[], unclear_left_out: number } }} props */
const NotFound = ({ answer: { found_left_out: left, unclear, unclear_left_out: more } }) => html`
  ${left > 0 && html`<${Notice} kind="warn">${counted(left, 'more target')} not shown. Paste the rest separately.<//>`}
  ${
    unclear.length > 0 &&
    html`<details><summary>${counted(unclear.length + more, 'unclear notation')} skipped</summary>
      <ul>${unclear.map(({ line, text, why }) => html`<li key=${text}>Line ${count(line)}: <bdi class="mono">${text}</bdi> <span class="text">${why}</span></li>`)}</ul>
      ${andMore(unclear.length + more, unclear.length).replace(', and', 'And')}
    </details>`
  }
`;
