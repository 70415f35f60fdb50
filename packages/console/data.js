import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, ask, forgetAnswers, hasEnded } from './api.js';

/** Poll interval, ms. */
export const POLL = 5000;
/** Cached answers by name, shown immediately when a page opens again. */
/** @type {Map<string, string>} */
const known = new Map();
/** Errors of reads that found the service unavailable, by name. The shell shows one of them. */
/** @type {Map<string, string>} */
const failing = new Map();

/** The error in the shell's banner and when it began. @type {{ text: string, since: number } | undefined} */
let trouble;

/** Records the outcome of a read; without an error it succeeded. @param {string} name @param {Error} [error] */
export function noteRead(name, error) {
  if (error !== undefined && isUnavailable(error)) failing.set(name, error.message);
  else failing.delete(name);
  if (error === undefined && failing.size > 0) askAgain();
  const [text] = failing.values();
  if (text === trouble?.text) return;
  trouble = text === undefined ? undefined : { text, since: trouble?.since ?? Date.now() };
  dispatchEvent(new CustomEvent('weir-trouble', { detail: trouble }));
}

let askedAgain = 0;
/** Repeats failed reads as soon as another read succeeds, to remove the banner early. */
function askAgain() {
  if (Date.now() - askedAgain < POLL) return;
  askedAgain = Date.now();
  dispatchEvent(new Event('weir-answers'));
}

/** @param {string} name */
export const forgetRead = (name) => failing.delete(name);

/** Whether the service is unavailable, rather than refusing the request. @param {Error} error */
export const isUnavailable = (error) => error instanceof ApiError && (error.status === 0 || error.status >= 500);

const MOST_KNOWN = 200;

/**
 * The JSON answer of an address, polled while the component is mounted. Renders only on change.
 * @param {string | null} address null: nothing yet.
 * @param {{ every?: number }} [options] ms between two reads.
 * @returns {Live<any>}
 */
export const useLive = (address, options) => useLiveWork(address, async () => (await ask(/** @type {string} */ (address))).body, options);

/** What a deletion would do. @param {string} address With `preview`. @param {string} [tag] @returns {Live<any>} */
export const usePreviewOfDeletion = (address, tag) =>
  useLiveWork(address, async () => (await ask(address, { method: 'DELETE', ifMatch: tag })).body, { every: 60_000 });

/**
 * `useLive` for work of several requests.
 * @param {string | null} name Identifies the read.
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

/** @param {string | null} name @returns {{ name: string | null, value: any, error: Error | undefined }} */
function initial(name) {
  const text = name === null ? undefined : known.get(name);
  return { name, value: text === undefined || text === '' ? undefined : JSON.parse(text), error: undefined };
}

/** @param {string} name @param {string} text */
function remember(name, text) {
  known.delete(name);
  known.set(name, text);
  if (known.size > MOST_KNOWN) known.delete(/** @type {string} */ (known.keys().next().value));
}

export function forgetData() {
  known.clear();
  forgetAnswers();
}

/**
 * State of an action that a button or form starts. `run` resolves with whether it succeeded.
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
