import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './button.js';

const STAYS = 8000;

let last = 0;

/** @param {any} content @param {'good' | 'bad'} [kind] */
export const toast = (content, kind = 'good') => dispatchEvent(new CustomEvent('weir-toast', { detail: { content, kind } }));

export function Toasts() {
  const [toasts, setToasts] = useState(/** @type {{ id: number, content: any, kind: string }[]} */ ([]));
  const remove = (id) => setToasts((before) => before.filter((each) => each.id !== id));
  useEffect(() => {
    const onToast = (event) => {
      last += 1;
      const id = last;
      setToasts((before) => [...before.slice(-3), { id, ...event.detail }]);
      setTimeout(() => remove(id), STAYS);
    };
    addEventListener('weir-toast', onToast);
    return () => removeEventListener('weir-toast', onToast);
  }, []);
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.map(
        ({ id, content, kind }) => html`
        <div class=${`toast ${kind}`} key=${id}><div>${content}</div><${IconButton} icon="close" label="Close the message" onClick=${() => remove(id)} /></div>
      `,
      )}
    </div>
  `;
}
