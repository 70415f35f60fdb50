/** The field for an expression: names of fields and functions are offered with their types as one types; arrows choose, Enter or Tab takes. */

import { html } from 'htm/preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { TextField } from '../../ui/field.js';
import { completed, completionAt, typesOf } from './names-at.js';

/** How long the names that were read are good for, ms: they change with the settings of the service. */
const GOOD_FOR = 600_000;

/** Names that are shown at once. */
const SHOWN = 8;

/** @typedef {import('./names-at.js').ExpressionName} ExpressionName */

/** @param {{ kind: string, value: string, onValue: (value: string) => void, [attribute: string]: any }} props As of TextField. */
export function ExpressionInput({ kind, value, onValue, ...rest }) {
  const { value: known } = useLive(manage('/expressions/names', { kind }), { every: GOOD_FOR });
  const id = useId();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [offer, setOffer] = useState(/** @type {import('./names-at.js').Completion | undefined} */ (undefined));
  const [chosen, setChosen] = useState(0);
  const caret = useRef(/** @type {number | undefined} */ (undefined));
  const names = /** @type {ExpressionName[]} */ (known?.names ?? []);
  const field = () => /** @type {HTMLTextAreaElement} */ (box.current?.querySelector('textarea'));

  // What was put in for the person leaves the caret behind it.
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    field().setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [value]);

  const look = (/** @type {boolean} */ all = false) => {
    const { value: text, selectionStart, selectionEnd } = field();
    const isThere = document.activeElement === field() && selectionStart === selectionEnd;
    setOffer(isThere ? completionAt(text, selectionStart, names, all) : undefined);
    setChosen(0);
  };
  // Who types before the names are there is offered them then.
  useEffect(() => {
    if (known !== undefined && field().value !== '') look();
  }, [known !== undefined, kind]);
  const take = (/** @type {ExpressionName} */ name) => {
    if (offer === undefined) return;
    const { text, caret: at } = completed(field().value, offer, name);
    caret.current = at;
    setOffer(undefined);
    onValue(text);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      look(true);
      return;
    }
    if (offer === undefined) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setChosen((chosen + step + offer.names.length) % offer.names.length);
    else if (event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey)) take(offer.names[chosen]);
    else if (event.key === 'Escape') setOffer(undefined);
    else return;
    event.preventDefault();
    // The dialog around it stays open.
    event.stopPropagation();
  };

  const isShown = offer !== undefined;
  // Those around the chosen one: nothing scrolls, and arrows reach all.
  const first = Math.max(0, Math.min(chosen - SHOWN / 2, (offer?.names.length ?? 0) - SHOWN));
  return html`
    <div class="completing" ref=${box}>
      <${TextField} label="Expression" rows=${5} maxlength="4096" value=${value} autocomplete="off"
        aria-autocomplete="list" aria-haspopup="listbox" aria-controls=${isShown ? id : undefined} aria-activedescendant=${isShown ? `${id}-${chosen}` : undefined}
        onValue=${(/** @type {string} */ text) => {
          onValue(text);
          look();
        }}
        onKeyDown=${onKeyDown} onBlur=${() => setOffer(undefined)} onClick=${() => setOffer(undefined)} ...${rest} />
      ${
        isShown &&
        html`<ul class="found names" id=${id} role="listbox" aria-label="Fields and functions" onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()}>
          ${offer.names.slice(first, first + SHOWN).map(
            (name, i) => html`
              <li key=${`${name.kind} ${name.name}`} id=${`${id}-${first + i}`} role="option" aria-selected=${first + i === chosen}
                aria-setsize=${offer.names.length} aria-posinset=${first + i + 1}
                onClick=${() => take(name)}>
                <span class="small soft">${name.kind}</span><span class="mono">${name.name}</span><span class="small soft mono">${typesOf(name)}</span>
              </li>
            `,
          )}
        </ul>`
      }
      <p class="hidden-visually" role="status">${isShown ? `${offer.names.length} names go with it; arrows choose, Enter takes one.` : ''}</p>
    </div>
  `;
}
