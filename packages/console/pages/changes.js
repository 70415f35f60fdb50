import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../api.js';
import { useLive, useLiveWork } from '../data.js';
import { dateTime } from '../format.js';
import { useKeyset } from '../keyset.js';
import { useNames } from '../names.js';
import { setQuery } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { DifferenceCard } from './changes/difference.js';
import { EntryDialog } from './changes/entry-dialog.js';
import { Lanes } from './changes/lanes.js';
import { BATCHES, isWithin, WindowFields, windowOf } from './changes/window.js';
import { actorOf, batchChange, colorOf, totalOf, whatOf, whereOf, wordOf } from './changes/words.js';
import { WORKSPACE_FEED } from './feeds/feed-state.js';
import { readFeeds } from './feeds/read-feeds.js';

const LIMIT = 200;

/** @param {PageProps} props */
export function Page({ session, place }) {
  const names = useNames(session);
  const period = windowOf(place.query);
  const { feed, kind } = period;
  const feeds = useLiveWork('feeds', readFeeds, { every: 60_000 }).value ?? [];
  const isByBatch = kind === BATCHES;
  const [path, name, query] = isByBatch ? ['/batches', 'batches', {}] : ['/changes', 'changes', { ...period }];
  const { items, isComplete, error, refresh, onSight } = useKeyset(path, name, query, { limit: LIMIT, keyOf });
  const changes = isByBatch ? items?.map(batchChange(names)).filter(isWithin(period)) : items;
  const [selected, setSelected] = useState(/** @type {Change | undefined} */ (undefined));
  const batch = place.query.get('batch');
  const close = () => {
    setSelected(undefined);
    setQuery({ batch: undefined });
  };
  return html`
    <${PageHead} title="Timeline">Rules, sources, settings, lists and keys, newest first. Rule changes are grouped by time, author and list, or one batch each.<//>
    <${WindowFields} window=${period} keys=${names.keys} feeds=${feeds.filter(({ id }) => id !== WORKSPACE_FEED)} />
    <${Known} window=${period} />
    ${feed !== undefined && html`<${DifferenceCard} window=${period} name=${feeds.find(({ id }) => id === feed)?.name ?? ''} />`}
    <${Loaded} live=${{ value: changes, error, refresh }}>${(/** @type {Change[]} */ read) => html`
      ${read.length > 0 && html`<p class="small soft" role="status">${totalOf(read)}${!isComplete && ' Scroll for more.'}</p>`}
      ${read.length > 0 && html`<${Lanes} changes=${read} window=${period} by=${place.query.get('lanes') ?? 'list'} onSelect=${setSelected} />`}
      ${
        read.length === 0 && isComplete
          ? html`<${Empty} icon="changes" title="No changes found"><p>Choose a longer time range${feed !== undefined && ', another feed'}${kind !== undefined && ', another kind'}.</p><//>`
          : html`<${LongList} label="Changes" columns=${COLUMNS} rows=${read} keyOf=${keyOf} onSight=${onSight}
              total=${isComplete ? read.length : -1} onRow=${setSelected} />`
      }
    `}<//>
    ${
      (batch ?? selected) &&
      html`<${EntryDialog} key=${batch} change=${batch ? undefined : selected} id=${batch ?? selected?.batch_id} names=${names}
        mayUndo=${may(session, 'rules:write')} onClose=${close} onDone=${refresh} />`
    }
  `;
}

const keyOf = (/** @type {Change} */ { id }) => id;

/** @type {LongColumn<Change>[]} */
const COLUMNS = [
  { label: 'When', width: '6.5rem', cell: ({ at }) => html`<${Ago} at=${at} />` },
  { label: 'What', width: 'minmax(7.5rem, 1fr)', cell: (change) => html`<${Badge} kind=${colorOf(change)}>${wordOf(change)}<//>` },
  { label: 'Where', width: 'minmax(6rem, 1fr)', cell: (change) => html`<bdi>${whereOf(change)}</bdi>` },
  { label: 'Details', width: 'minmax(8rem, 2.5fr)', secondary: true, cell: (change) => html`<bdi>${whatOf(change)}</bdi>` },
  { label: 'Who', width: 'minmax(5rem, 1fr)', secondary: true, cell: (change) => html`<bdi>${actorOf(change)}</bdi>` },
];

const SORTS = /** @type {const} */ ([
  ['rules', 'Rule changes'],
  ['settings', 'Changes of settings, lists and keys'],
  ['refreshes', 'Source refreshes that failed or are on hold'],
]);

/** Warns where history is shorter than the requested time. @param {{ window: ChangeWindow }} props */
function Known({ window: { since, until, feed } }) {
  const { value } = useLive(manage('/changes', { since, until, feed, limit: 1 }), { every: 60_000 });
  if (value === undefined) return null;
  const known = value.known_since;
  const shorter = SORTS.filter(([name]) => known[name] !== null && known[name] > value.since);
  return html`
    ${shorter.map(([name, label]) => html`<${Notice} key=${name}>${label} before ${dateTime(known[name])} are no longer stored.<//>`)}
    ${known.settings === null && html`<${Notice}>Only people with the permission “manage” see changes of settings, lists and keys.<//>`}
  `;
}
