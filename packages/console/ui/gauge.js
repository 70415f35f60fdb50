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
