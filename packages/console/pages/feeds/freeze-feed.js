import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useLive, useLiveWork } from '../../data.js';
import { count, counted, dateTime } from '../../format.js';
import { Confirm } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { Facts } from '../../ui/figures.js';
import { Loaded, Notice } from '../../ui/states.js';
import { Ago } from '../../ui/time.js';
import { WORKSPACE_FEED } from './feed-state.js';

/** @typedef {{ feed_id: string | null, name: string, frozen_since: string, reason: string | null, rules: number, canary_keys: string[] | null, canary_until: string | null }} Freeze */

/** @param {string} id */
export function useFreeze(id) {
  const live = useLive(manage('/freezes'));
  /** @type {Freeze[]} */
  const freezes = live.value?.freezes ?? [];
  return { freeze: freezes.find((each) => (each.feed_id ?? WORKSPACE_FEED) === id), refresh: live.refresh };
}

/** @param {{ freeze: Freeze }} props */
export const FrozenNotice = ({ freeze }) =>
  freeze.canary_keys === null ? html`<${ByPerson} freeze=${freeze} />` : html`<${Waiting} freeze=${freeze} />`;

/** @param {{ freeze: Freeze }} props */
function Waiting({ freeze: { frozen_since: at, reason, canary_keys: keys, canary_until: until } }) {
  const end =
    until === null
      ? 'Stopped: thaw the feed or undo the change.'
      : html`All keys receive it at ${dateTime(until)}; thaw the feed to send it now.`;
  return html`<${Notice} kind="warn"><span>A large change (<bdi>${reason}</bdi>) waits since <${Ago} at=${at} /> for ${counted(keys?.length ?? 0, 'canary key')}. ${end}</span><//>`;
}

/** @param {{ freeze: Freeze }} props */
const ByPerson = ({ freeze }) => html`
  <${Notice} kind="warn"><span>Frozen <${Ago} at=${freeze.frozen_since} />${freeze.reason && html`: <bdi>${freeze.reason}</bdi>`}. Rules expire; nothing else reaches this feed.</span><//>
`;

/** @param {{ feed: FeedRow, freeze: Freeze | undefined, onClose: () => void, onDone: () => Promise<any> }} props */
export function FreezeFeed({ feed, freeze, onClose, onDone }) {
  const [reason, setReason] = useState('');
  const isFrozen = freeze !== undefined;
  const of = feed.id === WORKSPACE_FEED ? {} : { feed: feed.id };
  const request = { address: manage(isFrozen ? '/thaw' : '/freeze'), body: { ...of, ...(reason !== '' && { reason }) } };
  const title = `${isFrozen ? 'Thaw' : 'Freeze'} ${feed.name}?`;
  return html`
    <${Confirm} title=${title} action=${isFrozen ? 'Thaw' : 'Freeze'} request=${request} onDone=${onDone} onClose=${onClose}
      done=${() => html`<bdi>${feed.name}</bdi> was ${isFrozen ? 'thawed' : 'frozen'}.`}>
      ${
        isFrozen
          ? html`<${Changes} of=${of} />`
          : html`<p>Devices and bouncers keep the feed as it is now. Rules still expire. No new block, unblock, never-block rule or setting reaches it until you thaw it.</p>`
      }
      <${TextField} label="Reason" value=${reason} onValue=${setReason} maxlength="200" />
    <//>
  `;
}

/** @param {{ of: { feed?: string } }} props */
function Changes({ of }) {
  const live = useLiveWork(
    `thaw ${of.feed}`,
    async () => (await ask(manage('/thaw'), { method: 'POST', body: { ...of, preview: true } })).body.difference,
    { every: 60_000 },
  );
  return html`<${Loaded} live=${live}>${(
    /** @type {any} */ { before, after, added, removed, added_networks: came, removed_networks: went },
  ) => html`
    <${Facts} facts=${[
      ['Entries now', count(before.entries)],
      ['After the thaw', after.over_cap ? `${count(after.entries)}, over the limit: not published` : count(after.entries)],
      ['Added', named(added, came)],
      ['Removed', named(removed, went)],
    ]} />
  `}<//>`;
}

/** @param {number} all @param {string[]} networks */
const named = (all, networks) => {
  const first = networks.slice(0, 5).join(', ');
  return all === 0 ? 'none' : `${counted(all, 'network')}: ${first}${all > 5 ? ', …' : ''}`;
};
