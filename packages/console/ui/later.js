/** Parts of the console that are loaded when they are shown first: what nobody has opened yet keeps nobody waiting. */

import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { Failed } from './states.js';

/** @typedef {() => Promise<Record<string, any>>} Load Loads a module. */

/** How long a page rests before what may be opened on it is loaded, ms. */
const REST = 3000;

/**
 * A component whose module is loaded when it is shown first.
 * @param {Load} load @param {string} name What the module calls it. @param {any} [meanwhile] What is shown until then.
 */
export function later(load, name, meanwhile) {
  /** @type {any} */
  let Part;
  return function Later(/** @type {Record<string, any>} */ props) {
    const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
    const [, setReady] = useState(false);
    useEffect(() => {
      let gone = false;
      if (Part === undefined) {
        const onLoad = (/** @type {Record<string, any>} */ module) => {
          Part = module[name];
          if (!gone) setReady(true);
        };
        load().then(onLoad, () => !gone && setError(new Error(NOT_LOADED)));
      }
      return () => {
        gone = true;
      };
    }, []);
    if (error !== undefined) return html`<${Failed} error=${error} retry=${() => location.reload()} />`;
    return Part === undefined ? meanwhile : html`<${Part} ...${props} />`;
  };
}

const NOT_LOADED = 'This could not be loaded: weir does not answer, or it was updated meanwhile. Load the console again.';

/** Loads what may be opened on a page once that has rested: it opens at once then, also when weir was updated meanwhile. @param {Load} load */
export function useAhead(load) {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), REST);
    return () => clearTimeout(timer);
  }, []);
}
