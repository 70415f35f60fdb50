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
    until === null ? 'The canary was stopped: promote the change, or undo it first.' : `All keys receive it at ${dateTime(until)}.`;
  return html`<${Notice} kind="warn"><span>A large change (<bdi>${reason}</bdi>), first staged <${Ago} at=${at} />, reaches only ${counted(keys?.length ?? 0, 'canary key')}. ${end}</span><//>`;
}

/** @param {{ freeze: Freeze }} props */
const ByPerson = ({ freeze }) => html`
  <${Notice} kind="warn"><span>Frozen <${Ago} at=${freeze.frozen_since} />${freeze.reason && html`: <bdi>${freeze.reason}</bdi>`}. Rules expire; nothing else reaches this feed.</span><//>
`;

/** @typedef {'freeze' | 'thaw' | 'stop' | 'promote'} FreezeAct */

/** @type {Record<FreezeAct, { verb: string, done: string, path: string, about?: string }>} */
export const FREEZE_ACTS = {
  freeze: {
    ...{ verb: 'Freeze', done: 'was frozen.', path: '/freeze' },
    about:
      'Devices and bouncers keep the feed as it is now. Rules still expire. No new block, unblock, never-block rule or setting reaches it until you thaw it.',
  },
  thaw: { verb: 'Thaw', done: 'was thawed.', path: '/thaw' },
  stop: {
    ...{ verb: 'Stop', done: 'waits until you promote the change.', path: '/canary/stop' },
    about: 'The canary keys keep the large change. No other key receives it until you promote it. Small changes still reach all keys.',
  },
  promote: { verb: 'Promote', done: 'is served to all keys.', path: '/canary/promote' },
};

/** @param {Freeze | undefined} freeze @returns {FreezeAct[]} */
export function freezeActs(freeze) {
  if (freeze === undefined) return ['freeze'];
  if (freeze.canary_keys === null) return ['thaw'];
  return freeze.canary_until === null ? ['promote'] : ['stop', 'promote'];
}

/** @param {{ feed: FeedRow, act: FreezeAct, onClose: () => void, onDone: () => Promise<any> }} props */
export function FreezeFeed({ feed, act, onClose, onDone }) {
  const [reason, setReason] = useState('');
  const of = feed.id === WORKSPACE_FEED ? {} : { feed: feed.id };
  const { verb, done, path, about } = FREEZE_ACTS[act];
  const request = { address: manage(path), body: { ...of, ...(reason !== '' && { reason }) } };
  return html`
    <${Confirm} title=${`${verb} ${feed.name}?`} action=${verb} request=${request} onDone=${onDone} onClose=${onClose}
      done=${() => html`<bdi>${feed.name}</bdi> ${done}`}>
      ${about === undefined ? html`<${Changes} of=${of} />` : html`<p>${about}</p>`}
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
      ['Afterwards', after.over_cap ? `${count(after.entries)}, over the limit: not published` : count(after.entries)],
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
