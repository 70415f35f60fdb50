import { html } from 'htm/preact';
import { ask, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { andMore, count, counted, dateTime } from '../../format.js';
import { link } from '../../router.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Facts, Figure, Figures } from '../../ui/figures.js';
import { PageHead } from '../../ui/page-head.js';
import { Plot } from '../../ui/plot.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { Counted } from './counting.js';
import { earlierText, shareText } from './worth-words.js';

const EVERY = 120_000;
const DAY = 86_400_000;
const BACK = { href: link('/worth'), label: 'List value' };

/** @param {{ id: string }} props */
export function ListOverlap({ id }) {
  const address = manage(`/lists/${encodeURIComponent(id)}/worth`);
  const live = useLiveWork(address, async () => (await ask(address)).body, { every: EVERY });
  const { value } = live;
  const actions = html`<a class="button" href=${link('/feeds', 'list', id)}>View feed</a><${Button} onClick=${live.refresh}>Recalculate<//>`;
  return html`
    <${PageHead} title=${value?.name ?? 'List value'} back=${BACK} actions=${actions}>
      ${value === undefined ? 'Overlap and unique hits.' : html`<span>Overlap and unique hits, calculated <${Ago} at=${value.at} />.</span>`}
    <//>
    <${Counted} live=${live}>${(/** @type {ListComparison} */ worth) => html`
      ${worth.idle && html`<${Notice}><span>No hits in your detections or on bouncers for ${worth.detected.days} days.</span><//>`}
      ${worth.copies.map((each) => html`<${Notice} key=${each.name}><span>Copies <bdi>${each.name}</bdi> (${count(each.entries)} of ${counted(worth.entries, 'entry', 'entries')}).</span><//>`)}
      <${Numbers} worth=${worth} />
      <${Days} worth=${worth} />
      <${Card} title="Overlap with other lists">
        ${
          worth.overlaps.length === 0
            ? html`<p class="soft">No overlap.</p>`
            : html`<${Table} label="Overlap with other lists" columns=${overlapColumns(worth.entries)} rows=${worth.overlaps} keyOf=${(each) => each.name} />`
        }
      <//>
      <${Card} title="Effect on feeds">
        <${Facts} facts=${[
          ['Protected networks', worth.protected.join(', ') || 'none'],
          ['Never-block rules', worth.never_block.count === 0 ? 'none' : neverText(worth.never_block)],
          ['Not checked', worth.left_out > 0 ? counted(worth.left_out, 'list or feed', 'lists and feeds') : null],
        ]} />
        <${Table} label="Feeds with and without the list" columns=${FEEDS} rows=${worth.feeds} keyOf=${(each) => `${each.kind} ${each.name} ${each.action}`} />
      <//>
    `}<//>
  `;
}

/** @param {{ worth: ListComparison }} props */
function Numbers({ worth: { entries, added, gone, unique, detections, detected, hits } }) {
  const { of, before, after, never, lead_seconds: lead } = detections;
  return html`
    <${Figures}>
      <${Figure} label="Entries" value=${count(entries)} note=${`${count(added)} new, ${count(gone)} removed in 24 hours`} />
      <${Figure} label="Unique" value=${count(unique.entries)} note=${counted(unique.addresses_v4, 'IPv4 address', 'IPv4 addresses')} />
      <${Figure} label="Detected later" value=${count(before)} note=${lead === null ? `of ${count(of)} detections` : `of ${count(of)}, median lead ${earlierText(lead)}`} />
      <${Figure} label="Detected first" value=${count(after)} note=${`${count(never)} never listed`} />
      ${hits > 0 && html`<${Figure} label="Hits" value=${count(hits)} note="reported by bouncers" />`}
    <//>
    <p class="small soft">
      ${count(detected.count)} own detections in ${detected.days} days${detected.first !== null && `, since ${dateTime(detected.first)}`}.
    </p>
  `;
}

/** @param {{ worth: ListComparison }} props */
function Days({ worth: { at, days: known } }) {
  const last = Math.floor(Date.parse(at) / DAY);
  const days = Array.from({ length: 30 }, (_, i) => {
    const day = new Date((last - 29 + i) * DAY).toISOString().slice(0, 10);
    return known.find((each) => each.day === day) ?? { day, added: 0, expired: 0, removed: 0, undone: 0, hits: 0 };
  });
  const values = (/** @type {(day: ListComparison['days'][number]) => number} */ of) => days.map(of);
  return html`
    <${Card} title="Rules per day" note="Last 30 days.">
      <${Plot} days span=${29 * 86_400} label="Changes of the list" times=${days.map(({ day }) => Date.parse(day) / 1000)}
        series=${[
          { label: 'added', color: '--accent', fill: true, values: values(({ added }) => added) },
          { label: 'expired', color: '--text-soft', values: values(({ expired }) => expired) },
          { label: 'removed or undone', color: '--warn', values: values(({ removed, undone }) => removed + undone) },
        ]} />
    <//>
  `;
}

/** @param {ListComparison['never_block']} rules */
function neverText({ count: all, first }) {
  const named = first.slice(0, 5);
  return `${count(all)}: ${named.map(({ list, value }) => `${value} (${list})`).join(', ')}${andMore(all, named.length)}`;
}

/** @param {number} all @returns {Column<Share & { name: string }>[]} */
const overlapColumns = (all) => [
  { label: 'List', cell: ({ name }) => html`<bdi class="text">${name}</bdi>` },
  { label: 'Entries', number: true, cell: ({ entries }) => count(entries) },
  { label: 'Share', number: true, cell: ({ entries }) => shareText(entries, all) },
  { label: 'IPv4 addresses', number: true, cell: ({ addresses_v4: addresses }) => count(addresses) },
];

/** @type {Column<ListComparison['feeds'][number]>[]} */
const FEEDS = [
  {
    label: 'Feed',
    cell: ({ name, action }) => html`<span><bdi class="text">${name}</bdi> <span class="soft small">${action}</span></span>`,
  },
  { label: 'Entries', number: true, cell: ({ entries }) => count(entries) },
  { label: 'Without it', number: true, cell: ({ entries_without: entries }) => count(entries) },
  { label: 'Contribution', number: true, cell: ({ costs }) => count(costs) },
  { label: 'Limit', number: true, cell: ({ entry_limit: most }) => count(most) },
];
