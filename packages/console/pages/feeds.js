import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, hasEnded, manage } from '../api.js';
import { useLiveWork } from '../data.js';
import { count } from '../format.js';
import { go, link, useDo } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Gauge } from '../ui/gauge.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Loaded } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { Ago } from '../ui/time.js';
import { FeedPage } from './feed.js';
import { DeletedFeeds } from './feeds/delete-feed.js';
import { FeedForm } from './feeds/feed-form.js';
import { builtOf, countOf, isOld, nameOfKind, stateOf, WORKSPACE_FEED } from './feeds/feed-state.js';
import { linkToFeed, readFeeds } from './feeds/read-feeds.js';

/** @param {PageProps} props */
export function Page({ session, place }) {
  const live = useLiveWork('feeds', readFeeds);
  const [open, setOpen] = useState(/** @type {'list' | 'composed' | 'edit' | 'thaw' | undefined} */ (undefined));
  useDo(place, (what) => {
    if (what === 'list' || what === 'composed' || what === 'edit' || what === 'thaw') setOpen(what);
  });
  if (place.parts.length > 0) {
    const [kind, id = ''] = place.parts;
    return html`<${FeedPage} key=${place.path} kind=${kind} id=${id} session=${session} asked=${open} onAsked=${() => setOpen(undefined)} />`;
  }

  const actions =
    may(session, 'manage') &&
    html`
      <${Button} icon="plus" onClick=${() => setOpen('list')}>New list<//>
      <${Button} icon="plus" kind="main" onClick=${() => setOpen('composed')}>Compose feed<//>
    `;
  const close = () => setOpen(undefined);
  return html`
    <${PageHead} title="Feeds" actions=${actions}>Firewalls fetch feeds. Each list is a feed, and a feed can combine several lists. <a href=${link('/worth')}>List value</a><//>
    <${Loaded} live=${live}>${(/** @type {FeedRow[]} */ feeds) => html`
      <${FeedTable} feeds=${feeds} />
      <${DeletedFeeds} session=${session} onDone=${live.refresh} />
      ${
        feeds.length === 2 &&
        html`
        <${Empty} icon="feeds" title="One list so far">
          <p>Create a list for each source of signals, such as mail and web, and compose a feed for each firewall.</p>
        <//>
      `
      }
      ${open !== undefined && open !== 'edit' && open !== 'thaw' && html`<${FeedForm} kind=${open} onClose=${close} onDone=${({ id }) => go(linkToFeed({ kind: open, id }))} />`}
    `}<//>
  `;
}

/** @param {{ feeds: FeedRow[] }} props */
function FeedTable({ feeds: read }) {
  const fresh = useFresh(read);
  const feeds = read.map((feed) => ({ ...feed, fresh: fresh.get(feed.id) }));
  /** @type {Column<FeedRow>[]} */
  const columns = [
    { label: 'Feed', cell: (feed) => html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>` },
    { label: 'Contains', cell: (feed) => html`<span>${nameOfKind(feed)}</span>` },
    { label: 'Entries', number: true, cell: (feed) => html`<${Entries} feed=${feed} />` },
    {
      label: 'Limit',
      cell: (feed) => {
        const built = countOf(feed);
        if (built === undefined) return html`<span class="soft">not counted yet</span>`;
        return html`<${Gauge} value=${built.entries} most=${built.entry_limit} label="Entries" />`;
      },
    },
    {
      label: 'State',
      cell: (feed) => {
        const { kind, text } = stateOf(feed);
        return html`<${Badge} kind=${kind}>${text}<//>`;
      },
    },
  ];
  return html`<${Table} label="Feeds" columns=${columns} rows=${feeds} keyOf=${(/** @type {FeedRow} */ { id }) => id} />`;
}

/** @param {{ feed: FeedRow }} props */
function Entries({ feed }) {
  const known = countOf(feed);
  if (known === undefined) return html`<span class="soft">–</span>`;
  return html`<span>${count(known.entries)}${isOld(known) && html`<br /><span class="soft small">counted <${Ago} at=${known.built_at} /></span>`}</span>`;
}

/** Feeds counted for the table; others show the age of their count. */
const COUNTED = 30;

/** Current counts of feeds that this process did not build recently, read one at a time. @param {FeedRow[]} feeds */
function useFresh(feeds) {
  const asked = feeds.filter((feed) => isOld(builtOf(feed))).slice(0, COUNTED);
  const live = useLiveWork(
    asked.length === 0 ? null : 'fresh counts',
    async () => {
      /** @type {Record<string, Built>} */
      const found = {};
      for (const { id } of asked) {
        if (hasEnded()) break;
        const named = id === WORKSPACE_FEED ? undefined : id;
        const content = await ask(manage('/content', { feed: named, lines: 1 })).then(
          ({ body }) => body,
          () => undefined,
        );
        if (content !== undefined) found[id] = { ...content, formats: [content.format], built_at: new Date().toISOString() };
      }
      return found;
    },
    { every: 30_000 },
  );
  return new Map(Object.entries(live.value ?? {}));
}
