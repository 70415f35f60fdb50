import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { allPages, ask, manage } from '../api.js';
import { useLive, useLiveWork } from '../data.js';
import { count, counted, day, duration, size } from '../format.js';
import { keyName, useNames } from '../names.js';
import { link } from '../router.js';
import { may } from '../session.js';
import { ACTIONS, FAMILIES, FORMATS } from '../tables.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Card } from '../ui/card.js';
import { Code, CopyButton } from '../ui/code.js';
import { SelectField } from '../ui/field.js';
import { Facts, Figure, Figures } from '../ui/figures.js';
import { Bars, Gauge } from '../ui/gauge.js';
import { later } from '../ui/later.js';
import { PageHead } from '../ui/page-head.js';
import { Plot } from '../ui/plot.js';
import { Empty, Loaded, Notice } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { seeChanges } from './changes/see.js';
import { Refused, whyRefused } from './clients/refused.js';
import { isFeed, isRefusedFeed } from './devices/documents.js';
import { DeleteFeed } from './feeds/delete-feed.js';
import { FeedForm } from './feeds/feed-form.js';
import { familiesText, nameOfKind, stateOf, trimmedText, WORKSPACE_FEED } from './feeds/feed-state.js';
import { FREEZE_ACTS, FreezeFeed, FrozenNotice, freezeActs, useFreeze } from './feeds/freeze-feed.js';
import { readFeed } from './feeds/read-feeds.js';
import { SetUpCard } from './feeds/set-up-card.js';
import { linkToSource, stateOf as stateOfSource } from './sources/source-state.js';

const AddressSpace = later(() => import('./feeds/address-space.js'), 'AddressSpace');

/** @param {{ kind: string, id: string, session: Session, asked: string | undefined, onAsked: () => void }} props `asked`: `edit` or `thaw`. */
export function FeedPage({ kind, id, session, asked, onAsked }) {
  const live = useLiveWork(`feed ${kind} ${id}`, () => readFeed(kind, id));
  return html`<${Loaded} live=${live}>${(/** @type {{ feed: FeedRow, tag: string }} */ { feed, tag }) => html`
    <${Feed} feed=${feed} tag=${tag} session=${session} refresh=${live.refresh} asked=${asked} onAsked=${onAsked} />
  `}<//>`;
}

/** @param {FeedRow} feed */
const named = ({ id }) => (id === WORKSPACE_FEED ? undefined : id);

/** @param {{ feed: FeedRow, tag: string, session: Session, refresh: () => Promise<void>, asked: string | undefined, onAsked: () => void }} props */
function Feed({ feed: read, tag, session, refresh, asked, onAsked }) {
  // The preview is polled, so its count is newer than the last build.
  const [fresh, setFresh] = useState(/** @type {Built | undefined} */ (undefined));
  const feed = fresh === undefined ? read : { ...read, fresh: { ...fresh, built_at: new Date().toISOString() } };
  const [open, setOpen] = useState(/** @type {'delete' | import('./feeds/freeze-feed.js').FreezeAct | undefined} */ (undefined));
  /** As of when the form opened: If-Match detects concurrent changes. */
  const [edited, setEdited] = useState(/** @type {{ feed: FeedRow, tag: string } | undefined} */ (undefined));
  const names = useNames(session);
  const state = stateOf(feed);
  const frozen = useFreeze(feed.id);
  const canEdit = feed.kind !== 'workspace' && may(session, 'manage');
  useEffect(() => {
    const isReady = asked === 'edit' || (asked === 'thaw' && frozen.freeze !== undefined);
    if (!isReady) return;
    onAsked();
    if (asked === 'thaw') setOpen(freezeActs(frozen.freeze).at(-1));
    else if (canEdit) setEdited({ feed: read, tag });
  }, [asked, frozen.freeze === undefined]);
  const actions = html`
    ${feed.kind === 'list' && html`<a class="button" href=${link('/worth', feed.id)}>List value</a>`}
    ${may(session, 'manage') && freezeActs(frozen.freeze).map((act) => html`<${Button} key=${act} onClick=${() => setOpen(act)}>${FREEZE_ACTS[act].verb}<//>`)}
    ${
      canEdit &&
      html`
      <${Button} icon="edit" onClick=${() => setEdited({ feed: read, tag })}>Change<//>
      ${!feed.default && html`<${Button} icon="trash" kind="danger" onClick=${() => setOpen('delete')}>Delete<//>`}
    `
    }
  `;
  const close = () => setOpen(undefined);
  // A name shared by several lists gets a 409, so the id is used.
  const isShared = names.lists.filter(({ name }) => name === feed.name).length > 1;
  const path = feed.kind === 'workspace' ? '' : `/${encodeURIComponent(isShared && feed.kind === 'list' ? feed.id : feed.name)}`;
  const address = `${location.origin}/v1/threat/feeds${path}`;
  return html`
    <${PageHead} title=${feed.name} back=${{ href: link('/feeds'), label: 'Feeds' }} actions=${actions}>
      <span class="row"><${Badge} kind=${state.kind}>${state.text}<//><span>Contains ${nameOfKind(feed)}.</span></span>
      ${feed.description && html`<span class="text">${feed.description}</span>`}
    <//>
    ${frozen.freeze !== undefined && html`<${FrozenNotice} freeze=${frozen.freeze} />`}
    ${feed.feed?.events.map(({ kind, text, since }) => html`<${Notice} key=${kind} kind="warn"><span>${text}, <${Ago} at=${since} /></span><//>`)}
    ${feed.old_sources?.map((source) => html`<${Notice} key=${source.id} kind="warn"><span>Source <a class="text" href=${linkToSource(source)}>${source.name}</a> (${source.state}): ${stateOfSource(source).about}</span><//>`)}
    <div class="cards">
      <${SizeCard} feed=${feed} tag=${tag} />
      <${HistoryCard} feed=${feed} />
    </div>
    <${AddressSpace} feed=${named(feed)} />
    <${ContentCard} feed=${feed} address=${address} onRead=${setFresh} />
    <${DevicesCard} feed=${feed} />
    <${SetUpCard} feed=${feed} address=${address} path=${new URL(address).pathname} session=${session} />
    ${edited !== undefined && html`<${FeedForm} ...${edited} onClose=${() => setEdited(undefined)} onDone=${refresh} />`}
    ${open !== undefined && open !== 'delete' && html`<${FreezeFeed} feed=${feed} act=${open} onClose=${close} onDone=${frozen.refresh} />`}
    ${open === 'delete' && html`<${DeleteFeed} feed=${feed} tag=${tag} onClose=${close} />`}
  `;
}

/** @param {{ feed: FeedRow, tag: string }} props */
function SizeCard({ feed, tag }) {
  // Measuring reads every rule: once a minute, and after a change.
  const live = useLiveWork(
    `measure ${feed.id} ${tag}`,
    async () => (await ask(manage('/measure'), { method: 'POST', body: { feed: named(feed) } })).body.before,
    { every: 60_000 },
  );
  return html`
    <${Card} title="Size" note="In the feed's own format.">
      <${Loaded} live=${live}>${(measure) => {
        const { entries } = measure;
        return html`
          <${Figures}>
            <${Figure} label="Entries" value=${count(entries)} note=${familiesText(measure)} />
            <${Figure} label="Address rules" value=${count(measure.address_rules)} />
          <//>
          <${Gauge} value=${entries} most=${measure.entry_limit} label="Entries" />
          ${measure.left_out !== null && html`<${Notice} kind="warn"><span class="text">Left out to stay within the limit: ${trimmedText(measure.left_out)}.</span><//>`}
          ${
            measure.costs.length === 0
              ? html`<p class="small soft">No country or ASN rules.</p>`
              : html`
                <h3>Largest contributors (networks)</h3>
                <${Bars} bars=${measure.costs.map(({ name, networks: number }) => ({ name, number }))} />
              `
          }
          ${measure.of_rules !== null && html`<${Notice} kind="warn">The counts below cover ${count(measure.of_rules)} of ${counted(measure.rules, 'rule')}.<//>`}
          ${measure.by_list?.largest.length > 0 && html`<${SharesOf} title="Rules by list (before merging)" shares=${measure.by_list} />`}
          ${measure.by_key?.largest.length > 0 && html`<${SharesOf} title="Rules by key (before merging)" shares=${measure.by_key} />`}
        `;
      }}<//>
    <//>
  `;
}

/** @param {{ title: string, shares: any }} props */
function SharesOf({ title, shares: { largest, others } }) {
  const rest = others.count === 0 ? [] : [{ name: counted(others.count, 'other'), number: others.entries }];
  return html`
    <h3>${title}</h3>
    <${Bars} bars=${[...largest.map(({ name, entries: number }) => ({ name, number })), ...rest]} />
  `;
}

/** @param {{ feed: FeedRow }} props */
function HistoryCard({ feed }) {
  const live = useLive(manage('/history', { feed: named(feed), days: 90 }), { every: 60_000 });
  return html`
    <${Card} title="Size over time" note="Networks per day, last 90 days.">
      <${Loaded} live=${live}>${(/** @type {{ days: any[] }} */ { days }) => {
        const known = days.filter((each) => each.v4 !== null || each.v6 !== null);
        if (known.length === 0)
          return html`<p class="soft">${feed.action === 'allow' ? 'weir records sizes of block feeds only.' : 'No sizes yet: weir records one on each day on which a client fetches the feed.'}</p>`;
        const last = known.at(-1);
        return html`
          <${Plot} days span=${89 * 86_400} onSpan=${seeChanges(named(feed))} label="Networks of the block feed" times=${known.map((each) => Date.parse(each.day) / 1000)}
            series=${[
              { label: 'IPv4', color: '--accent', fill: true, values: known.map((each) => each.v4?.last ?? null) },
              { label: 'IPv6', color: '--warn', values: known.map((each) => each.v6?.last ?? null) },
            ]} />
          ${
            feed.kind !== 'composed' &&
            html`<p class="small soft">${day(last.day)}: ${counted(last.added, 'entry', 'entries')} added, ${count(last.expired)} expired, ${count(last.removed)} removed, ${count(last.undone)} undone.</p>`
          }
        `;
      }}<//>
    <//>
  `;
}

/**
 * @param {{ feed: FeedRow, address: string, onRead: (built: Built) => void }} props `onRead`: it is as the
 *   feed stores it.
 */
function ContentCard({ feed, address, onRead }) {
  const [format, setFormat] = useState(feed.format ?? 'plain');
  const [family, setFamily] = useState(feed.family ?? 'both');
  const [action, setAction] = useState(feed.action ?? 'block');
  const live = useLive(manage('/content', { feed: named(feed), format, family, action }));
  const { value } = live;
  useEffect(() => {
    const isStored = value?.family === (feed.family ?? 'both') && value?.action === (feed.action ?? 'block');
    if (isStored) onRead({ ...value, formats: [value.format] });
  }, [value]);
  const query = new URLSearchParams({ format, family, action });
  return html`
    <${Card} title="Preview" note="Live preview. Compare the MD5 with your device's.">
      <div class="form-row">
        <${SelectField} label="Format" value=${format} onValue=${setFormat} options=${FORMATS} />
        <${SelectField} label="Family" value=${family} onValue=${setFamily} options=${FAMILIES} />
        <${SelectField} label="Action" value=${action} onValue=${setAction} options=${ACTIONS} />
      </div>
      <${Loaded} live=${live}>${(content) => html`
        ${content.over_cap && html`<${Notice} kind="warn">Not published: ${count(content.entries)} entries exceed the limit of ${count(content.entry_limit)}. Devices get no update (HTTP 413). ${content.hint}<//>`}
        <${Facts} facts=${[
          [
            'Address',
            html`<span class="row"><code class="text">${address}?${query.toString()}</code><${CopyButton} text=${`${address}?${query}`} /></span>`,
          ],
          ['Entries', count(content.entries)],
          ['Bytes', content.bytes === null ? null : size(content.bytes)],
          [
            'MD5',
            content.md5 && html`<span class="row"><code class="text">${content.md5}</code><${CopyButton} text=${content.md5} /></span>`,
          ],
          ['Last change', content.last_modified && html`<${Ago} at=${content.last_modified} />`],
        ]} />
        ${!content.over_cap && content.lines.length > 0 && html`<${Code} label="First lines of the feed" text=${content.lines.join('\n')} />`}
        ${!content.over_cap && content.entries === 0 && html`<p class="soft">Empty for this action and family: no rule applies, or its addresses are excluded. Look up an address to see why.</p>`}
        ${content.entries > content.lines.length && !content.over_cap && html`<p class="small soft">First ${count(content.lines.length)} lines.</p>`}
      `}<//>
    <//>
  `;
}

/** @param {{ feed: FeedRow }} props */
function DevicesCard({ feed }) {
  const live = useLiveWork('devices', () => allPages('/devices', 'devices', {}, 2000), { every: 15_000 });
  const feedId = feed.id === WORKSPACE_FEED ? null : feed.id;
  return html`
    <${Card} title="Devices" note="Devices that fetch this feed, and how far behind they are.">
      <${Loaded} live=${live}>${(/** @type {any[]} */ devices) => {
        const rows = devices.flatMap((device) => {
          const document = device.documents.find((each) => each.feed_id === feedId && isFeed(each));
          const refusal = device.refusals.find((each) => isRefusedFeed(each, feedId));
          return document === undefined && refusal === undefined ? [] : [{ ...device, document, refusal }];
        });
        if (rows.length === 0) {
          return html`<${Empty} icon="devices" title="No device has fetched this feed yet"><p>Create a key and set up the device below. It appears here within a minute of its first fetch.</p><//>`;
        }
        return html`<${Table} label="Devices" rows=${rows} keyOf=${({ id }) => id} columns=${DEVICE_COLUMNS} />`;
      }}<//>
    <//>
  `;
}

const formatText = ({ format, family }) => (format === null ? '' : `${format}, ${family}`);

/** @type {Column<any>[]} */
const DEVICE_COLUMNS = [
  { label: 'Name', cell: (device) => html`<bdi>${keyName(device)}</bdi>` },
  { label: 'Address', cell: ({ address }) => html`<bdi class="mono">${address}</bdi>` },
  { label: 'Program', cell: ({ user_agent: program }) => html`<bdi class="text">${program}</bdi>` },
  { label: 'Last fetch', cell: ({ document }) => (document === undefined ? 'never' : html`<${Ago} at=${document.at} />`) },
  { label: 'Format', cell: ({ document, refusal }) => formatText(document ?? refusal) },
  {
    label: 'State',
    cell: ({ stopped_at: stopped, document, refusal }) => {
      if (stopped !== null) return html`<${Badge} kind="bad">stopped<//>`;
      if (refusal !== undefined) return html`<span title=${whyRefused(refusal.status)}><${Refused} status=${refusal.status} /></span>`;
      const { behind_seconds: behind } = document;
      if (behind === null) return html`<${Badge}>unknown<//>`;
      return behind === 0
        ? html`<${Badge} kind="good">up to date<//>`
        : html`<${Badge} kind=${behind > 600 ? 'warn' : ''}>${duration(behind * 1000)} behind<//>`;
    },
  },
];
