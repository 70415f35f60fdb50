import { html } from 'htm/preact';
import { count } from '../../format.js';
import { link } from '../../router.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { CUTS, Verdict } from '../lookup/words.js';

const KINDS = { workspace: 'workspace', list: 'list', composed: 'feed' };

/** @param {{ answer: StillBlockedAnswer }} props */
export function StillBlocked({ answer: { still_blocked: feeds, still_blocked_left_out: leftOut = 0, still_blocked_reason: reason } }) {
  if (feeds === undefined) return null;
  if (feeds === null) return html`<${Notice} kind="warn">Whether feeds still block it is unknown: ${reason}.<//>`;
  if (feeds.length === 0) return html`<p role="status">No feed will block it.</p>`;
  const total = feeds.length + leftOut;
  return html`
    <${Notice} kind="bad">
      <strong>${total === 1 ? 'One feed still blocks it' : `${count(total)} feeds still block it`}</strong>: a never-block rule alone does not remove it.
    <//>
    <${Table} label="Feeds that still block it" columns=${COLUMNS} rows=${feeds} keyOf=${(/** @type {KeepingFeed} */ { id }) => id ?? ''} />
    ${leftOut > 0 && html`<p class="small soft">And ${count(leftOut)} more.</p>`}
  `;
}

/** @param {{ answer: { still_blocked?: KeepingFeed[], still_blocked_unknown?: number } }} props */
export function StillBlockedOf({ answer: { still_blocked: rows, still_blocked_unknown: unknown = 0 } }) {
  if (rows === undefined) return null;
  const targets = new Set(rows.map(({ target }) => target)).size;
  return html`
    ${rows.length === 0 && html`<p role="status">No feed will block ${unknown > 0 ? 'the first of them' : 'any of them'}.</p>`}
    ${
      rows.length > 0 &&
      html`
        <${Notice} kind="bad"><strong>Feeds still block ${targets === 1 ? 'one target' : `${count(targets)} targets`}.</strong><//>
        <div class="scrolls"><${Table} label="Still blocked" columns=${COLUMNS_OF} rows=${rows}
          keyOf=${(/** @type {KeepingFeed} */ { target, id }) => `${target} ${id}`} /></div>
      `
    }
    ${unknown > 0 && html`<p class="small soft">${count(unknown)} more were not checked. Use Look up.</p>`}
  `;
}

/** @param {string} value @param {StillBlockedAnswer & { landed: boolean }} answer */
export function neverBlockedText(value, { landed, still_blocked: feeds, still_blocked_left_out: leftOut = 0 }) {
  const lookUp = html`<a href=${`${link('/lookup')}?${new URLSearchParams({ target: value })}`}>Look up</a>`;
  const done = html`<bdi>${value}</bdi> ${landed ? 'is on the never-block list' : 'was accepted for the never-block list'}`;
  if (feeds === undefined || feeds === null) return html`${done}. Whether feeds still block it is unknown: ${lookUp}.`;
  if (feeds.length === 0) return html`${done}. No feed blocks it from the next fetch on.`;
  const names = feeds.slice(0, 3).map(({ name, id }, i) => html`${i > 0 ? ', ' : ''}<bdi key=${id}>${name}</bdi>`);
  const more = feeds.length + leftOut - names.length;
  return html`${done}, but feeds still block it: ${names}${more > 0 && ` and ${count(more)} more`}. ${lookUp}.`;
}

/** @type {Column<KeepingFeed>[]} */
const COLUMNS = [
  {
    label: 'Feed',
    cell: ({ id, kind, name }) =>
      html`<span><a class="text" href=${linkToFeed({ kind, id: id ?? '' })}>${name}</a> <span class="soft small">${KINDS[kind]}</span></span>`,
  },
  { label: 'State', cell: ({ verdict }) => html`<${Verdict} verdict=${verdict} />` },
  { label: 'How to remove it', cell: (feed) => wayText(feed) },
];

/** @type {Column<KeepingFeed>[]} */
const COLUMNS_OF = [
  {
    label: 'Target',
    cell: ({ target }) => html`<a class="mono" href=${`${link('/lookup')}?${new URLSearchParams({ target })}`}><bdi>${target}</bdi></a>`,
  },
  ...COLUMNS.slice(0, 2),
  {
    label: 'Blocked by',
    cell: ({ by }) =>
      by.map(
        ({ target, list }, i) =>
          html`${i > 0 ? ', ' : ''}<span key=${target + list}><bdi class="mono">${target}</bdi> in <bdi>${list}</bdi></span>`,
      ),
  },
  ...COLUMNS.slice(2),
];

/** @param {KeepingFeed} feed */
function wayText({ way_out: way }) {
  if (way === null) return 'Several steps: see Look up';
  if (way.do === 'unblock') return html`Unblock it in <bdi>${way.lists.join(', ')}</bdi>`;
  return `Set the feed's “Subtract never-block rules” to “${CUTS[way.value]}”`;
}
