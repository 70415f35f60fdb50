import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useLive, usePreviewOfDeletion } from '../../data.js';
import { count, counted } from '../../format.js';
import { go, link } from '../../router.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Confirm } from '../../ui/dialog.js';
import { Failed, Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago, Countdown } from '../../ui/time.js';
import { toast } from '../../ui/toast.js';
import { Pulled } from '../keys/pulled.js';
import { PATHS } from './read-feeds.js';

/** @param {FeedRow} feed @param {Record<string, boolean>} [query] */
const addressOf = ({ kind, id }, query) => manage(`${kind === 'list' ? PATHS.list : PATHS.composed}/${id}`, query);

/** @param {{ feed: FeedRow, tag: string, onClose: () => void }} props */
export function DeleteFeed({ feed, tag, onClose }) {
  const { value: preview, error } = usePreviewOfDeletion(addressOf(feed, { preview: true }), tag);
  const request = { address: addressOf(feed, { confirmed: true }), method: 'DELETE', ifMatch: tag };
  return html`
    <${Confirm} title=${`Delete ${feed.name}?`} action="Delete" danger request=${request} onDone=${() => go(link('/feeds'))} onClose=${onClose}
      done=${() => html`<bdi>${feed.name}</bdi> was deleted. You can restore it for 7 days under Feeds.`}>
      ${error !== undefined && html`<${Failed} error=${error} />`}
      ${preview === undefined ? error === undefined && html`<p class="soft" role="status">Counting…</p>` : html`<${WhatGoes} feed=${feed} preview=${preview} />`}
      <p>You can restore it for 7 days.</p>
    <//>
  `;
}

/** @param {{ feed: FeedRow, preview: DeletePreview }} props */
function WhatGoes({ feed, preview }) {
  const { rules, more_rules: more, feeds, keys } = preview;
  return html`
    ${
      feed.kind === 'list'
        ? html`<p>This also deletes ${more ? 'more than ' : ''}${counted(rules, 'rule')}.</p>`
        : html`<p>Its lists and their rules remain.</p>`
    }
    ${feeds.length > 0 && html`<p>These feeds lose the list: ${namesOf(feeds)}.</p>`}
    ${
      keys.length > 0 &&
      html`<${Notice} kind="bad">Keys bound to it are revoked: ${namesOf(keys)}. Their devices get HTTP 401, and some then stop enforcing.<//>`
    }
    <${Pulled} uses=${preview} />
  `;
}

/** @param {Named[]} named */
const namesOf = (named) => named.map(({ id, name }, i) => html`${i > 0 ? ', ' : ''}<bdi key=${id}>${name ?? id}</bdi>`);

/** @param {{ session: Session, onDone: () => void }} props */
export function DeletedFeeds({ session, onDone }) {
  const live = useLive(manage('/deleted'));
  const [error, setError] = useState(/** @type {Error | undefined} */ (undefined));
  /** @type {DeletedFeed[]} */
  const deleted = live.value?.deleted ?? [];
  if (deleted.length === 0) return null;
  const restore = async (/** @type {DeletedFeed} */ { kind, id, name }) => {
    setError(undefined);
    try {
      const { body } = await ask(manage(`${PATHS[kind]}/${id}/restore`), { method: 'POST', body: {} });
      const feeds = /** @type {Named[]} */ (body.feeds);
      toast(html`<bdi>${name}</bdi> was restored.${feeds.length > 0 && html` Also in ${namesOf(feeds)}.`}`);
      void live.refresh();
      onDone();
    } catch (failure) {
      setError(/** @type {Error} */ (failure));
    }
  };
  /** @type {Column<DeletedFeed>[]} */
  const columns = [
    {
      label: 'Name',
      cell: ({ name, kind }) => html`<span><bdi>${name}</bdi> <span class="soft small">${kind === 'list' ? 'list' : 'feed'}</span></span>`,
    },
    { label: 'Deleted', cell: ({ deleted_at: at }) => html`<${Ago} at=${at} />` },
    { label: 'Restorable for', cell: ({ restorable_until: until }) => html`<${Countdown} until=${until} forever="never" />` },
    { label: 'Keys', number: true, cell: ({ keys }) => count(keys) },
    {
      label: '',
      cell: (each) => may(session, 'manage') && html`<${Button} onClick=${() => restore(each)}>Restore ${each.name}<//>`,
    },
  ];
  return html`
    <${Card} title="Recently deleted" note="Restorable for 7 days with rules, settings and keys.">
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <${Table} label="Recently deleted" columns=${columns} rows=${deleted} keyOf=${(/** @type {DeletedFeed} */ { id }) => id} />
    <//>
  `;
}
