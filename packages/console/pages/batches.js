import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../api.js';
import { useLive } from '../data.js';
import { count, counted, dateTime, duration } from '../format.js';
import { useKeyset } from '../keyset.js';
import { keyName, senderName, useNames } from '../names.js';
import { go, link } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { Facts } from '../ui/figures.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { EffectFigures, Sample, UndoDialog } from './batches/undo-dialog.js';
import { RULE_TABS, tabOf } from './rules/tabs.js';

const LIMIT = 100;

/** @param {PageProps} props */
export function Page({ session, place }) {
  const names = useNames(session);
  const [id] = place.parts;
  return id === undefined
    ? html`<${Batches} names=${names} />`
    : html`<${OneBatch} key=${id} id=${id} names=${names} session=${session} />`;
}

/** @param {{ names: Names }} props */
function Batches({ names }) {
  const { items, isComplete, error, refresh, onSight } = useKeyset('/batches', 'batches', {}, { limit: LIMIT, keyOf });
  return html`
    <${PageHead} title="Batches">Everything received in the last 7 days. A batch is undone as a whole.<//>
    <${Loaded} live=${{ value: items, error, refresh }}>${(/** @type {Batch[]} */ read) =>
      read.length === 0
        ? html`<${Empty} icon="batches" title="No batches in the last 7 days"><p>Each accepted signal request and each change of rules in the console is a batch.</p><//>`
        : html`<${LongList} label="Batches" columns=${columns(names)} rows=${read} keyOf=${keyOf} onSight=${onSight}
        total=${isComplete ? read.length : -1} onRow=${(/** @type {Batch} */ batch) => go(link('/batches', batch.id))} />`}<//>
  `;
}

const keyOf = (/** @type {Batch} */ { id }) => id;

/** @type {Record<string, { short: string, long: string }>} */
const WHAT = {
  sent: { short: 'signals', long: 'Signals' },
  refreshed: { short: 'refresh', long: 'A source refresh' },
  deleted: { short: 'deletion', long: 'A deletion of rules' },
  changed: { short: 'change', long: 'A change of rules' },
  undone: { short: 'undo', long: 'An undo of another batch' },
  unknown: { short: 'unknown', long: 'Unknown: too old' },
};

/** Changes, deletions and undos have few entries for any number of rules. @param {Batch} batch */
const isOfEntries = ({ what }) => what === 'sent' || what === 'refreshed' || what === null;

/** @param {Names} names @returns {LongColumn<Batch>[]} */
const columns = (names) => [
  { label: 'Received', width: '6.5rem', cell: ({ received_at: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Batch',
    width: 'minmax(8rem, 1.5fr)',
    cell: ({ id, received_at: at }) => html`<a href=${link('/batches', id)} title=${id}>${dateTime(at)}</a>`,
  },
  { label: 'What', width: '7.5rem', secondary: true, cell: ({ what }) => WHAT[what ?? 'unknown'].short },
  { label: 'Sent by', width: 'minmax(5rem, 1fr)', secondary: true, cell: (batch) => html`<bdi>${senderName(batch)}</bdi>` },
  { label: 'List', width: 'minmax(5rem, 1fr)', secondary: true, cell: (batch) => html`<bdi>${listOf(batch, names)}</bdi>` },
  { label: 'State', width: '6.5rem', secondary: true, cell: (batch) => html`<${State} batch=${batch} />` },
  { label: 'Entries', width: '5rem', number: true, cell: (batch) => (isOfEntries(batch) ? count(batch.entries) : '–') },
];

/** @param {Batch} batch @param {Names} names */
function listOf({ list_id: list, lists, has_targets: has }, names) {
  if (has === false) return 'expression rules';
  const first = list === null ? 'a deleted list' : names.listName(list);
  return `${first}${lists > 1 ? ` and ${counted(lists - 1, 'other')}` : ''}${has === null ? ', or none' : ''}`;
}

/** @param {{ batch: Batch }} props */
function State({ batch: { undoes, undone_by: by } }) {
  if (by !== null) return html`<${Badge} kind="warn">undone<//>`;
  if (undoes !== null) return html`<${Badge}>undo<//>`;
  return html`<${Badge} kind="good">applied<//>`;
}

/** @param {{ id: string, names: Names, session: Session }} props */
function OneBatch({ id, names, session }) {
  const live = useLive(manage(`/batches/${encodeURIComponent(id)}`));
  const [isUndoing, setUndoing] = useState(false);
  const undo = live.value?.undo;
  const isUndoable = undo !== undefined && undo.removes + undo.restores > 0;
  const actions =
    may(session, 'rules:write') &&
    html`<${Button} kind="main" icon="undo" disabled=${!isUndoable} onClick=${() => setUndoing(true)}>Undo<//>`;
  return html`
    <${PageHead} title="Batch" back=${{ href: link('/batches'), label: 'Batches' }} actions=${actions}><span class="mono text">${id}</span><//>
    <${Loaded} live=${live}>${(
      /** @type {Batch & { undo: Effect, warned: { rules: number, first: { target: string, why: string }[] } }} */ batch,
    ) => html`
      <div class="cards">
        <${Card} title="Details"><${Facts} facts=${factsOf(batch, names)} /><//>
        <${Card} title="Effect of an undo"
          note=${noteOf(batch, isUndoable)}>
          <${EffectFigures} effect=${batch.undo} />
          <${Sample} effect=${batch.undo} />
        <//>
        ${batch.warned.rules > 0 && html`<${Warned} warned=${batch.warned} />`}
        <${Card} title="Rules" note="Except those that later batches changed.">
          <ul class="row">${RULE_TABS.map(({ kind, label, path }) => html`<li key=${path}><a href=${`${link('/rules', ...tabOf({ kind }))}?batch=${id}`}>${label}</a></li>`)}</ul>
        <//>
      </div>
      ${isUndoing && html`<${UndoDialog} id=${id} onClose=${() => setUndoing(false)} onDone=${live.refresh} />`}
    `}<//>
  `;
}

/** @param {{ warned: { rules: number, first: { target: string, why: string }[] } }} props */
const Warned = ({ warned: { rules, first } }) => html`
  <${Card} title="Reported by guard rails" note=${`${counted(rules, 'block')} of protected networks.`}>
    <ul>${first.map(({ target, why }) => html`<li key=${target}><span class="mono">${target}</span> ${why}</li>`)}</ul>
  <//>
`;

/** @param {Batch} batch @param {boolean} isUndoable */
function noteOf({ undoable, undone_by: by }, isUndoable) {
  if (!undoable)
    return 'This batch cannot be undone: its list was deleted, or too much changed since and its earlier rules are no longer stored.';
  if (isUndoable) return 'An undo can be undone too.';
  if (by !== null) return 'Already undone.';
  return 'Nothing to undo: its rules expired, were changed since, or never existed.';
}

/** @param {Batch} batch @param {Names} names @returns {(readonly [string, any])[]} */
const factsOf = (batch, names) => [
  ['Type', WHAT[batch.what ?? 'unknown'].long],
  ['State', html`<${State} batch=${batch} />`],
  ['Sent by', senderName(batch)],
  ['Person', batch.person ?? undefined],
  ['Key', batch.actor !== null && batch.key_id !== null ? keyName(batch) : undefined],
  ['List', listOf(batch, names)],
  ['Entries', isOfEntries(batch) ? count(batch.entries) : undefined],
  ['Received', dateTime(batch.received_at)],
  ['Applied', html`${dateTime(batch.landed_at)}, after ${tookText(Date.parse(batch.landed_at) - Date.parse(batch.received_at))}`],
  ['Undoes', batch.undoes && html`<a href=${link('/batches', batch.undoes)} title=${batch.undoes}>another batch</a>`],
  ['Undone by', batch.undone_by && html`<a href=${link('/batches', batch.undone_by)} title=${batch.undone_by}>a later batch</a>`],
];

/** @param {number} ms */
const tookText = (ms) => (ms < 1000 ? `${Math.max(0, ms)} ms` : duration(ms));
