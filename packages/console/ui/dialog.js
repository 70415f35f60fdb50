import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { ApiError, ask } from '../api.js';
import { curlOf } from '../curl.js';
import { useWork } from '../data.js';
import { Button, IconButton } from './button.js';
import { SameWithCurl } from './code.js';
import { Failed } from './states.js';
import { toast } from './toast.js';

/**
 * @param {{ title: any, onClose: () => void, wide?: boolean, footer?: any, children?: any, onSubmit?: () => void, onType?: () => void,
 *   closes?: boolean }} props
 * With `onSubmit` it is a form; what was typed into it is not dropped without a question. `closes` false: it cannot be closed.
 */
export function Dialog({ title, onClose, wide = false, footer, children, onSubmit, onType, closes = true }) {
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
    onType?.();
    typed.current = true;
  };
  return html`
    <dialog class=${`dialog ${wide ? 'wide' : ''}`} ref=${element} aria-labelledby=${id} onCancel=${cancel} onKeyDown=${onKeyDown} onInput=${onInput}>
      ${onSubmit === undefined ? html`<div class="dialog-inner">${inside}</div>` : html`<form class="dialog-inner" onSubmit=${submit}>${inside}</form>`}
    </dialog>
  `;
}

/**
 * A dialog that sends its request and closes. Children may be a function of `faultOf`, which returns the error of a field; other errors
 * show at the top.
 * @param {{ title: any, action: any, request?: ApiRequest & { address: string }, done?: (answer: any) => any, onDone?: (answer: any) => unknown,
 *   work?: () => Promise<any>, curl?: string | undefined, onClose: () => void, kind?: string, wide?: boolean, disabled?: boolean,
 *   stays?: boolean, children?: any }} props `done`: the message of success; `work` replaces the request; `curl`: its command; `stays`:
 *   open afterwards.
 */
export function FormDialog({
  title,
  action,
  request,
  done,
  onDone,
  work,
  onClose,
  kind = 'main',
  wide = false,
  disabled = false,
  stays = false,
  children,
  ...rest
}) {
  const { busy, error, run, clear } = useWork();
  const [once] = useState(() => crypto.randomUUID());
  const { address = '', method = 'POST', body } = request ?? {};
  const { curl = request && curlOf(method, address, /** @type {object | undefined} */ (body)) } = rest;
  const send = async () => {
    const { body: answer } = await ask(address, { ...request, method, once: method === 'POST' ? once : undefined });
    if (done !== undefined) toast(done(answer));
    void onDone?.(answer);
  };
  const faults = error instanceof ApiError ? error.faults.map(({ field, message }) => ({ field: field.split(/[.[]/)[0], message })) : [];
  const visible = new Set();
  const faultOf = (field) => {
    visible.add(field);
    return faults.find((fault) => fault.field === field)?.message;
  };
  const inside = typeof children === 'function' ? children(faultOf) : children;
  const isAtFields = faults.length > 0 && faults.every(({ field }) => visible.has(field));
  const submit = async () => {
    if ((await run(work ?? send)) && !stays) onClose();
  };
  return html`
    <${Dialog}
      title=${title} wide=${wide} onClose=${onClose} onSubmit=${submit} onType=${() => error !== undefined && clear()}
      footer=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind=${kind} type="submit" busy=${busy} disabled=${disabled}>${action}<//>`}
    >
      ${error !== undefined && !isAtFields && html`<${Failed} error=${error} />`}
      ${inside}
      ${curl !== undefined && html`<${SameWithCurl} text=${curl} />`}
    <//>
  `;
}

/** Asks before an act that many depend on; children say what will happen. @param {{ danger?: boolean, children?: any, [name: string]: any }} props */
export const Confirm = ({ danger = false, children, ...rest }) =>
  html`<${FormDialog} kind=${danger ? 'danger' : 'main'} ...${rest}><div class="stack">${children}</div><//>`;
