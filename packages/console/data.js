/** Data of the service that stay as they are there: read at once, and again every few seconds while the page is looked at. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, ask, forgetAnswers, hasEnded } from './api.js';

/** How often what is shown is read again, ms. */
export const POLL = 5000;
/** Answers by what was asked, shown at once when a page is opened again. */
/** @type {Map<string, string>} */
const known = new Map();
/** What the service has failed to answer last, by what was asked: told once for all, in the shell. */
/** @type {Map<string, string>} */
const failing = new Map();

/** What is told of that, and since when: until a read goes well, whatever page is shown meanwhile. @type {{ text: string, since: number } | undefined} */
let trouble;

/** Notes how a read went; undefined: it went well. @param {string} name @param {Error} [error] */
export function noteRead(name, error) {
  if (error !== undefined && isUnavailable(error)) failing.set(name, error.message);
  else failing.delete(name);
  if (error === undefined && failing.size > 0) askAgain();
  const [text] = failing.values();
  if (text === trouble?.text) return;
  trouble = text === undefined ? undefined : { text, since: trouble?.since ?? Date.now() };
  dispatchEvent(new CustomEvent('weir-trouble', { detail: trouble }));
}

/** When what had failed was asked again at once, ms. */
let askedAgain = 0;
/** What had failed is asked again at once when something else is answered: it may be rare, and what is told of it above every page is over. */
function askAgain() {
  if (Date.now() - askedAgain < POLL) return;
  askedAgain = Date.now();
  dispatchEvent(new Event('weir-answers'));
}

/** Nobody wants it any more. @param {string} name */
export const forgetRead = (name) => failing.delete(name);

/** Whether an error is the service's, and not that of what was asked. @param {Error} error */
export const isUnavailable = (error) => error instanceof ApiError && (error.status === 0 || error.status >= 500);

/** Answers that are kept. */
const KEPT = 200;

/**
 * @template T
 * @typedef {object} Live
 * @property {T | undefined} value What was read last.
 * @property {Error | undefined} error Why the last read failed; the value before it stays.
 * @property {() => Promise<void>} refresh Reads now, such as after a change.
 */

/**
 * What the service answers at an address, followed as long as the component is shown. A component is drawn again only when it has changed.
 * @param {string | null} address null: nothing yet.
 * @param {{ every?: number }} [options] ms between two reads.
 * @returns {Live<any>}
 */
export const useLive = (address, options) => useLiveWork(address, async () => (await ask(/** @type {string} */ (address))).body, options);

/**
 * The same for what takes more than one request.
 * @param {string | null} name Says what is read: another name, another read.
 * @param {() => Promise<any>} work
 * @param {{ every?: number }} [options]
 * @returns {Live<any>}
 */
export function useLiveWork(name, work, { every = POLL } = {}) {
  const [state, setState] = useState(() => initial(name));
  const current = useRef({ name, work });
  current.current = { name, work };

  const refresh = async () => {
    const asked = current.current;
    if (asked.name === null || hasEnded()) return;
    try {
      const value = await asked.work();
      noteRead(asked.name);
      const text = JSON.stringify(value) ?? '';
      const isNew = known.get(asked.name) !== text;
      remember(asked.name, text);
      if (current.current.name !== asked.name) return;
      setState((before) =>
        before.name === asked.name && !isNew && before.error === undefined && before.value !== undefined
          ? before
          : { name: asked.name, value, error: undefined },
      );
    } catch (error) {
      if (current.current.name !== asked.name) return;
      noteRead(asked.name, /** @type {Error} */ (error));
      setState((before) => ({
        name: asked.name,
        value: before.name === asked.name ? before.value : undefined,
        error: /** @type {Error} */ (error),
      }));
    }
  };

  useEffect(() => {
    let stopped = false;
    /** @type {ReturnType<typeof setTimeout>} */
    let timer;
    const next = () => {
      if (!stopped) timer = setTimeout(tick, every);
    };
    const tick = () => {
      if (document.visibilityState === 'visible') void refresh().finally(next);
      else next();
    };
    const onVisible = () => {
      if (document.visibilityState === 'visible') void refresh();
    };
    const onAnswers = () => {
      if (name !== null && failing.has(name)) void refresh();
    };
    void refresh().finally(next);
    document.addEventListener('visibilitychange', onVisible);
    addEventListener('weir-answers', onAnswers);
    return () => {
      stopped = true;
      removeEventListener('weir-answers', onAnswers);
      clearTimeout(timer);
      if (name !== null) forgetRead(name);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [name, every]);

  const { value, error } = state.name === name ? state : initial(name);
  return { value, error, refresh };
}

/**
 * @param {string | null} name
 * @returns {{ name: string | null, value: any, error: Error | undefined }}
 */
function initial(name) {
  const text = name === null ? undefined : known.get(name);
  return { name, value: text === undefined || text === '' ? undefined : JSON.parse(text), error: undefined };
}

/**
 * @param {string} name
 * @param {string} text
 */
function remember(name, text) {
  known.delete(name);
  known.set(name, text);
  if (known.size > KEPT) known.delete(/** @type {string} */ (known.keys().next().value));
}

/** Forgets everything that was read, when another person may sign in. */
export function forgetData() {
  known.clear();
  forgetAnswers();
}

/**
 * Work that a button or form starts: whether it runs, and why it failed. Resolves with whether it is done.
 * @returns {{ busy: boolean, error: Error | undefined, run: (work: () => Promise<void>) => Promise<boolean>, clear: () => void }}
 */
export function useWork() {
  const [state, setState] = useState({ busy: false, error: /** @type {Error | undefined} */ (undefined) });
  return {
    ...state,
    clear: () => setState({ busy: false, error: undefined }),
    async run(work) {
      setState({ busy: true, error: undefined });
      try {
        await work();
        setState({ busy: false, error: undefined });
        return true;
      } catch (error) {
        setState({ busy: false, error: /** @type {Error} */ (error) });
        return false;
      }
    },
  };
}
