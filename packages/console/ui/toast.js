import { html } from 'htm/preact';
import { createContext } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './button.js';

const STAYS = 8000;

/** Closes the message around it. */
export const CloseToast = createContext(() => {});

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
      // Nobody has to hurry to an undo.
      setTimeout(() => document.querySelector(`#toast-${id} > div :is(a, button)`) === null && remove(id), STAYS);
    };
    addEventListener('weir-toast', onToast);
    return () => removeEventListener('weir-toast', onToast);
  }, []);
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${toasts.map(
        ({ id, content, kind }) => html`
        <div class=${`toast ${kind}`} id=${`toast-${id}`} key=${id}><div><${CloseToast.Provider} value=${() => remove(id)}>${content}<//></div><${IconButton} icon="close" label="Close the message" onClick=${() => remove(id)} /></div>
      `,
      )}
    </div>
  `;
}
