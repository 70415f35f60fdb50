import { html } from 'htm/preact';
import { ApiError, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useLive } from '../../data.js';
import { counted, dateTime } from '../../format.js';
import { senderName } from '../../names.js';
import { SameWithCurl } from '../../ui/code.js';
import { Loaded, Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { having } from './sentence.js';
import { Verdict } from './words.js';

/** Poll interval, ms: the past does not change. */
const EVERY = 3_600_000;

/** @type {Column<ExplainedFeed>[]} */
const COLUMNS = [
  { label: 'Feed', cell: ({ name }) => html`<bdi>${name}</bdi>` },
  { label: 'Verdict', cell: ({ verdict }) => html`<${Verdict} verdict=${verdict} />` },
  {
    label: 'Rules',
    cell: ({ rules }) =>
      rules.map(
        (rule) =>
          html`<div key=${rule.id}><bdi class="mono">${rule.target}</bdi> in <bdi>${rule.list_name}</bdi>, by <bdi>${senderName(rule)}</bdi>${rule.reason && html`: <bdi>${rule.reason}</bdi>`}</div>`,
      ),
  },
];

/** The feeds of an address or network at an earlier time (SPEC D61.7). @param {{ target: string, action: string, at: string }} props */
export function Past({ target, action, at }) {
  const address = manage('/lookup', { target, action, at });
  const live = useLive(address, { every: EVERY });
  if (live.value === undefined && live.error instanceof ApiError && live.error.faults.length > 0)
    return html`<${Notice}><bdi>${target}</bdi> ${live.error.faults[0].message}.<//>`;
  return html`
    <${Loaded} live=${live}>${(/** @type {LookupAnswer} */ answer) => html`
      <p role="status"><bdi>${answer.target}</bdi> was ${action === 'block' ? 'blocked' : 'allowed'} on ${having(answer).length === 0 ? 'no feed' : counted(having(answer).length, 'feed')} at ${dateTime(answer.at ?? at)}.</p>
      <${Table} label="Feeds at that time" columns=${COLUMNS} rows=${answer.feeds} keyOf=${(/** @type {ExplainedFeed} */ { id }) => id ?? ''} />
    `}<//>
    <${SameWithCurl} text=${curlOf('GET', address)} />
  `;
}
