import { html } from 'htm/preact';
import { count, percent } from '../format.js';

/** @param {{ value: number, most: number, label: string }} props */
export function Gauge({ value, most, label }) {
  const share = most === 0 ? 0 : value / most;
  const kind = share > 0.9 ? 'warn' : '';
  return html`
    <div class=${`gauge ${kind}`}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${percent(share)} of ${count(most)}`}>
        <rect width=${Math.min(100, share * 100)} height="6" />
      </svg>
      <span class="small soft nowrap">${percent(share)} of ${count(most)}</span>
    </div>
  `;
}

/** Numbers as bars, the largest as wide as there is space. @param {{ bars: readonly { name: string, number: number, href?: string | false }[], none?: string }} props */
export function Bars({ bars, none }) {
  if (bars.length === 0) return html`<p class="soft">${none}</p>`;
  const most = Math.max(1, ...bars.map(({ number }) => number));
  return html`
    <ul class="full-feeds">
      ${bars.map(
        ({ name, number, href }) => html`
          <li key=${name}>
            ${href ? html`<a class="text one-line" title=${name} href=${href}>${name}</a>` : html`<span class="text one-line">${name}</span>`}
            <span class="number">${count(number)}</span>
            <div class="gauge"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width=${(number / most) * 100} height="6" /></svg></div>
          </li>
        `,
      )}
    </ul>
  `;
}
