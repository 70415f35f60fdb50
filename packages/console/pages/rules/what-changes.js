import { html } from 'htm/preact';
import { Failed } from '../../ui/states.js';

/**
 * @param {{ preview: Preview, isGiven: boolean, isFault?: boolean, children: (answer: any) => any }} props
 * `isFault`: the field shows the error already.
 */
export function WhatChanges({ preview: { answer, error, isWaiting }, isGiven, isFault = false, children }) {
  return html`
    <section class="stack" aria-label="Preview" aria-busy=${isWaiting}>
      <h3>Preview</h3>
      ${!isGiven && html`<p class="soft">Fill in the form to see a preview.</p>`}
      ${isWaiting && html`<p class="soft" role="status">Calculating…</p>`}
      ${error !== undefined && !isFault && html`<${Failed} error=${error} />`}
      ${error !== undefined && isFault && html`<p class="soft">See the error above.</p>`}
      ${answer !== undefined && children(answer)}
    </section>
  `;
}
