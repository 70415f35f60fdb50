import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isForGood } from '../../format.js';
import { Ago, Countdown } from '../../ui/time.js';

/** @param {{ model: PathModel, label: string }} props `label`: what the picture says, for those who do not see it. */
export function Path({ model, label }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [drawn, setDrawn] = useState(
    /** @type {{ width: number, height: number, lines: { key: string, d: string, kind: string }[] }} */ ({
      width: 0,
      height: 0,
      lines: [],
    }),
  );
  const drawnOf = JSON.stringify(model);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const draw = () => setDrawn(linesOf(element, model));
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [drawnOf]);
  return html`
    <div class="path" ref=${box}>
      <svg class="path-lines" role="img" aria-label=${label} viewBox=${`0 0 ${drawn.width} ${drawn.height}`}>
        ${drawn.lines.map(({ key, d, kind }) => html`<path key=${key} class=${`line ${kind}`} d=${d} />`)}
      </svg>
      <ol class="path-steps">
        ${model.columns.map(
          ({ title, nodes, none = 'None' }) => html`
            <li key=${title}>
              <h2>${title}</h2>
              ${
                nodes.length === 0
                  ? html`<p class="small soft">${none}</p>`
                  : html`<ul>${nodes.map((node) => html`<li key=${node.id}><${PathNode} node=${node} /></li>`)}</ul>`
              }
            </li>
          `,
        )}
      </ol>
    </div>
  `;
}

/** @param {{ node: PathStep }} props */
const PathNode = ({ node: { id, title, note, href, tone, goes, isNew, expires, at } }) => html`
  <a class=${`path-node ${tone} ${goes ? 'goes' : ''} ${isNew ? 'new' : ''}`} href=${href} data-node=${id} onClick=${href.startsWith('#') && (() => document.querySelector(href)?.setAttribute('open', ''))} title=${`${title}: ${note}`}>
    <strong><bdi>${title}</bdi></strong>
    ${note !== '' && html`<span><bdi>${note}</bdi></span>`}
    ${expires !== undefined && html`<span>${expires === 'never' || isForGood(Date.parse(expires) - Date.now()) ? 'never expires' : html`<${Countdown} until=${expires} /> left`}</span>`}
    ${at !== undefined && html`<span><${Ago} at=${at} /></span>`}
    ${goes && html`<span class="hidden-visually">would be removed</span>`}
  </a>
`;

/** A bundle of several nodes on both sides meets in the middle. @param {HTMLElement} element @param {PathModel} model */
function linesOf(element, { bundles }) {
  const all = element.getBoundingClientRect();
  const places = new Map(
    [...element.querySelectorAll('[data-node]')].map((node) => [
      /** @type {HTMLElement} */ (node).dataset.node,
      node.getBoundingClientRect(),
    ]),
  );
  const lines = bundles.flatMap(({ from, to, kind }) => {
    const starts = from
      .flatMap((id) => places.get(id) ?? [])
      .map(({ right, top, height }) => [right - all.left, top + height / 2 - all.top]);
    const ends = to.flatMap((id) => places.get(id) ?? []).map(({ left, top, height }) => [left - all.left, top + height / 2 - all.top]);
    if (starts.length === 0 || ends.length === 0 || ends[0][0] < starts[0][0]) return [];
    const middle = [(starts[0][0] + ends[0][0]) / 2, mean([...starts, ...ends].map(([, y]) => y))];
    const pairs =
      from.length > 1 && to.length > 1
        ? [...starts.map((start) => [start, middle]), ...ends.map((end) => [middle, end])]
        : starts.flatMap((start) => ends.map((end) => [start, end]));
    return pairs.map(([[x1, y1], [x2, y2]], i) => {
      const bend = (x2 - x1) / 2;
      return { key: `${from} ${to} ${kind} ${i}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, kind };
    });
  });
  return { width: all.width, height: all.height, lines };
}

const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
