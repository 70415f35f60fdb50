import { html } from 'htm/preact';
import { useMemo, useState } from 'preact/hooks';
import { count } from '../format.js';
import { useKeyset } from '../keyset.js';
import { useNames } from '../names.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { actsOf } from './audit/acts.js';
import { EntryDialog } from './audit/entry.js';
import { AuditFilter, auditConditions } from './audit/filter.js';
import { actorOf, objectOf, summaryOf } from './audit/words.js';

const LIMIT = 200;

/** @param {PageProps} props */
export function Page({ session, place }) {
  const names = useNames(session);
  const conditions = auditConditions(place.query);
  const { items, isComplete, error, refresh, onSight } = useKeyset('/audit', 'entries', conditions, {
    limit: LIMIT,
    keyOf: ({ id }) => id,
  });
  const acts = useMemo(() => items && actsOf(items), [items]);
  const [selected, setSelected] = useState(/** @type {Act | undefined} */ (undefined));
  const isFiltered = Object.keys(conditions).length > 0;
  return html`
    <${PageHead} title="Audit">Who changed what in the last 90 days, newest first.<//>
    <${AuditFilter} query=${place.query} names=${names} />
    <${Loaded} live=${{ value: acts, error, refresh }}>${(/** @type {Act[]} */ read) =>
      read.length === 0
        ? html`<${Empty} icon="audit" title=${!isComplete ? 'Loading…' : isFiltered ? 'No matching changes' : 'No changes yet'}><p>Changes to lists, feeds, keys, settings and rules appear here with their author.</p><//>`
        : html`<${LongList} label="Audit log" columns=${columns(names)} rows=${read} keyOf=${keyOf} onSight=${onSight}
        total=${isComplete ? read.length : -1} onRow=${setSelected} />`}<//>
    ${selected !== undefined && html`<${EntryDialog} act=${selected} names=${names} onClose=${() => setSelected(undefined)} />`}
  `;
}

const keyOf = (/** @type {Act} */ { entry }) => entry.id;

/** @param {Names} names @returns {LongColumn<Act>[]} */
const columns = (names) => [
  { label: 'When', width: '6.5rem', cell: ({ entry: { at } }) => html`<${Ago} at=${at} />` },
  {
    label: 'Who',
    width: 'minmax(6rem, 1.2fr)',
    cell: ({ entry }) => html`<bdi>${actorOf(entry)}</bdi>`,
  },
  {
    label: 'What',
    width: 'minmax(7rem, 1fr)',
    cell: ({ entry: { event }, parts }) => html`${event}${parts.length > 1 && html` <span class="soft">× ${count(parts.length)}</span>`}`,
  },
  { label: 'Object', width: 'minmax(5rem, 1fr)', cell: ({ entry }) => html`<bdi>${objectOf(entry, names).label}</bdi>` },
  {
    label: 'Change',
    width: 'minmax(8rem, 2.5fr)',
    secondary: true,
    cell: ({ entry }) => html`<bdi class="soft">${summaryOf(entry)}</bdi>`,
  },
];
