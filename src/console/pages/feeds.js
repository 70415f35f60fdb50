/** The feeds of the workspace: its own, those of its lists, and those made of several lists. */

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, ask, manage } from '../api.js';
import { useLiveWork, useWork } from '../data.js';
import { go, link } from '../router.js';
import { may } from '../session.js';
import { Badge } from '../ui/badge.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { CheckField, CheckList, TextField } from '../ui/field.js';
import { Gauge } from '../ui/gauge.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Failed, Shown } from '../ui/states.js';
import { Table } from '../ui/table.js';
import { toast } from '../ui/toast.js';
import { FeedPage } from './feed.js';
import { builtOf, nameOfKind, stateOf, WORKSPACE_FEED } from './feeds/feed-state.js';

/** @typedef {import('./feeds/feed-state.js').FeedRow} FeedRow */

/** @param {import('../pages.js').PageProps} props */
export function Page({ session, place }) {
  const live = useLiveWork('feeds', readFeeds);
  const [open, setOpen] = useState(/** @type {'list' | 'feed' | undefined} */ (undefined));
  if (place.parts.length > 0) return html`<${FeedPage} key=${place.parts[0]} id=${place.parts[0]} session=${session} place=${place} />`;

  const actions =
    may(session, 'manage') &&
    html`
      <${Button} icon="plus" onClick=${() => setOpen('list')}>New list<//>
      <${Button} icon="plus" kind="main" onClick=${() => setOpen('feed')}>Compose a feed<//>
    `;
  const close = () => setOpen(undefined);
  return html`
    <${PageHead} title="Feeds" actions=${actions}>What firewalls poll. Signals land in lists; each list is a feed, and a feed can be made of several lists.<//>
    <${Shown} live=${live}>${(/** @type {FeedRow[]} */ feeds) => html`
      <${FeedTable} feeds=${feeds} />
      ${
        feeds.length === 2 &&
        html`
        <${Empty} icon="feeds" title="One list so far">
          <p>Make a list for each source of signals, such as one for mail and one for the web, and compose feeds of them for each firewall.</p>
        <//>
      `
      }
      ${open === 'list' && html`<${NewList} onClose=${close} />`}
      ${open === 'feed' && html`<${NewFeed} lists=${feeds.filter(({ kind }) => kind === 'list')} onClose=${close} />`}
    `}<//>
  `;
}

/** All feeds, the workspace's own first. @returns {Promise<FeedRow[]>} */
async function readFeeds() {
  const [workspace, lists, feeds] = await Promise.all([
    ask(manage('/workspace')),
    allPages('/lists', 'lists'),
    allPages('/feeds', 'feeds'),
  ]);
  return [
    { ...workspace.body, id: WORKSPACE_FEED, kind: 'workspace' },
    ...lists.map((list) => ({ ...list, kind: 'list' })),
    ...feeds.map((feed) => ({ ...feed, kind: 'composed' })),
  ];
}

/** @param {{ feeds: FeedRow[] }} props */
function FeedTable({ feeds }) {
  /** @type {import('../ui/table.js').Column<FeedRow>[]} */
  const columns = [
    { label: 'Feed', cell: (feed) => html`<a class="text" href=${link('/feeds', feed.id)}>${feed.name}</a>` },
    { label: 'Made of', cell: (feed) => html`<span>${nameOfKind(feed)}</span>` },
    {
      label: 'Entries',
      cell: (feed) => {
        const built = builtOf(feed);
        if (built === undefined) return html`<span class="soft">not asked for yet</span>`;
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

/** @param {{ onClose: () => void }} props */
function NewList({ onClose }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const { busy, error, run } = useWork();
  const [once] = useState(() => crypto.randomUUID());
  const submit = () =>
    run(async () => {
      const { body } = await ask(manage('/lists'), { method: 'POST', once, body: { name, description: description || null } });
      toast(`The list ${body.name} is there.`);
      go(link('/feeds', body.id));
    });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy}>Make the list<//>`;
  return html`
    <${Dialog} title="New list" onClose=${onClose} onSubmit=${submit} footer=${footer}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <${TextField} label="Name" hint="Senders name it: POST /v1/signal?list=…" value=${name} onValue=${setName} required maxlength="200" autofocus />
      <${TextField} label="Description" hint="In the header of feeds whose format has one." value=${description} onValue=${setDescription} maxlength="2048" />
    <//>
  `;
}

/** @param {{ lists: FeedRow[], onClose: () => void }} props */
function NewFeed({ lists, onClose }) {
  const [name, setName] = useState('');
  const [isAll, setAll] = useState(false);
  const [members, setMembers] = useState(/** @type {string[]} */ ([]));
  const { busy, error, run } = useWork();
  const [once] = useState(() => crypto.randomUUID());
  const submit = () =>
    run(async () => {
      const { body } = await ask(manage('/feeds'), {
        method: 'POST',
        once,
        body: { name, ...(isAll ? { all_lists: true } : { lists: members }) },
      });
      toast(`The feed ${body.name} is there.`);
      go(link('/feeds', body.id));
    });
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy}>Make the feed<//>`;
  return html`
    <${Dialog} title="Compose a feed" onClose=${onClose} onSubmit=${submit} footer=${footer}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <${TextField} label="Name" value=${name} onValue=${setName} required maxlength="200" autofocus />
      <${CheckField} label="All lists, also those that are made later" checked=${isAll} onValue=${setAll} />
      ${!isAll && html`<${CheckList} label="Lists" options=${lists.map(({ id, name: label }) => ({ value: id, label }))} values=${members} onValues=${setMembers} />`}
    <//>
  `;
}
