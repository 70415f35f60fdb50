import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * @param {readonly any[]} rows Those that are read.
 * @param {(row: any) => string | number} keyOf
 * @param {string} name Of the list: in another one nothing is selected.
 * @returns {Selected}
 */
export function useSelection(rows, keyOf, name) {
  const [keys, setKeys] = useState(/** @type {ReadonlySet<string | number>} */ (new Set()));
  const begin = useRef(0);
  const clear = () => setKeys((before) => (before.size === 0 ? before : new Set()));
  useEffect(clear, [name]);
  const all = keys.size === 0 ? false : rows.every((row) => keys.has(keyOf(row))) ? true : /** @type {'some'} */ ('some');
  return {
    keys,
    clear,
    of: (nameOf) => ({
      has: (key) => keys.has(key),
      toggle(index, isRange) {
        const next = new Set(keys);
        const [from, to] = isRange ? [Math.min(begin.current, index), Math.max(begin.current, index)] : [index, index];
        const isOn = isRange || !next.has(keyOf(rows[index]));
        for (const row of rows.slice(from, to + 1)) if (isOn) next.add(keyOf(row));
        if (!isOn) next.delete(keyOf(rows[index]));
        if (!isRange) begin.current = index;
        setKeys(next);
      },
      all,
      toggleAll: () => setKeys(all === true ? new Set() : new Set(rows.map(keyOf))),
      nameOf,
    }),
  };
}
