/** A list of any length: only the rows in sight are in the page, so 100,000 scroll as ten do. */

import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The height of a row, px: one line. */
const ROW = 40;
/** Rows above and below those in sight. */
const AROUND = 12;
/** Browsers cut off what is higher, px. */
const HIGHEST = 15_000_000;

/**
 * @template T
 * @typedef {object} LongColumn
 * @property {string} label
 * @property {(row: T) => any} cell One line; what is too long is cut with dots.
 * @property {string} width As in grid-template-columns, such as `8rem` or `minmax(0, 2fr)`.
 * @property {boolean} [number]
 * @property {boolean} [secondary] Left out on a phone.
 */

/**
 * @param {{ label: string, columns: readonly LongColumn<any>[], rows: readonly any[], keyOf: (row: any) => string | number,
 *   onRow?: (row: any) => void, selected?: string | number, total?: number, onSight?: (first: number, last: number) => void }} props
 * `onSight` is called with the numbers of the rows in sight, such as to read more. `total`: rows that there are, where more than those
 * given; -1: not known.
 */
export function LongList({ label, columns, rows, keyOf, onRow, selected, total = rows.length, onSight }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, height: 600 });
  const isNarrow = useNarrow();
  const shown = isNarrow ? columns.filter(({ secondary }) => !secondary) : columns;
  const grid = { gridTemplateColumns: shown.map(({ width }) => width).join(' ') };

  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (body.current);
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  const first = Math.max(0, Math.floor(view.top / ROW) - AROUND);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW) + AROUND);
  useEffect(() => onSight?.(first, last), [first, last]);

  /** Arrow keys go from row to row. @param {KeyboardEvent} event */
  const onKey = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('.long-row'));
    if (step === undefined || row === null) return;
    event.preventDefault();
    const next = Number(row.dataset.index) + step;
    const element = /** @type {HTMLElement} */ (body.current);
    if (next < 0 || next >= rows.length) return;
    if (next * ROW < element.scrollTop) element.scrollTop = next * ROW;
    if ((next + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (next + 1) * ROW - element.clientHeight;
    requestAnimationFrame(() => /** @type {HTMLElement | null} */ (element.querySelector(`[data-index="${next}"]`))?.focus());
  };

  const cells = (/** @type {any} */ row) =>
    shown.map(
      (column) => html`<span role="cell" key=${column.label} class=${column.number ? 'number' : undefined}>${column.cell(row)}</span>`,
    );

  return html`
    <div class="long" role="table" aria-label=${label} aria-rowcount=${total < 0 ? -1 : total + 1}>
      <div class="long-head" role="row" style=${grid}>
        ${shown.map((column) => html`<span role="columnheader" key=${column.label} class=${column.number ? 'number' : undefined}>${column.label}</span>`)}
      </div>
      <div class="long-body" role="rowgroup" ref=${body} tabindex="0" onKeyDown=${onKey} style=${{ height: `min(${rows.length * ROW}px, var(--long, 36rem))` }}>
        <div class="long-space" role="presentation" style=${{ height: `${Math.min(rows.length * ROW, HIGHEST)}px` }}>
          ${rows.slice(first, last).map((row, i) => {
            const index = first + i;
            const key = keyOf(row);
            const place = { ...grid, top: `${index * ROW}px`, height: `${ROW}px` };
            const shared = { key, class: 'long-row', role: 'row', 'aria-rowindex': index + 2, 'data-index': index, style: place };
            return onRow === undefined
              ? html`<div ...${shared}>${cells(row)}</div>`
              : html`<div ...${shared} tabindex="0" aria-selected=${selected === key} onClick=${() => onRow(row)} onKeyDown=${(
                  /** @type {KeyboardEvent} */ event,
                ) => {
                  if (event.key === 'Enter') onRow(row);
                }}>${cells(row)}</div>`;
          })}
        </div>
      </div>
    </div>
  `;
}

const narrow = matchMedia('(width < 40rem)');

/** Whether the page is as narrow as a phone. */
function useNarrow() {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const onChange = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', onChange);
    return () => narrow.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
