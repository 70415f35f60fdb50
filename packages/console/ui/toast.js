/** Short messages in the corner: what was done. What has failed stands where it was tried. */

import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './button.js';

/** How long one stays, ms. */
const STAYS = 8000;

let last = 0;

/**
 * Shows a message. The children may be a text or html.
 * @param {any} content
 * @param {'good' | 'bad'} [kind]
 */
export const toast = (content, kind = 'good') => dispatchEvent(new CustomEvent('weir-toast', { detail: { content, kind } }));

export function Toasts() {
  const [shown, setShown] = useState(/** @type {{ id: number, content: any, kind: string }[]} */ ([]));
  const remove = (/** @type {number} */ id) => setShown((before) => before.filter((each) => each.id !== id));
  useEffect(() => {
    const onToast = (/** @type {any} */ event) => {
      last += 1;
      const id = last;
      setShown((before) => [...before.slice(-3), { id, ...event.detail }]);
      setTimeout(() => remove(id), STAYS);
    };
    addEventListener('weir-toast', onToast);
    return () => removeEventListener('weir-toast', onToast);
  }, []);
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${shown.map(
        ({ id, content, kind }) => html`
        <div class=${`toast ${kind}`} key=${id}><div>${content}</div><${IconButton} icon="close" label="Close the message" onClick=${() => remove(id)} /></div>
      `,
      )}
    </div>
  `;
}
