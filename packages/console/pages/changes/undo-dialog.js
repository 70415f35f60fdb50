import { html } from 'htm/preact';
import { manage } from '../../api.js';
import { count, counted } from '../../format.js';
import { Confirm } from '../../ui/dialog.js';
import { Figure, Figures } from '../../ui/figures.js';
import { Failed } from '../../ui/states.js';
import { usePreview } from '../rules/preview.js';

const UNDO = manage('/undo');

/** @param {{ id: string, onClose: () => void, onDone: () => void }} props */
export function UndoDialog({ id, onClose, onDone }) {
  const preview = usePreview(UNDO, { batches: [id], preview: true });
  const [planned] = preview.answer?.undone ?? [];
  return html`
    <${Confirm} title="Undo this batch?" action="Undo" danger request=${{ address: UNDO, body: { batches: [id] } }} onDone=${onDone}
      done=${({ undone: [done] }) => `Batch undone: ${counted(done.removes, 'rule')} removed, ${count(done.restores)} restored.`}
      onClose=${onClose} disabled=${planned === undefined}>
      ${preview.error !== undefined && html`<${Failed} error=${preview.error} />`}
      ${preview.isWaiting && html`<p role="status">Calculating…</p>`}
      ${
        planned !== undefined &&
        html`
        <${Figures}>
          <${Figure} label="Rules removed" value=${count(planned.removes)} />
          <${Figure} label="Rules restored" value=${count(planned.restores)} />
          <${Figure} label="Unchanged" value=${count(planned.keeps)} note="changed since" />
        <//>
        ${planned.sample.length > 0 && html`<ul class="sample mono small">${planned.sample.map((line) => html`<li key=${line}><bdi>${line}</bdi></li>`)}</ul>`}`
      }
      ${preview.answer?.settings.length > 0 && html`<p>Feeds that get their earlier setting for never-block rules back: ${preview.answer.settings.map(({ name }, i) => html`${i > 0 && ', '}<bdi key=${name}>${name}</bdi>`)}.</p>`}
    <//>
  `;
}
