import { html } from 'htm/preact';
import { useContext } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useWork } from '../../data.js';
import { Button } from '../../ui/button.js';
import { CloseToast, toast } from '../../ui/toast.js';
import { batchAt } from '../changes/see.js';

/** Undoes batches in place, for a message of success. @param {{ batches: readonly string[], onDone?: () => void }} props */
export function Undo({ batches, onDone }) {
  const { busy, error, run } = useWork();
  const close = useContext(CloseToast);
  const undo = () =>
    run(async () => {
      await ask(manage('/undo'), { method: 'POST', once: crypto.randomUUID(), body: { batches } });
      close();
      toast('Change undone.');
      onDone?.();
    });
  if (batches.length === 0) return null;
  return html`
    <${Button} tiny busy=${busy} onClick=${undo}>Undo<//> <a href=${batchAt(batches[0])}>Batch</a>
    ${error !== undefined && html`<span class="text"> ${error.message}</span>`}
  `;
}
