/** Lists that come in pages, of any length: read ahead of the reader, and kept fresh where he looks. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask, hasEnded, manage } from './api.js';
import { forgetRead, noteRead, POLL } from './data.js';

/**
 * @typedef {object} Part A page as it was read.
 * @property {string | undefined} after Where it begins.
 * @property {number} limit Items that it was asked for.
 * @property {any[]} items
 * @property {string | null} next Where the next one begins; null: it is the last.
 */
/**
 * @typedef {object} Keyset
 * @property {any[] | undefined} items All that was read so far, each once; undefined before the first answer.
 * @property {boolean} isComplete Whether there are no more.
 * @property {Error | undefined} error Why the last read failed.
 * @property {(first: number, last: number) => void} onSight Says which items are looked at.
 * @property {() => Promise<void>} refresh Reads what is looked at again, such as after a change.
 */

/** Items that are read beyond those in sight: as many as a fast scroll passes while a page is read. */
const AHEAD = 2000;
/** Items of the first page, which is there sooner, at most. */
const FIRST = 100;
/** Reads that one refresh of a page takes at most. */
const MOST_READS = 5;

/**
 * The items of a paged operation, as long as the component is shown.
 * @param {string} path As of `manage`.
 * @param {string} name The field that holds the items.
 * @param {Record<string, string | number | boolean | undefined>} query Its conditions; others are another list.
 * @param {{ limit: number, keyOf: (item: any) => string | number }} options Items of a page.
 * @returns {Keyset}
 */
export function useKeyset(path, name, query, { limit, keyOf }) {
  const address = manage(path, query);
  const [state, setState] = useState({ address, parts: /** @type {Part[]} */ ([]), error: /** @type {Error | undefined} */ (undefined) });
  const { parts, error } = state.address === address ? state : { parts: [], error: undefined };
  const current = useRef(newReading(address));
  if (current.current.address !== address) current.current = newReading(address);
  const list = current.current;

  /** @param {string | undefined} after @param {number} most @returns {Promise<Part>} */
  const readPart = async (after, most) => {
    const { body } = await ask(manage(path, { ...query, limit: most, after }));
    return { after, limit: most, items: body[name], next: body.next };
  };
  /** @param {Part[]} changed */
  const show = (changed) => {
    list.parts = changed;
    list.hasFailed = false;
    if (current.current === list) setState({ address, parts: changed, error: undefined });
  };

  /** One read of this list after the other. @param {() => Promise<void>} work */
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

  /** Reads on until enough is known beyond what is looked at. */
  const readAhead = async () => {
    while (current.current === list) {
      const last = list.parts.at(-1);
      const known = list.parts.reduce((sum, part) => sum + part.items.length, 0);
      if (last?.next === null || (last !== undefined && known > list.sight.last + AHEAD)) return;
      show([...list.parts, await readPart(last?.next ?? undefined, last === undefined ? Math.min(FIRST, limit) : limit)]);
    }
  };

  /** Reads the pages in sight again, and the last one, behind which there may be more now. */
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
 * What is known of a list while it is read.
 * @param {string} address
 * @returns {{ address: string, parts: Part[], sight: { first: number, last: number }, work: Promise<void>, hasFailed: boolean }}
 */
const newReading = (address) => ({ address, parts: [], sight: { first: 0, last: 0 }, work: Promise.resolve(), hasFailed: false });

/**
 * A page as it is now: up to where the page behind it begins, so that each item is in one page only.
 * @param {Part} part
 * @param {Part | undefined} behind
 * @param {(after: string | undefined, most: number) => Promise<Part>} readPart
 * @param {(item: any) => string | number} keyOf
 * @returns {Promise<Part>}
 */
async function readAgain(part, behind, readPart, keyOf) {
  const read = await readPart(part.after, part.limit);
  if (behind === undefined) return read;
  const later = new Set(behind.items.map(keyOf));
  const isBehind = (/** @type {any} */ item) => later.has(keyOf(item));
  let { items, next } = read;
  for (let reads = 1; next !== null && next !== part.next && !items.some(isBehind) && reads < MOST_READS; reads += 1) {
    const more = await readPart(next, part.limit);
    items = [...items, ...more.items];
    next = more.next;
  }
  return { ...part, items: items.filter((item) => !isBehind(item)) };
}
