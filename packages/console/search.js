import { html } from 'htm/preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go, link } from './router.js';
import { may } from './session.js';
import { Icon } from './ui/icon.js';
import { useAhead } from './ui/later.js';

const palette = () => import('./palette.js');

const REST = 150;

/** @param {{ place: Place, session: Session }} props */
export function Search({ place, session }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const id = useId();
  const lookedUp = place.path === '/lookup' ? (place.query.get('target') ?? '') : '';
  const [text, setText] = useState(lookedUp);
  const [isOpen, setOpen] = useState(false);
  const [entries, setEntries] = useState(/** @type {PaletteEntry[]} */ ([]));
  const [chosen, setChosen] = useState(0);
  useAhead(palette);
  useEffect(() => setText(lookedUp), [lookedUp]);
  // Before the first paint: keys work as soon as the field is visible.
  useLayoutEffect(() => {
    const onKey = (event) => {
      const isTyping = /** @type {Element} */ (event.target).closest?.('input, textarea, select, dialog, [contenteditable]');
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping;
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !document.querySelector('dialog[open]');
      if (!isSlash && !isPalette) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (!isOpen) return;
    let isStale = false;
    const timer = setTimeout(() => {
      const found = palette().then(({ find }) => find(text === lookedUp ? '' : text, session));
      // A failed load finds nothing; the shell shows an unavailable service.
      void found
        .catch(() => [])
        .then((found) => {
          if (isStale) return;
          setEntries(found);
          setChosen(0);
        });
    }, REST);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [text, isOpen]);

  const follow = (/** @type {PaletteEntry} */ entry) => {
    void palette().then(({ remember }) => remember(entry));
    setOpen(false);
    input.current?.blur();
    go(entry.href);
  };
  const submit = async (event) => {
    event.preventDefault();
    const loaded = await palette().catch(() => undefined);
    if (loaded === undefined) return go(`${link('/lookup')}?${new URLSearchParams({ target: text.trim() })}`);
    const { addressesIn, elsewhere, find } = loaded;
    // Enter before the list arrives takes its first entry.
    const addresses = chosen === 0 ? addressesIn(text) : undefined;
    const found = addresses !== undefined ? [addresses] : text === lookedUp ? entries : await find(text, session);
    const entry = found[Math.min(chosen, found.length - 1)];
    if (entry !== undefined) follow(entry);
    else if (text.trim() !== '') go(elsewhere(text));
  };
  const onKeyDown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') {
      setOpen(false);
      input.current?.blur();
    } else if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setChosen((chosen + step + entries.length) % entries.length);
    }
  };
  /** Lines of a report become a form to block them. @param {any} event */
  const onPaste = (event) => {
    const text = event.clipboardData?.getData('text') ?? '';
    if (!text.trim().includes('\n') || !may(session, 'rules:write')) return;
    event.preventDefault();
    input.current?.blur();
    go(`${link('/rules/access')}?do=report`, { state: text });
  };
  const isListOpen = isOpen && entries.length > 0;
  return html`
    <form role="search" onSubmit=${submit}>
      <input
        class="input" ref=${input} type="search" aria-label="Look up an address, find anything" placeholder="Look up an address, find anything" maxlength="2000"
        role="combobox" aria-expanded=${isListOpen} aria-controls=${id} aria-autocomplete="list" aria-activedescendant=${isListOpen ? `${id}-${chosen}` : undefined}
        autocomplete="off" spellcheck=${false} value=${text} onInput=${(event) => {
          setText(event.target.value);
          setOpen(true);
        }} onFocus=${() => setOpen(true)} onBlur=${() => setOpen(false)} onKeyDown=${onKeyDown} onPaste=${onPaste}
      />
      <${Icon} name="search" size=${14} />
      <kbd aria-hidden="true">/</kbd>
      <ul class="found" id=${id} role="listbox" aria-label="Found" hidden=${!isListOpen}>
        ${entries.map(
          (entry, i) => html`
            <li key=${`${entry.kind} ${entry.href} ${entry.label}`} id=${`${id}-${i}`} role="option" aria-selected=${i === chosen}
              onMouseDown=${(event) => event.preventDefault()} onClick=${() => follow(entry)} onMouseMove=${() => setChosen(i)}>
              <span class="small soft">${entry.kind}</span><bdi class="text">${entry.label}</bdi>${entry.note && html`<bdi class="small soft">${entry.note}</bdi>`}
            </li>
          `,
        )}
      </ul>
    </form>
  `;
}
