import { html } from 'htm/preact';
import { count, counted, dateTime } from '../../format.js';
import { setQuery } from '../../router.js';
import { Chips } from '../../ui/chips.js';
import { instantOf } from './window.js';
import { actorOf, COLORS, colorOf, whereOf, wordOf } from './words.js';

/** Lanes; the rest is one. */
const MOST = 10;
/** Share of the width without changes at each end, and the largest radius, px. */
const EDGE = 0.02;
const LARGEST = 13;
const BY = [
  { value: 'list', label: 'By list' },
  { value: 'key', label: 'By author' },
];

/** Rules of a change. @param {Change} change */
const sizeOf = ({ from, entries = 0, added, renewed, removed, expired }) =>
  from === null ? 1 : Math.max(1, entries + (added ?? 0) + (renewed ?? 0) + (removed ?? 0) + (expired ?? 0));

/**
 * Changes on lanes over time. The list below has the same entries, for keyboard and screen reader.
 * @param {{ changes: readonly Change[], window: ChangeWindow, by: string, onSelect: (change: Change) => void }} props
 */
export function Lanes({ changes, window: { since, until }, by, onSelect }) {
  const now = Date.now();
  const [begin, end] = [instantOf(since, now), until === undefined ? now : instantOf(until, now)];
  const x = (/** @type {string} */ at) => {
    const share = Math.min(1, Math.max(0, (Date.parse(at) - begin) / (end - begin))) || 0;
    return `${100 * (EDGE + share * (1 - 2 * EDGE))}%`;
  };
  const nameOf = (/** @type {Change} */ change) => (by === 'key' ? actorOf(change) || 'expiry' : whereOf(change)) || 'workspace';
  const total = (/** @type {readonly Change[]} */ own) => own.reduce((sum, change) => sum + sizeOf(change), 0);
  const sorted = [...Map.groupBy(changes, nameOf)].toSorted(([, a], [, b]) => total(b) - total(a));
  const rest = sorted.slice(MOST);
  /** @type {[string, readonly Change[]][]} */
  const lanes = [
    ...sorted.slice(0, MOST),
    ...(rest.length > 0 ? [/** @type {[string, Change[]]} */ ([counted(rest.length, 'other'), rest.flatMap(([, own]) => own)])] : []),
  ];
  return html`
    <div class="stack">
      <${Chips} label="Lanes" options=${BY} values=${[by]} onValue=${(/** @type {string} */ value) => setQuery({ lanes: value === 'list' ? undefined : value })} />
      <div class="lanes" aria-hidden="true">
        ${lanes.map(
          ([name, own]) => html`
            <bdi class="small one-line" key=${`${name} name`} title=${name}>${name}</bdi>
            <svg key=${name}>
              <line x1="0" x2="100%" y1="50%" y2="50%" />
              ${own.map(
                (change) => html`
                  <circle key=${change.id} class=${colorOf(change)} cx=${x(change.at)} cy="50%" r=${radius(change)} onClick=${() => onSelect(change)}>
                    <title>${`${wordOf(change)}: ${count(sizeOf(change))}, ${dateTime(change.at)}, ${actorOf(change)}`}</title>
                  </circle>`,
              )}
            </svg>`,
        )}
        <span></span>
        <p class="legend small soft">${Object.entries(COLORS).map(([effect, color]) => html`<svg key=${effect}><circle class=${color} cx="50%" cy="50%" r="5" /></svg>${effect}`)}</p>
      </div>
    </div>
  `;
}

/** @param {Change} change */
const radius = (change) => Math.min(LARGEST, 4 + 2 * Math.log10(sizeOf(change)));
