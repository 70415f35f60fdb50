import { html } from 'htm/preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { TextField } from '../../ui/field.js';
import { completed, completionAt, typesOf } from './names-at.js';

/** How long names are cached, ms: they change with the service's settings. */
const GOOD_FOR = 600_000;

const MOST_ROWS = 8;

/** @param {{ kind: string, value: string, onValue: (value: string) => void, [attribute: string]: any }} props As of TextField. */
export function ExpressionInput({ kind, value, onValue, ...rest }) {
  const { value: known } = useLive(manage('/expressions/names', { kind }), { every: GOOD_FOR });
  const id = useId();
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [offer, setOffer] = useState(/** @type {Completion | undefined} */ (undefined));
  const [chosen, setChosen] = useState(0);
  const caret = useRef(/** @type {number | undefined} */ (undefined));
  const names = /** @type {RuleName[]} */ (known?.names ?? []);
  const field = () => /** @type {HTMLTextAreaElement} */ (box.current?.querySelector('textarea'));

  // Inserted text leaves the caret behind it.
  useLayoutEffect(() => {
    if (caret.current === undefined) return;
    field().setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [value]);

  const look = (all = false) => {
    const { value: text, selectionStart, selectionEnd } = field();
    const isThere = document.activeElement === field() && selectionStart === selectionEnd;
    setOffer(isThere ? completionAt(text, selectionStart, names, all) : undefined);
    setChosen(0);
  };
  // Names may load after typing began.
  useEffect(() => {
    if (known !== undefined && field().value !== '') look();
  }, [known !== undefined, kind]);
  const take = (/** @type {RuleName} */ name) => {
    if (offer === undefined) return;
    const { text, caret: at } = completed(field().value, offer, name);
    caret.current = at;
    setOffer(undefined);
    onValue(text);
  };
  const onKeyDown = (event) => {
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
    // The dialog stays open.
    event.stopPropagation();
  };

  const isListOpen = offer !== undefined;
  // A window around the chosen one, so nothing scrolls.
  const first = Math.max(0, Math.min(chosen - MOST_ROWS / 2, (offer?.names.length ?? 0) - MOST_ROWS));
  return html`
    <div class="completing" ref=${box}>
      <${TextField} label="Expression" rows=${5} maxlength="4096" value=${value} autocomplete="off"
        aria-autocomplete="list" aria-haspopup="listbox" aria-controls=${isListOpen ? id : undefined} aria-activedescendant=${isListOpen ? `${id}-${chosen}` : undefined}
        onValue=${(text) => {
          onValue(text);
          look();
        }}
        onKeyDown=${onKeyDown} onBlur=${() => setOffer(undefined)} onClick=${() => setOffer(undefined)} ...${rest} />
      ${
        isListOpen &&
        html`<ul class="found names" id=${id} role="listbox" aria-label="Fields and functions" onMouseDown=${(event) => event.preventDefault()}>
          ${offer.names.slice(first, first + MOST_ROWS).map(
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
      <p class="hidden-visually" role="status">${isListOpen ? `${offer.names.length} suggestions. Arrow keys choose, Enter inserts.` : ''}</p>
    </div>
  `;
}
