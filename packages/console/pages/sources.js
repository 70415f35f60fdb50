import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages } from '../api.js';
import { useLiveWork } from '../data.js';
import { count } from '../format.js';
import { go, link, useDo } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago, Countdown } from '../ui/time.js';
import { AddSource } from './sources/add-source.js';
import { Catalogue } from './sources/catalogue.js';
import { SourcePage } from './sources/source.js';
import { linkToSource, stateOf } from './sources/source-state.js';

/** @param {PageProps} props */
export function Page({ session, place }) {
  const live = useLiveWork('sources', () => allPages('/sources', 'sources'));
  /** Name in the catalogue; empty: another address. */
  const [adding, setAdding] = useState(/** @type {string | undefined} */ (undefined));
  const [asked, setAsked] = useState(/** @type {SourceWork | undefined} */ (undefined));
  useDo(place, (what) => (what === 'add' ? setAdding('') : what === 'resume' && setAsked(what)));
  const [id] = place.parts;
  if (id !== undefined) return html`<${SourcePage} key=${id} id=${id} session=${session} asked=${asked} onAsked=${setAsked} />`;
  const actions = may(session, 'manage') && html`<${Button} icon="plus" kind="main" onClick=${() => setAdding('')}>Add source<//>`;
  return html`
    <${PageHead} title="Sources" actions=${actions}>External lists, fetched automatically. <a href=${link('/worth')}>List value</a><//>
    <${Loaded} live=${live}>${(/** @type {Source[]} */ sources) => {
      const held = sources.filter((each) => each.held !== null);
      return html`
        ${held.map(
          (each) =>
            html`<${Notice} key=${each.id} kind="warn"><a class="text" href=${linkToSource(each)}>${each.name}</a>: a refresh is on hold. Review it to accept or discard it.<//>`,
        )}
        ${
          sources.length === 0
            ? html`<${Empty} icon="sources" title="No sources yet"><p>Add one from the catalogue, or any list by its URL. Test it before you add it.</p><//>`
            : html`<${Table} label="Sources" columns=${COLUMNS} rows=${sources.toSorted(byUrgency)} keyOf=${(/** @type {Source} */ each) => each.id} lines />`
        }
        <${Catalogue} sources=${sources} onAdd=${may(session, 'manage') ? setAdding : undefined} />
      `;
    }}<//>
    ${adding !== undefined && html`<${AddSource} name=${adding} onClose=${() => setAdding(undefined)} onDone=${(/** @type {Source} */ made) => go(linkToSource(made))} />`}
  `;
}

const URGENCY = ['bad', 'warn', '', 'good'];
/** @param {Source} a @param {Source} b */
const byUrgency = (a, b) => URGENCY.indexOf(stateOf(a).kind) - URGENCY.indexOf(stateOf(b).kind) || a.name.localeCompare(b.name);

/** @type {Column<Source>[]} */
const COLUMNS = [
  { label: 'Source', cell: (source) => html`<a class="text" href=${linkToSource(source)}>${source.name}</a>` },
  { label: 'State', cell: (source) => html`<${Badge} kind=${stateOf(source).kind}>${source.state}<//>` },
  { label: 'Purpose', cell: ({ purpose }) => (purpose === 'allow' ? 'never-block' : 'block') },
  { label: 'Entries', number: true, cell: ({ entries }) => count(entries) },
  { label: 'Last verified', cell: ({ confirmed_at: at }) => html`<${Ago} at=${at} />` },
  { label: 'Last fetched', cell: ({ fetched_at: at }) => html`<${Ago} at=${at} />` },
  { label: 'Next', cell: (source) => html`<${Next} source=${source} />` },
];

/** @param {{ source: Source }} props */
const Next = ({ source: { next_at: at, waits_for: waits, asked } }) =>
  asked !== null
    ? html`<span title=${waits}>${asked} requested${waits === null ? '' : ', waiting'}</span>`
    : at === null
      ? html`<span class="soft">none</span>`
      : Date.parse(at) <= Date.now()
        ? html`<span title=${waits}>${waits === null ? 'now' : 'waiting'}</span>`
        : html`<span class="nowrap">in <${Countdown} until=${at} /></span>`;
