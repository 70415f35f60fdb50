import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, shortCount } from '../format.js';
import { moved, readingAt, spanOf, visibleRange } from './plot-reading.js';

const HEIGHT = 180;

/** Resolves a CSS variable. @param {Element} element @param {string} token */
function colorOf(element, token) {
  const probe = document.createElement('span');
  probe.style.color = `var(${token})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** @param {HTMLElement} element */
const shade = (element, token, alpha = 0.12) => colorOf(element, token).replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${alpha})`);

/** `stack`: areas on each other. `bars`: the first series above zero, the others below, on each other. @typedef {'lines' | 'stack' | 'bars'} PlotKind */

/** Drawn values. @param {PlotKind} kind @param {readonly Series[]} series */
function drawnOf(kind, series) {
  if (kind === 'lines') return series.map(({ values }) => values);
  const sums = (rows) =>
    rows.map((_, row) =>
      rows[0].map((_value, i) => (rows[row][i] === null ? null : rows.slice(0, row + 1).reduce((sum, each) => sum + each[i], 0))),
    );
  const all = series.map(({ values }) => values);
  if (kind === 'stack') return sums(all);
  const [up, ...down] = all;
  // Longer bars first: shorter ones are painted over them.
  return [
    up,
    ...sums(down.toReversed())
      .toReversed()
      .map((row) => row.map((value) => -value)),
  ];
}

/**
 * @param {{ label: string, times: readonly number[], series: readonly Series[], days?: boolean, span?: number, kind?: PlotKind,
 * onSpan?: (from: number, to: number) => void }} props
 * `times` in seconds; `days`: one point a day, UTC; `span`: seconds that are shown up to the last point, however few points there are.
 * `onSpan`: called with a span (seconds) selected by dragging, or by Shift with arrows and Enter.
 */
export function Plot({ label, times, series, days = false, span, kind = 'lines', onSpan }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const drawn = useRef(/** @type {any} */ (undefined));
  const [theme, setTheme] = useState(0);
  const [reading, setReading] = useState('');
  const place = useRef({ at: -1, from: -1 });
  const now = useRef({ times, series, onSpan });
  now.current = { times, series, onSpan };
  const choose = (a, b) => now.current.onSpan?.(...spanOf(now.current.times, a, b, days));

  useEffect(() => {
    const onTheme = () => setTheme((before) => before + 1);
    addEventListener('weir-theme', onTheme);
    return () => removeEventListener('weir-theme', onTheme);
  }, []);

  const data = [times, ...drawnOf(kind, series)];
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    let isUnmounted = false;
    /** @type {ResizeObserver | undefined} */
    let observer;
    void import('uplot').then(({ default: UPlot }) => {
      if (isUnmounted) return;
      const [soft, line] = [colorOf(element, '--text-soft'), colorOf(element, '--line')];
      const axis = {
        stroke: soft,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        font: `12px ${getComputedStyle(element).fontFamily}`,
      };
      const plot = new UPlot(
        {
          width: Math.max(200, element.clientWidth),
          height: HEIGHT,
          padding: [8, 8, 0, 0],
          legend: { show: false },
          cursor: { y: false, points: { size: 6 }, drag: { x: now.current.onSpan !== undefined, y: false, setScale: false } },
          hooks: {
            setCursor: [
              ({ cursor: { idx } }) => {
                if (idx === null || idx === undefined) return;
                place.current.at = idx;
                setReading(readingAt(now.current.times, now.current.series, idx, days));
              },
            ],
            setSelect: [
              (/** @type {any} */ self) => {
                const { left, width } = self.select;
                // Enter chooses a keyboard selection.
                if (width < 3 || self.isByKey) return;
                choose(self.posToIdx(left), self.posToIdx(left + width));
              },
            ],
          },
          ...(days && { tzDate: (at) => UPlot.tzDate(new Date(at * 1000), 'Etc/UTC') }),
          scales: {
            x: {
              time: true,
              // uPlot would draw a single point as the first of a thousand days.
              range: () => visibleRange(now.current.times, span, days),
            },
            y: {
              range: (_plot, least, most) => [Math.min(0, (least ?? 0) * 1.1), Math.max(4, (most ?? 0) * 1.1)],
            },
          },
          axes: [
            {
              ...axis,
              size: 28,
              grid: { show: false },
              values: (_plot, splits) => splits.map((at) => (days ? DAY : TIME).format(at * 1000)),
            },
            {
              ...axis,
              size: 52,
              values: (_plot, splits) => splits.map((value) => (value === null ? '' : shortCount(Math.abs(value)))),
            },
          ],
          ...(kind === 'stack' && {
            bands: series.slice(1).map(({ color }, i) => ({ series: [i + 2, i + 1], fill: shade(element, color, 0.6) })),
          }),
          series: [
            {},
            ...series.map(({ label: name, color, fill }, i) => ({
              label: name,
              stroke: colorOf(element, color),
              width: kind === 'bars' ? 0 : 1.5,
              points: { show: kind !== 'bars' && times.length < 2, size: 5 },
              ...(fill && { fill: shade(element, color) }),
              ...(kind === 'stack' && i === 0 && { fill: shade(element, color, 0.6) }),
              ...(kind === 'bars' && { fill: colorOf(element, color), paths: UPlot.paths.bars?.({ size: [0.8, 40] }) }),
            })),
          ],
        },
        /** @type {any} */ (data),
        element,
      );
      drawn.current = plot;
      observer = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }));
      observer.observe(element);
    });
    return () => {
      isUnmounted = true;
      observer?.disconnect();
      drawn.current?.destroy();
      drawn.current = undefined;
    };
  }, [theme, series.map(({ label: name }) => name).join()]);

  useEffect(() => drawn.current?.setData(data), [JSON.stringify(data)]);

  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const plot = drawn.current;
    const { at, from } = place.current;
    const last = times.length - 1;
    if (plot === undefined || last < 0) return;
    if (event.key === 'Enter' && at >= 0) return choose(from < 0 ? at : from, at);
    const next = moved(event, at < 0 ? { at: last + 1, from: last } : { at, from: from < 0 ? at : from }, times.length);
    if (next === undefined) return;
    event.preventDefault();
    const left = (i) => plot.valToPos(times[i], 'x');
    plot.setCursor({ left: left(next.at), top: 0 });
    plot.isByKey = true;
    plot.setSelect({
      left: Math.min(left(next.from), left(next.at)),
      width: Math.abs(left(next.at) - left(next.from)),
      top: 0,
      height: plot.over.clientHeight,
    });
    plot.isByKey = false;
    place.current = next;
    setReading(readingAt(times, series, next.at, days));
  };

  return html`
    <figure class="stack">
      <div class="plot" ref=${box} role="img" aria-label=${`${label}: ${series.map(summary).join('; ')}`} title=${onSpan && 'Drag to see what changed.'} tabindex="0" onKeyDown=${onKey}></div>
      <p class="plot-at small" role="status">${reading}</p>
      <figcaption class="plot-keys">
        ${series.map(
          ({ label: name, color }) => html`
            <span key=${name}><svg viewBox="0 0 12 12" aria-hidden="true"><rect width="12" height="12" rx="3" style=${{ fill: `var(${color})` }} /></svg>${name}</span>
          `,
        )}
      </figcaption>
    </figure>
  `;
}

const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** @param {Series} series */
function summary({ label, values }) {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return `${label}: no data`;
  return `${label}: latest ${count(/** @type {number} */ (known.at(-1)))}, maximum ${count(Math.max(...known))}`;
}
