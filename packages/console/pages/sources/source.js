import { html } from 'htm/preact';
import { addressFacts } from '../../addresses.js';
import { ask } from '../../api.js';
import { useLive, useLiveWork, usePreviewOfDeletion } from '../../data.js';
import { count, counted, dateTime } from '../../format.js';
import { go, link } from '../../router.js';
import { may } from '../../session.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Confirm } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { PageHead } from '../../ui/page-head.js';
import { Failed, Loaded, Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { HeldAddresses } from './held-addresses.js';
import { addressOf, bodyOf, everyText, stateOf } from './source-state.js';
import { FEEDS } from './trial.js';

const WORKS = {
  refresh: { label: 'Refresh now', about: 'The source is fetched within seconds.', done: 'is being fetched' },
  pause: {
    label: 'Pause',
    about: 'Fetching stops. Its list remains, but a block list is emptied when it was not verified for too long.',
    done: 'was paused',
  },
  resume: { label: 'Resume', about: 'Fetching resumes immediately.', done: 'was resumed' },
  accept: { label: 'Accept', about: 'The version on hold replaces the list.', done: 'applies the version on hold' },
  discard: {
    label: 'Discard',
    about: 'The list remains unchanged, and weir does not ask about this version again.',
    done: 'keeps its current version',
  },
};

/** @typedef {{ asked: SourceWork | undefined, onAsked: (work: SourceWork | undefined) => void }} Asked */

/** @param {{ id: string, session: Session } & Asked} props `asked`: the open dialog. */
export function SourcePage({ id, session, ...dialog }) {
  const live = useLiveWork(`source ${id}`, async () => {
    const { body, tag } = await ask(addressOf(id));
    return { source: body, tag };
  });
  return html`<${Loaded} live=${live}>${(/** @type {{ source: Source, tag: string }} */ { source, tag }) => html`
    <${One} source=${source} tag=${tag} session=${session} refresh=${live.refresh} ...${dialog} />
  `}<//>`;
}

/** @param {{ source: Source, tag: string, session: Session, refresh: () => Promise<void> } & Asked} props */
function One({ source, tag, session, refresh, asked, onAsked: setAsked }) {
  const state = stateOf(source);
  const canManage = may(session, 'manage');
  const canDecide = may(session, 'rules:write');
  const isResting = source.paused || source.state === 'stopped';
  const actions = html`
    <a class="button" href=${link('/worth', source.list_id)}>List value</a>
    ${canManage && !source.paused && html`<${Button} onClick=${() => setAsked('refresh')}>Refresh now<//>`}
    ${canManage && html`<${Button} onClick=${() => setAsked(isResting ? 'resume' : 'pause')}>${isResting ? 'Resume' : 'Pause'}<//>`}
    ${canManage && html`<${Button} icon="trash" kind="danger" onClick=${() => setAsked('delete')}>Delete<//>`}
  `;
  return html`
    <${PageHead} title=${source.name} back=${{ href: link('/sources'), label: 'Sources' }} actions=${actions}>
      <span class="row"><${Badge} kind=${state.kind}>${source.state}<//><span>${state.about}</span></span>
    <//>
    ${source.fault !== null && html`<${Notice} kind="warn"><span class="text">${source.fault}</span><//>`}
    ${source.held !== null && html`<${OnHoldCard} key=${source.held.replacement} id=${source.id} held=${source.held} canDecide=${canDecide} onWork=${setAsked} />`}
    <${Card} title="Details">
      <${Facts} facts=${[
        ['URL', source.url],
        ['Purpose', source.purpose === 'allow' ? 'never block' : 'block'],
        ['Entries', html`<a href=${link('/feeds', 'list', source.list_id)}>${count(source.entries)}</a>`],
        ['Last verified', html`<${Ago} at=${source.confirmed_at} />`],
        ['Last changed', html`<${Ago} at=${source.changed_at} />`],
        ['Last fetched', html`<${Ago} at=${source.fetched_at} />`],
        ['Interval', everyText(source.every)],
        [
          'Waiting for',
          source.waits_for && `${source.waits_for}${source.waits_until === null ? '' : `, until ${dateTime(source.waits_until)}`}`,
        ],
        ['Next', source.asked !== null ? `${source.asked} requested` : source.next_at === null ? 'none' : dateTime(source.next_at)],
        source.expires_at === null || Date.parse(source.expires_at) > Date.now()
          ? ['List expires', source.expires_at && `${dateTime(source.expires_at)}, unless verified before`]
          : ['List expired', dateTime(source.expires_at)],
      ]} />
    <//>
    <${Runs} id=${source.id} />
    ${
      asked !== undefined &&
      html`<${Ask} source=${source} tag=${tag} work=${asked} onClose=${() => setAsked(undefined)} onDone=${refresh} />`
    }
  `;
}

/** @type {readonly (readonly [field: string, label: string])[]} */
const DIFFERENCE = [
  ['present', 'Current rules'],
  ['added', 'Added'],
  ['removed', 'Removed'],
  ['changed', 'Changed'],
  ['unchanged', 'Unchanged'],
  ['refused', 'Refused by guard rails'],
  ['failed', 'Invalid'],
];

/**
 * @param {{ id: string, held: RefreshOnHold, canDecide: boolean, onWork: (work: 'accept' | 'discard') => void }} props
 */
function OnHoldCard({ id, held, canDecide, onWork }) {
  const { difference } = held;
  const live = useLive(addressOf(id, 'held'), { every: 60_000 });
  const facts = DIFFERENCE.flatMap(([field, label]) =>
    typeof difference?.[field] === 'number' && (difference[field] > 0 || field === 'present') ? [[label, count(difference[field])]] : [],
  );
  return html`
    <${Card} title="Refresh on hold">
      <${Notice} kind="warn"><span><span class="text">${held.reason}</span>, <${Ago} at=${held.since} /></span><//>
      <${Facts} facts=${facts} />
      <${Loaded} live=${live}>${(/** @type {{ feeds?: any, addresses: AddressChange[] }} */ { feeds, addresses }) => html`
        <${Facts} facts=${addressFacts(addresses)} />
        ${Array.isArray(feeds) && html`<${Table} label="Effect on feeds" columns=${FEEDS} rows=${feeds} keyOf=${(each) => `${each.kind} ${each.name} ${each.action}`} />`}`}<//>
      <${HeldAddresses} id=${id} />
      ${
        canDecide &&
        html`<div class="row"><${Button} kind="main" onClick=${() => onWork('accept')}>Accept<//><${Button} onClick=${() => onWork('discard')}>Discard<//></div>`
      }
    <//>
  `;
}

/** @param {{ id: string }} props */
function Runs({ id }) {
  const live = useLive(addressOf(id, 'runs'));
  return html`
    <${Card} title="Last refreshes" note="Newest first, up to 20.">
      <${Loaded} live=${live}>${(/** @type {{ runs: any[] }} */ { runs }) =>
        runs.length === 0
          ? html`<p class="soft">None yet.</p>`
          : html`<${Table} label="Last refreshes" columns=${RUNS} rows=${runs} keyOf=${(/** @type {any} */ { at, outcome }) => `${at} ${outcome}`} />`}<//>
    <//>
  `;
}

/** @type {Record<string, 'good' | 'warn' | 'bad' | ''>} */
const OUTCOMES = { applied: 'good', unchanged: '', held: 'warn', failed: 'bad', stopped: 'bad', expired: 'bad', discarded: '' };

/** @type {Column<any>[]} */
const RUNS = [
  { label: 'When', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'Outcome', cell: ({ outcome }) => html`<${Badge} kind=${OUTCOMES[outcome] ?? ''}>${outcome}<//>` },
  { label: 'Entries', number: true, cell: ({ entries }) => count(entries) },
  { label: 'Added', number: true, cell: ({ added }) => count(added) },
  { label: 'Removed', number: true, cell: ({ removed }) => count(removed) },
  { label: 'Refused', number: true, cell: ({ refused }) => count(refused) },
  { label: 'Took', number: true, cell: ({ ms }) => `${count(ms)} ms` },
  { label: 'Details', cell: ({ text }) => html`<span class="text">${text}</span>` },
];

/** @param {{ source: Source, tag: string, work: keyof typeof WORKS | 'delete', onClose: () => void, onDone: () => Promise<void> }} props */
function Ask({ source, tag, work, onClose, onDone }) {
  if (work === 'delete') return html`<${Delete} source=${source} tag=${tag} onClose=${onClose} />`;
  const { label, about, done } = WORKS[work];
  return html`
    <${Confirm} title=${`${label}: ${source.name}`} action=${label} danger=${work === 'accept'} onClose=${onClose}
      request=${{ address: addressOf(source.id, work), body: bodyOf(source, work) }} done=${() => html`<bdi>${source.name}</bdi> ${done}.`} onDone=${onDone}>
      <p>${about}</p>
    <//>
  `;
}

/** @param {{ source: Source, tag: string, onClose: () => void }} props */
function Delete({ source, tag, onClose }) {
  const live = usePreviewOfDeletion(`${addressOf(source.id)}?preview=true`, tag);
  const request = { address: `${addressOf(source.id)}?confirmed=true`, method: 'DELETE', ifMatch: tag };
  return html`
    <${Confirm} title=${`Delete ${source.name}?`} action="Delete" danger request=${request} onDone=${() => go(link('/sources'))} onClose=${onClose}
      done=${() => html`<bdi>${source.name}</bdi> was deleted. You can restore its list for 7 days under Feeds.`}>
      ${live.error !== undefined && html`<${Failed} error=${live.error} />`}
      ${live.value !== undefined && html`<p>This also deletes its list with ${live.value.more_rules ? 'more than ' : ''}${counted(live.value.rules, 'rule')}.</p>`}
      <p>You can restore the list for 7 days. Its source returns paused.</p>
    <//>
  `;
}
