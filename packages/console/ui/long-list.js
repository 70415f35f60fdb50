/** A list of any length: only visible rows are in the DOM. One tab stop; arrows, Home, End and Page keys move between rows. */

import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { goalOf } from './long-keys.js';

const ROW = 40;
const AROUND = 12;
/** Browsers limit element heights, px. */
const HIGHEST = 15_000_000;

/**
 * @param {{ label: string, columns: readonly LongColumn<any>[], rows: readonly any[], keyOf: (row: any) => string | number,
 * onRow?: (row: any) => void, selected?: string | number, total?: number, onSight?: (first: number, last: number) => void,
 * sort?: Sort | undefined, onSort?: (by: string) => void, selection?: RowSelection | undefined }} props
 * `onSight` is called with the numbers of the rows in sight, such as to read more. `total`: rows that there are, where more than those
 * given; -1: not known. `onSort` is called with the `sort` of a column.
 */
export function LongList({ label, columns, rows, keyOf, onRow, selected, total = rows.length, onSight, sort, onSort, selection }) {
  const body = useRef(/** @type {HTMLElement | null} */ (null));
  const table = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, height: 600 });
  /** The row in the tab order. */
  const [current, setCurrent] = useState(0);
  /** Updated at once: keys may repeat before a render. */
  const at = useRef(0);
  /** Row to focus after the next render. */
  const wanted = useRef(/** @type {number | undefined} */ (undefined));
  const isNarrow = useNarrow();
  const visible = isNarrow ? columns.filter(({ secondary }) => !secondary) : columns;
  const widths = visible.map(({ width }) => width);
  const grid = { gridTemplateColumns: (selection === undefined ? widths : ['1.25rem', ...widths]).join(' ') };

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
  const stop = Math.min(Math.max(0, current), rows.length - 1);
  // The row in the tab order is always rendered: it may have focus.
  const indexes = Array.from({ length: Math.max(0, last - first) }, (_, i) => first + i);
  if (stop >= 0 && stop < first) indexes.unshift(stop);
  if (stop >= last) indexes.push(stop);

  const find = (selector) => /** @type {HTMLElement | null} */ (table.current?.querySelector(selector) ?? null);
  const follow = () => {
    const row = wanted.current === undefined ? null : find(`[data-index="${wanted.current}"]`);
    if (row === null) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  };
  useLayoutEffect(follow);
  const goTo = (index) => {
    const element = /** @type {HTMLElement} */ (body.current);
    if (index * ROW < element.scrollTop) element.scrollTop = index * ROW;
    if ((index + 1) * ROW > element.scrollTop + element.clientHeight) element.scrollTop = (index + 1) * ROW - element.clientHeight;
    at.current = index;
    setCurrent(index);
    setView({ top: element.scrollTop, height: element.clientHeight });
    wanted.current = index;
    follow();
  };

  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('.long-row'));
    if (row === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const index = at.current;
    if (event.key === ' ' && selection !== undefined) selection.toggle(index, event.shiftKey);
    else if (event.key === 'ArrowUp' && index === 0) find('.long-head button, .long-head input')?.focus();
    else {
      const goal = goalOf(event.key, index, { rows: rows.length, page: Math.max(1, Math.floor(view.height / ROW) - 1) });
      if (goal === undefined) return;
      if (event.shiftKey && selection !== undefined && goal !== index) selection.toggle(goal, true);
      goTo(goal);
    }
    event.preventDefault();
  };
  /** @param {KeyboardEvent} event */
  const onHeadKey = (event) => {
    if (event.key === 'ArrowDown') goTo(Math.min(Math.max(0, current), rows.length - 1));
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) {
      const stops = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('button, input')];
      const next = stops[stops.indexOf(/** @type {Element} */ (event.target)) + step];
      /** @type {HTMLElement | undefined} */ (next)?.focus();
    }
    if (step !== undefined || event.key === 'ArrowDown') event.preventDefault();
  };

  const check = (row, index) => html`
    <span role="gridcell" key="check" onClick=${(event) => event.stopPropagation()}>
      <input type="checkbox" tabindex="-1" aria-label=${`Select ${selection?.nameOf(row)}`} checked=${selection?.has(keyOf(row))}
        onClick=${(event) => {
          setCurrent(index);
          selection?.toggle(index, event.shiftKey);
        }} />
    </span>`;
  const cells = (row) =>
    visible.map(
      (column) => html`<span role="gridcell" key=${column.label} class=${column.number ? 'number' : undefined}>${column.cell(row)}</span>`,
    );

  return html`
    <div class="long" role="grid" ref=${table} aria-label=${label} aria-rowcount=${total < 0 ? -1 : total + 1} aria-multiselectable=${selection !== undefined || undefined}>
      <div role="rowgroup">
        <div class="long-head" role="row" style=${grid} onKeyDown=${onHeadKey}>
          ${selection !== undefined && html`<span role="columnheader" key="check"><${CheckAll} selection=${selection} /></span>`}
          ${visible.map((column) => html`<${Head} key=${column.label} column=${column} sort=${sort} onSort=${onSort} />`)}
        </div>
      </div>
      <div class="long-body" role="rowgroup" ref=${body} tabindex="-1" onKeyDown=${onKey} style=${{ height: `min(${rows.length * ROW}px, var(--long, 36rem))` }}>
        <div class="long-space" role="presentation" style=${{ height: `${Math.min(rows.length * ROW, HIGHEST)}px` }}>
          ${indexes.map((index) => {
            const row = rows[index];
            const key = keyOf(row);
            const isChosen = selection === undefined ? onRow && selected === key : selection.has(key);
            return html`
              <div key=${key} class="long-row" role="row" aria-rowindex=${index + 2} data-index=${index} aria-selected=${isChosen}
                style=${{ ...grid, top: `${index * ROW}px`, height: `${ROW}px` }} tabindex=${index === stop ? 0 : -1}
                onFocus=${() => {
                  at.current = index;
                  setCurrent(index);
                }} onClick=${onRow && (() => onRow(row))}
                onKeyDown=${
                  onRow &&
                  ((event) => {
                    if (event.key === 'Enter') onRow(row);
                  })
                }>${selection !== undefined && check(row, index)}${cells(row)}</div>`;
          })}
        </div>
      </div>
    </div>
  `;
}

/** @param {{ selection: RowSelection }} props */
const CheckAll = ({ selection: { all, toggleAll } }) => html`
  <input type="checkbox" tabindex="-1" aria-label="Select all loaded rows" checked=${all === true} onClick=${toggleAll}
    ref=${(/** @type {HTMLInputElement | null} */ input) => {
      if (input !== null) input.indeterminate = all === 'some';
    }} />
`;

/** @param {{ column: LongColumn<any>, sort: Sort | undefined, onSort?: ((by: string) => void) | undefined }} props */
function Head({ column: { label, number, sort: by }, sort, onSort }) {
  const shared = { role: 'columnheader', class: number ? 'number' : undefined };
  if (by === undefined || onSort === undefined) return html`<span ...${shared}>${label}</span>`;
  const order = sort?.by !== by ? 'none' : sort.descending ? 'descending' : 'ascending';
  return html`
    <span ...${shared} aria-sort=${order}>
      <button type="button" class="sort" tabindex="-1" onClick=${() => onSort(by)}>${label}<span aria-hidden="true">${{ ascending: ' ▲', descending: ' ▼', none: '' }[order]}</span></button>
    </span>`;
}

const narrow = matchMedia('(width < 40rem)');

function useNarrow() {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const onChange = () => setNarrow(narrow.matches);
    narrow.addEventListener('change', onChange);
    return () => narrow.removeEventListener('change', onChange);
  }, []);
  return isNarrow;
}
