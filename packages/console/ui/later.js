import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { Failed } from './states.js';

/** Delay before preloading, ms. */
const REST = 3000;

/**
 * Loads its module on first render.
 * @param {Load} load
 * @param {string} name What the module calls it.
 * @param {any} [meanwhile] What is shown until then.
 */
export function later(load, name, meanwhile) {
  /** @type {any} */
  let Part;
  return function Later(/** @type {Record<string, any>} */ props) {
    const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
    const [, setReady] = useState(false);
    useEffect(() => {
      let isUnmounted = false;
      if (Part === undefined) {
        const onLoad = (/** @type {Record<string, any>} */ module) => {
          Part = module[name];
          if (!isUnmounted) setReady(true);
        };
        load().then(onLoad, () => !isUnmounted && setError(new Error(NOT_LOADED)));
      }
      return () => {
        isUnmounted = true;
      };
    }, []);
    if (error !== undefined) return html`<${Failed} error=${error} retry=${() => location.reload()} />`;
    return Part === undefined ? meanwhile : html`<${Part} ...${props} />`;
  };
}

const NOT_LOADED = 'Loading failed: weir is not responding or was updated. Reload the console.';

/** Preloads it, to open without delay even after an update of weir. @param {Load} load */
export function useAhead(load) {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), REST);
    return () => clearTimeout(timer);
  }, []);
}
