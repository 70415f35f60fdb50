import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask, hasEnded, manage } from './api.js';
import { forgetRead, noteRead, POLL } from './data.js';

/** Items read beyond the visible ones: a fast scroll passes about this many while a page loads. */
const AHEAD = 2000;
/** Size of the first page, small, to arrive early. */
const FIRST = 100;
/** Requests per page refresh. */
const MOST_READS = 5;

/** More pages would take the line from what the first one needs. @returns {Promise<void>} */
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

/**
 * The items of a paged operation. Reads ahead of the reader and polls the visible pages.
 * @param {string} path As of `manage`.
 * @param {string} name The field that holds the items.
 * @param {Record<string, string | number | boolean | undefined>} query Its conditions; others are another list.
 * @param {{ limit: number, keyOf: (item: any) => string | number }} options Items of a page.
 * @returns {Keyset}
 */
export function useKeyset(path, name, query, { limit, keyOf }) {
  const address = manage(path, query);
  const [state, setState] = useState({
    address,
    parts: /** @type {KeysetPage[]} */ ([]),
    error: /** @type {Error | undefined} */ (undefined),
  });
  const { parts, error } = state.address === address ? state : { parts: [], error: undefined };
  const current = useRef(newReading(address));
  if (current.current.address !== address) current.current = newReading(address);
  const list = current.current;

  /** @param {string | undefined} after @param {number} most @returns {Promise<KeysetPage>} */
  const readPart = async (after, most) => {
    const { body } = await ask(manage(path, { ...query, limit: most, after }));
    return { after, limit: most, items: body[name], next: body.next };
  };
  /** @param {KeysetPage[]} changed */
  const show = (changed) => {
    list.parts = changed;
    list.hasFailed = false;
    if (current.current === list) setState({ address, parts: changed, error: undefined });
  };

  /** Runs one read at a time. @param {() => Promise<void>} work */
  const inTurn = (work) => {
    list.work = list.work
      .then(work)
      .then(() => noteRead(address))
      .catch((failure) => {
        list.hasFailed = true;
        noteRead(address, failure);
        if (current.current === list) setState({ address, parts: list.parts, error: failure });
      });
    return list.work;
  };

  /** Reads until AHEAD items beyond the visible ones are known. */
  const readAhead = async () => {
    while (current.current === list) {
      const last = list.parts.at(-1);
      const known = list.parts.reduce((sum, part) => sum + part.items.length, 0);
      if (last?.next === null || (last !== undefined && known > list.sight.last + AHEAD)) return;
      show([...list.parts, await readPart(last?.next ?? undefined, last === undefined ? Math.min(FIRST, limit) : limit)]);
      if (last === undefined) await painted();
    }
  };

  /** Reads the visible pages again, and the last one, which may have grown. */
  const readSight = async () => {
    const { first, last } = list.sight;
    let begins = 0;
    for (const [i, part] of list.parts.entries()) {
      if (current.current !== list) return;
      const ends = begins + part.items.length;
      if (i === list.parts.length - 1 || (begins <= last && ends >= first)) {
        const again = await readAgain(part, list.parts[i + 1], readPart, keyOf);
        if (list.hasFailed || JSON.stringify(again) !== JSON.stringify(part)) show(list.parts.with(i, again));
      }
      begins = ends;
    }
    await readAhead();
  };

  useEffect(() => {
    let stopped = false;
    /** @type {ReturnType<typeof setTimeout>} */
    let timer;
    const tick = () => {
      const work = document.visibilityState === 'visible' && !hasEnded() ? inTurn(readSight) : Promise.resolve();
      void work.finally(() => {
        if (!stopped) timer = setTimeout(tick, POLL);
      });
    };
    tick();
    return () => {
      stopped = true;
      clearTimeout(timer);
      forgetRead(address);
    };
  }, [address]);

  const items = useMemo(() => (parts.length === 0 ? undefined : parts.flatMap((part) => part.items)), [parts]);
  return {
    items,
    isComplete: parts.at(-1)?.next === null,
    error,
    refresh: () => inTurn(readSight),
    onSight(first, last) {
      list.sight = { first, last };
      void inTurn(readAhead);
    },
  };
}

/**
 * @param {string} address
 * @returns {{ address: string, parts: KeysetPage[], sight: { first: number, last: number }, work: Promise<void>, hasFailed: boolean }}
 */
const newReading = (address) => ({ address, parts: [], sight: { first: 0, last: 0 }, work: Promise.resolve(), hasFailed: false });

/**
 * Reads a page up to the beginning of the next one, so that each item is in one page.
 * @param {KeysetPage} part
 * @param {KeysetPage | undefined} behind
 * @param {(after: string | undefined, most: number) => Promise<KeysetPage>} readPart
 * @param {(item: any) => string | number} keyOf
 * @returns {Promise<KeysetPage>}
 */
async function readAgain(part, behind, readPart, keyOf) {
  const read = await readPart(part.after, part.limit);
  if (behind === undefined) return read;
  const later = new Set(behind.items.map(keyOf));
  const isBehind = (item) => later.has(keyOf(item));
  let { items, next } = read;
  for (let reads = 1; next !== null && next !== part.next && !items.some(isBehind) && reads < MOST_READS; reads += 1) {
    const more = await readPart(next, part.limit);
    items = [...items, ...more.items];
    next = more.next;
  }
  return { ...part, items: items.filter((item) => !isBehind(item)) };
}
