import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages } from '../api.js';
import { useLiveWork } from '../data.js';
import { count, counted } from '../format.js';
import { keyName, useNames } from '../names.js';
import { link, setQuery } from '../router.js';
import { Button } from '../ui/button.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { BouncerDialog, programOf, State, urgency } from './bouncers/bouncer.js';
import { ClientFilter, chosen } from './clients/filter.js';
import { Versions } from './clients/versions.js';

/** @param {PageProps} props */
export function Page({ session, place: { query } }) {
  const live = useLiveWork('bouncers', readBouncers);
  const names = useNames(session);
  const [selected, setSelected] = useState(/** @type {string | undefined} */ (undefined));
  return html`
    <${PageHead} title="Bouncers">CrowdSec bouncers connected to this workspace in the last 30 days. Problems first.<//>
    <${Loaded} live=${live}>${(/** @type {Bouncer[]} */ bouncers) => {
      if (bouncers.length === 0) return html`<${NoBouncers} />`;
      const gaps = bouncers.filter(({ cannot_enforce: gap }) => gap !== null).length;
      const refused = bouncers.filter(({ refusal }) => refusal !== null).length;
      const bouncer = bouncers.find((each) => keyOf(each) === selected);
      const list = chosen(bouncers, query);
      return html`
        ${gaps > 0 && html`<${Notice} kind="bad">${counted(gaps, 'bouncer does', 'bouncers do')} not enforce the complete feed.<//>`}
        ${refused > 0 && html`<${Notice} kind="warn">${counted(refused, 'bouncer is', 'bouncers are')} refused by weir.<//>`}
        <${ClientFilter} query=${query} matching=${list.length} all=${bouncers.length} what="bouncer" />
        ${
          list.length === 0
            ? html`<p class="soft">No matches. <${Button} tiny onClick=${() => setQuery({ q: '', silent: '' })}>Show all<//></p>`
            : html`<${LongList} label="Bouncers" columns=${columns(names)} rows=${list} keyOf=${keyOf} onRow=${(/** @type {Bouncer} */ each) => setSelected(keyOf(each))} />`
        }
        <${Versions} title="Versions in use" of="Program" whose="Bouncers" versions=${versionsOf(bouncers, query.get('q') ?? '')} />
        ${bouncer !== undefined && html`<${BouncerDialog} bouncer=${bouncer} names=${names} onClose=${() => setSelected(undefined)} />`}
      `;
    }}<//>
  `;
}

const keyOf = (/** @type {Bouncer} */ { key_id: key, address, user_agent: agent }) => `${key} ${address} ${agent}`;

/** @returns {Promise<Bouncer[]>} */
async function readBouncers() {
  const bouncers = await allPages('/bouncers', 'bouncers');
  return bouncers.sort((a, b) => urgency(b) - urgency(a) || ((a.last_pull ?? '') < (b.last_pull ?? '') ? 1 : -1));
}

const NoBouncers = () => html`
  <${Empty} icon="bouncers" title="No bouncer has fetched anything yet">
    <p>Create a key with the permission feed:read and give it to the bouncer together with the address of weir. <a href=${link('/keys')}>Keys</a></p>
  <//>
`;

/** @param {Bouncer[]} bouncers @param {string} selected The selected User-Agent. */
function versionsOf(bouncers, selected) {
  return [...Map.groupBy(bouncers, ({ user_agent: agent }) => agent)]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([agent, each]) => {
      const { name, version } = programOf(agent);
      const last = each
        .map(({ last_pull: at }) => at ?? '')
        .toSorted()
        .at(-1);
      return {
        key: agent,
        what: html`<span><bdi class="text">${name}</bdi> <bdi class="mono small text">${version}</bdi></span>`,
        note: html`<span>last fetch <${Ago} at=${last || null} /></span>`,
        clients: each.length,
        query: { q: agent },
        isSelected: agent === selected,
      };
    });
}

/** @param {Names} names @returns {LongColumn<Bouncer>[]} */
const columns = (names) => [
  { label: 'State', width: '8.5rem', cell: (bouncer) => html`<${State} bouncer=${bouncer} />` },
  { label: 'Name', width: 'minmax(6rem, 1fr)', cell: (bouncer) => html`<bdi>${keyName(bouncer)}</bdi>` },
  {
    label: 'Program',
    width: 'minmax(7rem, 1.2fr)',
    secondary: true,
    cell: ({ user_agent: agent }) => html`<bdi>${programOf(agent).name}</bdi>`,
  },
  {
    label: 'Version',
    width: '6.5rem',
    secondary: true,
    cell: ({ user_agent: agent }) => html`<bdi class="mono">${programOf(agent).version}</bdi>`,
  },
  { label: 'Address', width: 'minmax(7rem, 1fr)', secondary: true, cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  { label: 'Feed', width: 'minmax(6rem, 1fr)', secondary: true, cell: ({ feed_id: id }) => html`<bdi>${names.feedOf(id).name}</bdi>` },
  { label: 'Entries', width: '5.5rem', number: true, cell: ({ decisions, last_stream: at }) => (at === null ? '–' : count(decisions)) },
  { label: 'Last fetch', width: '6.5rem', number: true, cell: ({ last_pull: at }) => html`<${Ago} at=${at} />` },
];
