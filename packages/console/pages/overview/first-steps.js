import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useLiveWork } from '../../data.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Badge } from '../../ui/badge.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Code } from '../../ui/code.js';
import { areOff } from '../workspace/guard-rails.js';

const FRESH = 30 * 86_400_000;
/** Local storage key of workspaces whose steps are done or hidden. */
const HIDDEN = 'weir-first-steps';
const MOST = 50;

/** @returns {string[]} */
function hidden() {
  try {
    const stored = JSON.parse(localStorage.getItem(HIDDEN) ?? '[]');
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}
/** @param {string} workspace */
const forget = (workspace) =>
  localStorage.setItem(HIDDEN, JSON.stringify([...hidden().filter((id) => id !== workspace), workspace].slice(-MOST)));

const SIGNAL = [{ type: 'access_rules', action: 'block', ip: '192.0.2.1', expiration: 3600 }];

/** @type {readonly { step: string, title: string, href?: string, action?: string, permission: string, text: string }[]} */
const STEPS = [
  {
    ...{ step: 'rails', title: 'Guard rails', permission: 'manage', href: link('/workspace'), action: 'Protect networks' },
    text: 'Set the networks that no signal may block: yours and those of customers and providers.',
  },
  {
    ...{ step: 'large', title: 'Large changes', permission: 'manage', href: link('/workspace'), action: 'Set limits' },
    text: 'Decide which changes are large, signals included: canaries of a feed receive those first.',
  },
  {
    ...{ step: 'list', title: 'A list', permission: 'manage', href: `${link('/feeds')}?do=list`, action: 'Create list' },
    text: 'Create a list for each origin of signals, or add a source that fills one automatically.',
  },
  {
    ...{ step: 'key', title: 'A key', permission: 'keys:write', href: `${link('/keys')}?do=make`, action: 'Create key' },
    text: 'Give each program its own key. Senders need “Send signals”.',
  },
  { step: 'signal', title: 'A signal', permission: 'manage', text: 'Send the first one, with the key in WEIR_KEY:' },
  {
    ...{ step: 'device', title: 'A device', permission: 'manage', href: link('/feeds', 'workspace'), action: 'Set up device' },
    text: 'Let a firewall fetch the feed. Its page has the configuration for each model.',
  },
];

/** @param {{ session: Session }} props */
export function FirstSteps({ session }) {
  const [isHidden, setHidden] = useState(() => hidden().includes(session.workspace_id));
  return !isHidden && may(session, 'manage') && html`<${Steps} session=${session} onHide=${() => setHidden(true)} />`;
}

/** @param {{ session: Session, onHide: () => void }} props */
function Steps({ session, onHide }) {
  const { value: done } = useLiveWork('first steps', () => readSteps(session, done), { every: 30_000 });
  const leave = () => {
    forget(session.workspace_id);
    onHide();
  };
  const steps = STEPS.filter(({ permission }) => may(session, permission));
  const left = done === undefined ? [] : steps.filter(({ step }) => !done[step]);
  const isOver = done !== undefined && (left.length === 0 || done.old);
  useEffect(() => {
    if (isOver) leave();
  }, [isOver]);
  if (done === undefined || isOver) return null;
  const actions = html`<${Button} tiny onClick=${leave}>Hide<//>`;
  return html`
    <${Card} title="First steps" note=${`${steps.length - left.length} of ${steps.length} done.`} actions=${actions}>
      <ol class="stack">
        ${steps.map(
          ({ step, title, text, href, action }) => html`
            <li key=${step} class="attention">
              <${Badge} kind=${done[step] ? 'good' : ''}>${done[step] ? 'done' : 'to do'}<//>
              <div><strong>${title}</strong>${!done[step] && html`<p class="soft">${text}</p>`}${
                step === 'signal' && !done.signal && html`<${Code} text=${curlOf('POST', '/v1/signal', SIGNAL)} label="The first signal" />`
              }</div>
              ${href !== undefined && !done[step] ? html`<a href=${href}>${action}</a>` : html`<span></span>`}
            </li>
          `,
        )}
      </ol>
    <//>
  `;
}

/** Reads what the steps need that are not done. @param {Session} session @param {Record<string, boolean>} [done] @returns {Promise<Record<string, boolean>>} */
async function readSteps(session, done = {}) {
  const read = async (/** @type {string} */ step, /** @type {string} */ path, /** @type {Record<string, number>} */ query = {}) =>
    done[step] ? {} : (await ask(manage(path, query))).body;
  const [workspace, { lists }, { keys }, { days }, { batches }, { devices }, { bouncers }] = await Promise.all([
    read(done.rails ? 'large' : 'rails', '/workspace'),
    read('list', '/lists', { limit: 2 }),
    may(session, 'keys:write') ? read('key', '/keys', { limit: 2 }) : { keys: [] },
    read('signal', '/history', { days: 90 }),
    read('signal', '/batches', { limit: 1 }),
    read('device', '/devices', { limit: 1 }),
    read('device', '/bouncers', { limit: 1 }),
  ]);
  return {
    old: done.old || Date.now() - Date.parse(workspace.created_at) > FRESH,
    rails: done.rails || !areOff(workspace) || !areOff(workspace.service),
    large: done.large || workspace.large !== null,
    list: done.list || lists.length > 1,
    key: done.key || keys.length > 1,
    // A day exists also when only a feed's size was recorded.
    signal: done.signal || batches.length > 0 || days.some(({ added }) => added > 0),
    device: done.device || devices.length + bouncers.length > 0,
  };
}
