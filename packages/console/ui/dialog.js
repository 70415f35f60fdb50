import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useWork } from '../data.js';
import { Button, IconButton } from './button.js';
import { Failed } from './states.js';

/**
 * @param {{ title: any, onClose: () => void, wide?: boolean, footer?: any, children?: any, onSubmit?: () => void, closes?: boolean }} props
 * With `onSubmit` it is a form; what was typed into it is not dropped without a question. `closes` false: it cannot be closed.
 */
export function Dialog({ title, onClose, wide = false, footer, children, onSubmit, closes = true }) {
  const typed = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const asked = useRef(/** @type {HTMLElement | null} */ (null));
  const leave = () => {
    if (!closes) return;
    if (onSubmit !== undefined && typed.current && !isAsking) {
      asked.current = /** @type {HTMLElement | null} */ (document.activeElement);
      setAsking(true);
    } else onClose();
  };
  const keep = () => {
    setAsking(false);
    asked.current?.focus();
  };
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // autofocus works only when a dialog opens.
  useEffect(() => {
    if (isAsking) /** @type {HTMLElement | null} */ (element.current?.querySelector('[data-keep]'))?.focus();
  }, [isAsking]);
  const id = useId();
  useEffect(() => {
    const dialog = /** @type {HTMLDialogElement} */ (element.current);
    const before = /** @type {HTMLElement | null} */ (document.activeElement);
    dialog.showModal();
    return () => before?.focus();
  }, []);
  const inside = html`
    <header><h2 id=${id} class="text">${title}</h2>${closes && html`<${IconButton} icon="close" label="Close" onClick=${leave} />`}</header>
    ${children}
    ${
      isAsking
        ? html`<footer role="alert"><span>Discard changes?</span><${Button} data-keep onClick=${keep}>Keep editing<//><${Button} kind="danger" onClick=${onClose}>Discard<//></footer>`
        : footer !== undefined && html`<footer>${footer}</footer>`
    }
  `;
  const submit = (event) => {
    event.preventDefault();
    onSubmit?.();
  };
  // Escape keeps editing.
  const cancel = (event) => {
    event.preventDefault();
    if (isAsking) keep();
    else leave();
  };
  // Browsers close a dialog on a second Escape without an event to cancel.
  const onKeyDown = (event) => {
    if (event.key === 'Escape') cancel(event);
  };
  const onInput = () => {
    typed.current = true;
  };
  return html`
    <dialog class=${`dialog ${wide ? 'wide' : ''}`} ref=${element} aria-labelledby=${id} onCancel=${cancel} onKeyDown=${onKeyDown} onInput=${onInput}>
      ${onSubmit === undefined ? html`<div class="dialog-inner">${inside}</div>` : html`<form class="dialog-inner" onSubmit=${submit}>${inside}</form>`}
    </dialog>
  `;
}

/**
 * @param {{ title: any, action: string, danger?: boolean, work: () => Promise<void>, onClose: () => void, children?: any, disabled?:
 *   boolean }} props
 */
export function Confirm({ title, action, danger = false, work, onClose, children, disabled = false }) {
  const { busy, error, run } = useWork();
  const submit = async () => {
    if (await run(work)) onClose();
  };
  return html`
    <${Dialog}
      title=${title} onClose=${onClose} onSubmit=${submit}
      footer=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind=${danger ? 'danger' : 'main'} type="submit" busy=${busy} disabled=${disabled}>${action}<//>`}
    >
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <div class="stack">${children}</div>
    <//>
  `;
}
