import { useEffect, useState } from 'preact/hooks';

export const BASE = '/console';

/** Former addresses of pages. @type {readonly (readonly [RegExp, string])[]} */
const MOVED = [
  [/^\/batches\/*$/, '/changes?kind=batches&since=7d'],
  [/^\/batches\/([^/]+)\/*$/, '/changes?batch=$1'],
];

/** @returns {Place} */
export function here() {
  const asked = location.pathname.slice(BASE.length);
  const moved = MOVED.find(([pattern]) => pattern.test(asked));
  if (moved !== undefined) history.replaceState(history.state, '', BASE + asked.replace(...moved));
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
  return { path, parts: path.split('/').slice(1).filter(Boolean).map(decode), query: new URLSearchParams(location.search) };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} path @param {...string} parts */
export const link = (path, ...parts) => BASE + (path === '/' ? '/' : path) + parts.map((part) => `/${encodeURIComponent(part)}`).join('');

/** @param {string} path Of the project, such as `docs/feeds.md`. */
export const helpAt = (path) => `${BASE}/help/${path}`;

/**
 * `replace`: without a history entry, as for typed filters; `state`: for the action of `useDo`.
 * @param {string} address @param {{ replace?: boolean, state?: string }} [options]
 */
export function go(address, { replace = false, state } = {}) {
  if (address === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](state ?? null, '', address);
  dispatchEvent(new Event('weir-place'));
}

/** @param {Record<string, string | undefined>} changes */
export function setQuery(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  go(location.pathname + (search === '' ? '' : `?${search}`), { replace: true });
}

export function usePlace() {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const onMove = () => setPlace(here());
    addEventListener('popstate', onMove);
    addEventListener('weir-place', onMove);
    document.addEventListener('click', onClick);
    return () => {
      removeEventListener('popstate', onMove);
      removeEventListener('weir-place', onMove);
      document.removeEventListener('click', onClick);
    };
  }, []);
  return place;
}

/** Keeps clicks on console links in the page. @param {MouseEvent} event */
function onClick(event) {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = /** @type {Element} */ (event.target).closest?.('a');
  if (anchor?.target !== '' || anchor.hasAttribute('download') || anchor.origin !== location.origin) return;
  if (anchor.pathname !== BASE && !anchor.pathname.startsWith(`${BASE}/`)) return;
  if (anchor.pathname.startsWith(`${BASE}/help/`)) return;
  // Anchors on this page are the browser's.
  if (anchor.hash !== '' && anchor.pathname === location.pathname && anchor.search === location.search) return;
  event.preventDefault();
  go(anchor.pathname + anchor.search);
}

/** Runs the action of `?do=` once, with the state of `go`. @param {Place} place @param {(what: string, state?: string) => void} work */
export function useDo(place, work) {
  const asked = place.query.get('do');
  useEffect(() => {
    if (asked === null) return;
    const state = history.state ?? undefined;
    setQuery({ do: undefined });
    work(asked, state);
  }, [asked]);
}
