import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError, manage } from '../../api.js';
import { useLive } from '../../data.js';
import { count, counted, dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Loaded, Notice } from '../../ui/states.js';
import { ChangedFields } from '../audit/fields.js';
import { RULE_TABS, tabOf } from '../rules/tabs.js';
import { batchAt } from './see.js';
import { UndoDialog } from './undo-dialog.js';
import { BATCHES } from './window.js';
import { actorOf, batchChange, whenOf, whereOf, wordOf } from './words.js';

const MINUTE = 60_000;

/** @typedef {{ rules: number, first: { target: string, why: string }[] }} Noted */

/**
 * A change, with its batch if it has one; `id` alone: a batch.
 * @param {{ change: Change | undefined, id: string | null, names: Names, mayUndo: boolean, onClose: () => void, onDone: () => void }} props
 */
export function EntryDialog({ change, id, names, mayUndo, onClose, onDone }) {
  const live = useLive(id && manage(`/batches/${encodeURIComponent(id)}`));
  const [isUndoing, setUndoing] = useState(false);
  const batch = /** @type {(Batch & { undo: Effect, warned: Noted, repeated: Noted }) | undefined} */ (live.value);
  if (isUndoing && id !== null)
    return html`<${UndoDialog} id=${id} onClose=${() => setUndoing(false)} onDone=${() => Promise.all([live.refresh(), onDone()])} />`;
  const found = change ?? (batch && batchChange(names)(batch));
  const isForgotten = live.error instanceof ApiError && live.error.status === 404;
  const isUndoable = batch !== undefined && batch.undo.removes + batch.undo.restores > 0;
  const footer =
    mayUndo && id !== null && html`<${Button} kind="main" icon="undo" disabled=${!isUndoable} onClick=${() => setUndoing(true)}>Undo<//>`;
  return html`
    <${Dialog} title=${found === undefined ? 'Batch' : wordOf(found)} wide onClose=${onClose} footer=${footer || undefined}>
      ${found && html`<${Facts} facts=${[...factsOf(found), ...(batch ? batchFacts(batch) : [])]} /><${ChangedFields} entry=${found} />`}
      ${batch && html`<${NotedBlocks} ...${batch.warned} text=${(blocks) => `Guard rails only report ${blocks} of protected networks:`} />`}
      ${batch && html`<${NotedBlocks} ...${batch.repeated} text=${(blocks) => `Longer than sent: ${blocks} of repeat offenders:`} />`}
      ${isForgotten && html`<${Notice}>Not found. Batches are stored for seven days; older ones can no longer be undone.<//>`}
      ${id !== null && !isForgotten && html`<${Loaded} live=${live}>${(/** @type {Batch} */ read) => html`<p class="small soft">${noteOf(read, isUndoable)}</p>`}<//>`}
    <//>
  `;
}

/** @param {Noted & { text: (blocks: string) => string }} props */
const NotedBlocks = ({ rules, first, text }) =>
  rules > 0 &&
  html`
  <p class="small soft">${text(counted(rules, 'block'))}</p>
  <ul>${first.map(({ target, why }) => html`<li key=${target}><span class="mono">${target}</span> ${why}</li>`)}</ul>
`;

/** @param {Omit<Batch, 'undo'>} batch @param {boolean} isUndoable */
function noteOf({ undoable, undone_by: by }, isUndoable) {
  if (!undoable) return 'It cannot be undone: its list was deleted, or too much changed since and its earlier rules are no longer stored.';
  if (isUndoable) return 'An undo can be undone too.';
  return by !== null ? 'Already undone.' : 'Nothing to undo: its rules expired, were changed since, or never existed.';
}

/** @param {Change} change @returns {(readonly [string, any])[]} */
function factsOf(change) {
  const { from, reason, several_reasons: several, batch_id: batch, event, list_id: list, person, text } = change;
  const sum = (value) => (from === null || !value ? null : count(value));
  return [
    ['When', whenOf(change)],
    ['Where', list === null ? whereOf(change) : html`<a href=${link('/feeds', 'list', list)}>${whereOf(change)}</a>`],
    ['Who', [actorOf(change), person === null ? '' : `(${person})`].join(' ').trim()],
    ['Key', change.key_id === null || change.actor === null ? null : keyName(change)],
    ['Added', sum(change.added)],
    ['Renewed or changed', sum(change.renewed)],
    ['Removed', sum(change.removed)],
    ['Expired', sum(change.expired)],
    ['Reason', several ? 'several' : reason],
    ['Batches', from !== null && batch === null && event !== 'expired' && html`<a href=${eachAt(change, from)}>View or undo each</a>`],
    ['Undoes', change.undoes && html`<a href=${batchAt(change.undoes)}>an earlier batch</a>`],
    ['Message', text],
    ['Refresh', event === 'held' && change.object && html`<a href=${link('/sources', change.object)}>Review</a>`],
  ];
}

/** @param {Batch} batch @returns {(readonly [string, any])[]} */
const batchFacts = ({ id, landed_at: landed, undone_by: by }) => [
  ['Applied', dateTime(landed)],
  ['Undone by', by && html`<a href=${batchAt(by)}>a later batch</a>`],
  [
    'Rules now',
    RULE_TABS.map(
      ({ kind, label }, i) => html`${i > 0 && ', '}<a href=${`${link('/rules', ...tabOf({ kind }))}?batch=${id}`}>${label}</a>`,
    ),
  ],
  ['Batch', html`<span class="mono">${id}</span>`],
];

/** The batches of a change of several. @param {Change} change @param {string} since */
function eachAt({ at, actor: person, key_name: key }, since) {
  const by = { ...(person !== null && { person }), ...(key !== null && { key }) };
  const until = new Date(Date.parse(at) + MINUTE).toISOString();
  return `${link('/changes')}?${new URLSearchParams({ kind: BATCHES, since, until, ...by })}`;
}
