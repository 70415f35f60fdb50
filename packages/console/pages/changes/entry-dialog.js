import { html } from 'htm/preact';
import { count } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { ChangedFields } from '../audit/fields.js';
import { actorOf, whenOf, whereOf, wordOf } from './words.js';

/** @param {{ change: Change, onClose: () => void }} props */
export function EntryDialog({ change, onClose }) {
  const { from, reason, several_reasons: several, batch_id: batch, undoes, list_id: list, person, text } = change;
  const sum = (value) => (from === null || !value ? null : count(value));
  const toBatch = (id, label) => html`<a href=${link('/batches', id)}>${label}</a>`;
  return html`
    <${Dialog} title=${wordOf(change)} wide onClose=${onClose}>
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
      ]} />
      <${ChangedFields} entry=${change} />
    <//>
  `;
}
