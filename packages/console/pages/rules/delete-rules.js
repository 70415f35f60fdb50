import { html } from 'htm/preact';
import { ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { count, counted } from '../../format.js';
import { Confirm } from '../../ui/dialog.js';
import { Failed } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { toast } from '../../ui/toast.js';
import { Action } from './action.js';
import { usePreview } from './preview.js';
import { nameOf } from './tabs.js';

const ADDRESS = manage('/rules/delete');

/** @param {{ conditions: Record<string, any>, onClose: () => void, onDone: () => void }} props */
export function DeleteRules({ conditions, onClose, onDone }) {
  const { answer, error } = usePreview(ADDRESS, { ...conditions, preview: true });
  const work = async () => {
    let deleted = 0;
    let after;
    do {
      const { body } = await ask(ADDRESS, { method: 'POST', once: crypto.randomUUID(), body: { ...conditions, after } });
      deleted += body.deleted;
      after = body.next ?? undefined;
    } while (after !== undefined);
    toast(`${counted(deleted, 'rule')} deleted.`);
    onDone();
  };
  return html`
    <${Confirm} title="Delete these rules?"
      action=${answer === undefined ? 'Delete' : `Delete ${answer.next === null ? '' : 'at least '}${counted(answer.deleted, 'rule')}`} danger work=${work} curl=${curlOf('POST', ADDRESS, conditions)} onClose=${onClose}
      disabled=${!answer?.deleted}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${answer === undefined && error === undefined && html`<p role="status">Loading…</p>`}
      ${
        answer !== undefined &&
        html`
          <p>${answer.next === null ? '' : 'At least '}${counted(answer.deleted, 'rule')} will be deleted${answer.deleted > answer.sample.length && ` (sample of ${count(answer.sample.length)})`}. You can undo ${answer.next === null ? 'this batch' : 'these batches'} for 7 days.</p>
          <${Table} label="Sample of the rules" columns=${COLUMNS} rows=${answer.sample} keyOf=${(/** @type {Rule} */ { id }) => id} />
        `
      }
    <//>
  `;
}

/** @type {Column<Rule>[]} */
const COLUMNS = [
  { label: 'Rule', cell: (rule) => html`<bdi class="mono">${nameOf(rule)}</bdi>` },
  { label: 'Action', cell: ({ action }) => html`<${Action} action=${action} />` },
  { label: 'Reason', cell: ({ reason }) => html`<bdi>${reason ?? ''}</bdi>` },
];
