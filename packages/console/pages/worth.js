import { html } from 'htm/preact';
import { ask, manage } from '../api.js';
import { useLiveWork } from '../data.js';
import { count, counted, dateTime } from '../format.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { Figure, Figures } from '../ui/figures.js';
import { PageHead } from '../ui/page-head.js';
import { Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { Counted } from './worth/counting.js';
import { ListOverlap } from './worth/list-worth.js';
import { Matrix } from './worth/matrix.js';
import { earlierText, linkToOverlap } from './worth/worth-words.js';

/** Poll interval, ms: each answer reads all rules. */
const EVERY = 60_000;

/** @param {PageProps} props */
export function Page({ place }) {
  const [id] = place.parts;
  return id === undefined ? html`<${Lists} />` : html`<${ListOverlap} key=${id} id=${id} />`;
}

function Lists() {
  const live = useLiveWork('worth', async () => (await ask(manage('/worth'))).body, { every: EVERY });
  return html`
    <${PageHead} title="List value" actions=${html`<${Button} onClick=${live.refresh}>Recalculate<//>`}>
      Overlap and unique hits per list.
    <//>
    <${Counted} live=${live}>${(/** @type {Worth} */ worth) => html`
      <${Summary} worth=${worth} />
      <${Table} label="Lists" columns=${columnsOf(worth)} rows=${worth.lists} keyOf=${(/** @type {WorthList} */ each) => each.id} />
      ${worth.lists_left_out > 0 && html`<p class="small soft">Largest lists only; ${counted(worth.lists_left_out, 'more list')} compared but not shown.</p>`}
      <${Card} title="Overlap" note="Share of a row's entries that the column's list contains too.">
        <${Matrix} lists=${worth.lists} />
      <//>
    `}<//>
  `;
}

/** @param {{ worth: Worth }} props */
function Summary({ worth: { lists, detections, dropped, at } }) {
  const idle = lists.filter((each) => each.idle);
  return html`
    ${
      idle.length > 0 &&
      html`
        <${Notice}>
          <span>No hits in your detections${dropped.hits > 0 && ' or on bouncers'} for ${detections.days} days: ${idle.map((each, i) => html`${i > 0 && ', '}<a key=${each.id} class="text" href=${linkToOverlap(each)}>${each.name}</a>`)}.</span>
        <//>
      `
    }
    ${lists.flatMap((list) =>
      list.copies.map(
        (each) =>
          html`<${Notice} key=${`${list.id} ${each.name}`}><span><bdi>${list.name}</bdi> copies <bdi>${each.name}</bdi> (${count(each.entries)} of ${counted(list.entries, 'entry', 'entries')}).</span><//>`,
      ),
    )}
    <${Figures}>
      <${Figure} label="Lists" value=${count(lists.length)} note=${html`calculated <${Ago} at=${at} />`} />
      <${Figure} label=${`Your detections, ${detections.days} days`} value=${count(detections.count)}
        note=${detections.first === null ? 'none yet' : `since ${dateTime(detections.first)}`} />
      <${Figure} label="Lists with no hits" value=${count(idle.length)} />
    <//>
  `;
}

/** @param {Worth} worth @returns {Column<WorthList>[]} */
const columnsOf = ({ dropped }) => [
  { label: 'List', cell: (list) => html`<a class="text worth-name" href=${linkToOverlap(list)}>${list.name}</a>` },
  { label: 'Entries', number: true, cell: ({ entries }) => count(entries) },
  { label: 'New', number: true, cell: ({ added }) => count(added) },
  { label: 'Removed', number: true, cell: ({ gone }) => count(gone) },
  { label: 'Unique', number: true, cell: ({ unique }) => count(unique.entries) },
  {
    label: 'Detected later',
    number: true,
    cell: ({ detections: { before, lead_seconds: lead } }) =>
      html`<span>${count(before)}${lead !== null && html`<br /><span class="soft small nowrap">${earlierText(lead)}</span>`}</span>`,
  },
  { label: 'Detected first', number: true, cell: ({ detections: { after } }) => count(after) },
  { label: 'Not listed', number: true, cell: ({ detections: { never } }) => count(never) },
  { label: 'Never-block overlaps', number: true, cell: ({ never_block: { count: rules } }) => count(rules) },
  { label: 'Hits', number: true, cell: ({ hits }) => (dropped.hits === 0 ? html`<span class="soft">–</span>` : count(hits)) },
  {
    label: 'Largest overlap',
    cell: ({ overlaps: [most] }) =>
      most === undefined
        ? html`<span class="soft">none</span>`
        : html`<span><bdi class="text">${most.name}</bdi> <span class="soft small nowrap">${counted(most.entries, 'entry', 'entries')}</span></span>`,
  },
];
