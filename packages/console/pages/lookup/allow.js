import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { counted, endText } from '../../format.js';
import { FormDialog } from '../../ui/dialog.js';
import { CheckList, TextField } from '../../ui/field.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { toast } from '../../ui/toast.js';
import { ExpiryField } from '../rules/expiry.js';
import { FeedChanges, usePreview } from '../rules/preview.js';
import { StillBlocked } from '../rules/still-blocked.js';
import { Undo } from '../rules/undo.js';
import { WhatChanges } from '../rules/what-changes.js';

const ALLOW = manage('/allow');
const SPLIT = manage('/split');

/** @param {FeedSetting} setting */
const idOf = ({ kind, id }) => (kind === 'workspace' ? kind : (id ?? ''));

/**
 * Allows a target in all feeds: the rule and the settings of feeds, undone together.
 * @param {{ target: string, maySet: boolean, onClose: () => void, onDone: () => void }} props
 */
export function AllowForm({ target, maySet, onClose, onDone }) {
  const [form, setForm] = useState({ expires: '', reason: '' });
  const [unticked, setUnticked] = useState(/** @type {string[]} */ ([]));
  const given = Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
  const body = { value: target, ...given };
  const preview = usePreview(ALLOW, { ...body, preview: true });
  /** @type {FeedSetting[]} */
  const settings = preview.answer?.settings ?? [];
  const ids = settings.map(idOf);
  const ticked = maySet ? ids.filter((id) => !unticked.includes(id)) : [];
  const change = { ...body, feeds: ticked };
  const announce = (/** @type {any} */ done) => {
    const left = (done.still_blocked?.length ?? 0) + (done.still_blocked_left_out ?? 0);
    const then =
      left === 0
        ? 'is allowed. Devices get it with their next fetch.'
        : `is on the never-block list, but ${counted(left, 'feed still blocks', 'feeds still block')} it.`;
    toast(html`<bdi>${target}</bdi> ${then} <${Undo} batches=${done.batches} onDone=${onDone} />`, left === 0 ? 'good' : 'bad');
    onDone();
  };
  const others = (/** @type {StillBlockedAnswer} */ answer) =>
    answer.still_blocked?.filter(({ kind, id }) => !ticked.includes(kind === 'workspace' ? kind : (id ?? '')));
  return html`
    <${FormDialog} title=${html`Allow <bdi>${target}</bdi>`} wide action="Allow" request=${{ address: ALLOW, body: change }} onDone=${announce} onClose=${onClose} disabled=${preview.answer === undefined}>
      <div class="form-row">
        <${ExpiryField} value=${form.expires} onValue=${(/** @type {string} */ expires) => setForm({ ...form, expires })} usual="Never" />
        <${TextField} label="Reason" value=${form.reason} maxlength="2048" autofocus onValue=${(/** @type {string} */ reason) => setForm({ ...form, reason })} fault=${preview.faultOf('reason')} />
      </div>
      ${
        settings.length > 0 &&
        (maySet
          ? html`<${CheckList} label="Feeds that must subtract never-block rules" values=${ticked} onValues=${(/** @type {string[]} */ on) => setUnticked(ids.filter((id) => !on.includes(id)))}
              options=${settings.map((each) => ({ value: idOf(each), label: nameOf(each) }))} hint="Applies to all never-block rules of these feeds." />`
          : html`<${Notice} kind="warn">${counted(settings.length, 'feed ignores', 'feeds ignore')} never-block rules. Ask an admin to set them.<//>`)
      }
      <${WhatChanges} preview=${preview} isGiven>
        ${(/** @type {any} */ answer) => html`<${StillBlocked} answer=${{ ...answer, still_blocked: others(answer) ?? answer.still_blocked }} /><${FeedChanges} answer=${answer} />`}
      <//>
    <//>
  `;
}

/** @param {FeedSetting} setting */
const nameOf = ({ kind, name, subtract_allow: value }) =>
  `${name} (${kind === 'composed' ? 'feed' : kind})${value === 'workspace' ? ': those of the whole workspace' : ''}`;

/** Replaces wider blocks by blocks without the target. @param {{ target: string, onClose: () => void, onDone: () => void }} props */
export function SplitForm({ target, onClose, onDone }) {
  const preview = usePreview(SPLIT, { value: target, preview: true });
  /** @type {SplitRule[]} */
  const splits = preview.answer?.splits ?? [];
  return html`
    <${FormDialog} title=${html`Take <bdi>${target}</bdi> out of wider blocks`} wide action="Split the block" request=${{ address: SPLIT, body: { value: target } }}
      done=${(/** @type {any} */ answer) => html`${counted(answer.splits.length, 'block')} split. <${Undo} batches=${answer.batches} onDone=${onDone} />`}
      onDone=${onDone} onClose=${onClose} disabled=${splits.length === 0}>
      <${WhatChanges} preview=${preview} isGiven>
        ${(/** @type {any} */ answer) => html`
          <${Table} label="Blocks that are split" columns=${COLUMNS} rows=${splits} keyOf=${(/** @type {SplitRule} */ { rule }) => rule.id} />
          ${answer.remaining.length > 0 && html`<${Notice} kind="warn">It stays blocked by ${answer.remaining.map((/** @type {SplitRule['rule']} */ rule, i) => html`${i > 0 && ', '}<bdi class="mono">${rule.target}</bdi> in <bdi>${rule.list_name}</bdi>`)}: sources, countries and ASNs cannot be split.<//>`}
          <${FeedChanges} answer=${answer} />`}
      <//>
    <//>
  `;
}

/** @type {Column<SplitRule>[]} */
const COLUMNS = [
  { label: 'Block', cell: ({ rule }) => html`<bdi class="mono">${rule.target}</bdi> in <bdi>${rule.list_name}</bdi>` },
  {
    label: 'Becomes',
    cell: ({ parts }) =>
      parts.length === 0 ? 'removed' : html`${counted(parts.length, 'block')}: <bdi class="mono small">${parts.join(', ')}</bdi>`,
  },
  { label: 'Reason', cell: ({ rule }) => html`<bdi>${rule.reason ?? ''}</bdi>` },
  {
    label: 'Expires',
    number: true,
    cell: ({ rule }) => endText(rule.expires_at),
  },
];
