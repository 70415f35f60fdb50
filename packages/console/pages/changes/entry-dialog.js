import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { count } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { ChangedFields } from '../audit/fields.js';
import { UndoDialog } from '../batches/undo-dialog.js';
import { actorOf, whenOf, whereOf, wordOf } from './words.js';

/** @param {{ change: Change, mayUndo: boolean, onClose: () => void, onDone: () => void }} props */
export function EntryDialog({ change, mayUndo, onClose, onDone }) {
  const [isUndoing, setUndoing] = useState(false);
  const { from, reason, several_reasons: several, batch_id: batch, undoes, list_id: list, person, text } = change;
  if (isUndoing && batch !== null) return html`<${UndoDialog} id=${batch} onClose=${onClose} onDone=${onDone} />`;
  const footer =
    mayUndo && batch !== null ? html`<${Button} kind="main" icon="undo" onClick=${() => setUndoing(true)}>Undo<//>` : undefined;
  const sum = (value) => (from === null || !value ? null : count(value));
  const toBatch = (id, label) => html`<a href=${link('/batches', id)}>${label}</a>`;
  return html`
    <${Dialog} title=${wordOf(change)} wide onClose=${onClose} footer=${footer}>
      <${Facts} facts=${[
        ['When', whenOf(change)],
        ['Where', list === null ? whereOf(change) : html`<a href=${link('/feeds', 'list', list)}>${whereOf(change)}</a>`],
        ['Who', [actorOf(change), person === null ? '' : `(${person})`].join(' ').trim()],
        ['Key', change.key_id === null || change.actor === null ? null : keyName(change)],
        ['Added', sum(change.added)],
        ['Renewed or changed', sum(change.renewed)],
        ['Removed', sum(change.removed)],
        ['Expired', sum(change.expired)],
        ['Reason', several ? 'several' : reason],
        ['Batch', batch && toBatch(batch, 'View or undo')],
        ['Undoes', undoes && toBatch(undoes, 'an earlier batch')],
        ['Message', text],
        ['Refresh', change.event === 'held' && change.object && html`<a href=${link('/sources', change.object)}>Review</a>`],
      ]} />
      <${ChangedFields} entry=${change} />
    <//>
  `;
}
