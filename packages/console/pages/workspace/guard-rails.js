import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { count, counted } from '../../format.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { FormDialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { useFields } from '../../ui/form.js';
import { Notice } from '../../ui/states.js';
import { usePreview } from '../rules/preview.js';

const ADDRESS = manage('/workspace');

const SUBTRACT = [
  { value: 'off', label: 'off: blocks win' },
  { value: 'on', label: 'on: subtract them' },
];

/** @param {Rails} rails */
export const areOff = ({ protect, min_prefix_v4: v4, min_prefix_v6: v6 }) => protect.length === 0 && v4 === 0 && v6 === 0;

/** @param {{ workspace: Tagged, session: Session, onDone: () => void }} props */
export function GuardRails({ workspace, session, onDone }) {
  /** As of when the form opened: If-Match detects concurrent changes. */
  const [changing, setChanging] = useState(/** @type {Tagged | undefined} */ (undefined));
  const { body } = workspace;
  const actions =
    may(session, 'manage') && html`<${Button} tiny icon="edit" onClick=${() => setChanging(workspace)}>Change guard rails<//>`;
  return html`
    <${Card} title="Guard rails" note="Networks that can never be blocked, and the largest block allowed." actions=${actions}>
      ${
        areOff(body) &&
        areOff(body.service) &&
        html`<${Notice} kind="warn">No guard rails are set: a signal can block any address, including your own.<//>`
      }
      <${Facts} facts=${[
        ['Protected networks', html`<${Words} words=${body.protect} />`],
        ['Protected by the service', html`<${Words} words=${body.service.protect} />`],
        ...(body.peers.length > 0 ? [['Own clients', html`<${Words} words=${body.peers.map(peerText)} />`]] : []),
        ['Largest IPv4 block', widest(body.min_prefix_v4, body.service.min_prefix_v4)],
        ['Largest IPv6 block', widest(body.min_prefix_v6, body.service.min_prefix_v6)],
        ['Large changes', largeText(body)],
        ['Never-block rules', body.subtract_allow === 'on' ? "subtracted from the workspace's feed" : 'not subtracted'],
      ]} />
      ${changing !== undefined && html`<${Change} workspace=${changing} onClose=${() => setChanging(undefined)} onDone=${onDone} />`}
    <//>
  `;
}

const LARGE = [
  { value: 'none', label: 'none' },
  { value: 'changes', label: 'changes, without signals' },
  { value: 'all', label: 'all, with signals' },
];

/** @param {any} workspace */
function largeText({ large, large_addresses: addresses, large_networks: networks, large_percent: percent }) {
  const { value, label } = LARGE.find((each) => each.value === large) ?? LARGE[1];
  if (value === 'none') return label;
  const limits = [
    counted(addresses ?? 65_536, 'address', 'addresses'),
    ...(networks === null ? [] : [`${counted(networks, 'network')} of a feed`]),
    ...(percent === null ? [] : [`${percent}% of a feed`]),
  ];
  return `${label}: more than ${limits.join(', or ')}, and countries and ASNs`;
}

/** @type {Record<string, string>} */
const NAMED = {
  private: 'private networks',
  special: 'networks not reachable on the Internet',
  self: 'addresses of weir itself',
  peers: 'your own clients',
  'warn:peers': 'your own clients, only reported',
};

/** @param {{ address: string, name: string, last_seen: string }} peer */
const peerText = ({ address, name, last_seen: day }) => `${address} (${name}, ${day})`;

/** @param {{ words: string[] }} props */
const Words = ({ words }) =>
  words.length === 0
    ? html`<span class="soft">none</span>`
    : words.map(
        (word, i) =>
          html`${i > 0 && ', '}<span class="mono">${word}</span>${NAMED[word] !== undefined && html`<span class="soft"> (${NAMED[word]})</span>`}`,
      );

/** @param {number} own @param {number} ofService */
function widest(own, ofService) {
  const prefix = Math.max(own, ofService);
  return prefix === 0
    ? html`<span class="soft">any</span>`
    : html`/${prefix}${ofService > own && html`<span class="soft"> (service)</span>`}`;
}

/** @param {{ workspace: Tagged, onClose: () => void, onDone: () => void }} props */
function Change({ workspace: { body, tag }, onClose, onDone }) {
  const { values, changes, input } = useFields('changeWorkspace', body);
  const { protect = body.protect } = changes;
  const rails = { protect, min_prefix_v4: Number(values.min_prefix_v4), min_prefix_v6: Number(values.min_prefix_v6) };
  return html`
    <${FormDialog} title="Change guard rails" wide action="Apply" request=${{ address: ADDRESS, method: 'PATCH', ifMatch: tag ?? '*', body: changes }}
      done=${() => 'Guard rails changed.'} onDone=${onDone} onClose=${onClose} disabled=${Object.keys(changes).length === 0}>
      ${(faultOf) => html`
        ${input('protect', { rows: 6, autofocus: true, fault: faultOf('protect'), hint: html`One network per line, such as <code>203.0.113.0/24</code>, or a name: <code>private</code>, <code>special</code>, <code>self</code>, <code>peers</code>. <code>warn:</code> before one only reports blocks.` })}
        <div class="form-row">
          ${input('min_prefix_v4', { required: true, fault: faultOf('min_prefix_v4'), hint: 'For example 8: no block larger than a /8. 0: any.' })}
          ${input('min_prefix_v6', { required: true, fault: faultOf('min_prefix_v6'), hint: '0: any.' })}
          ${input('subtract_allow', { label: "Never-block rules in the workspace's feed", hint: undefined, options: SUBTRACT })}
        </div>
        <div class="form-row">
          ${input('large', { options: [{ value: '', label: 'default: without signals' }, ...LARGE], fault: faultOf('large') })}
          ${input('large_addresses', { fault: faultOf('large_addresses') })}
          ${input('large_networks', { fault: faultOf('large_networks') })}
          ${input('large_percent', { fault: faultOf('large_percent') })}
        </div>
        <div class="form-row">
          ${input('canary_keys', { label: "Canary keys of the workspace's feed", fault: faultOf('canary_keys') })}
          ${input('canary_minutes', { fault: faultOf('canary_minutes') })}
        </div>
        <div class="form-row">
          ${input('approval', { options: [{ value: '', label: 'default: none' }, ...LARGE], fault: faultOf('approval') })}
          ${input('approval_addresses', { fault: faultOf('approval_addresses') })}
          ${input('approval_rules', { fault: faultOf('approval_rules') })}
          ${input('approval_percent', { fault: faultOf('approval_percent') })}
        </div>
        <${Reached} before=${body.protect} after=${protect} service=${body.service.protect} rails=${rails} />
      `}
    <//>
  `;
}

/** @param {{ before: string[], after: string[], service: string[], rails: Rails }} props */
function Reached({ before, after, service, rails }) {
  const without = (words, others) => words.filter((word) => !others.includes(word) && !service.includes(word));
  const added = without(after, before);
  const dropped = without(before, after);
  // Invalid networks are reported on submit.
  const { answer: found } = usePreview(manage('/workspace/preview'), rails);
  return html`
    <section class="stack" aria-label="Preview" aria-live="polite">
      <h3>Preview</h3>
      ${added.length + dropped.length === 0 && html`<p class="soft">No changes to protected networks.</p>`}
      ${added.length > 0 && html`<p>Newly protected: <span class="mono text">${added.join(', ')}</span>.</p>`}
      ${found !== undefined && found.refused + Number(!found.is_whole) > 0 && html`<${RefusedRules} found=${found} />`}
      ${dropped.length > 0 && html`<${Notice} kind="warn">No longer protected: <span class="mono text">${dropped.join(', ')}</span>; existing blocks return to feeds.<//>`}
    </section>
  `;
}

/** @param {{ found: any }} props */
const RefusedRules = ({ found: { refused, first, is_whole: isComplete } }) => html`
  <${Notice} kind="warn">
    <p>${!isComplete && 'At least '}${counted(refused, 'rule')} would be refused today. Existing rules remain until they expire or are deleted, but feeds exclude protected networks.</p>
    <ul>${first.map(({ target, list_name: list, why }) => html`<li key=${`${target} ${list}`}><a class="mono" href=${`${link('/rules', 'access')}?${new URLSearchParams({ address: target, match: 'exact' })}`}>${target}</a> in <bdi>${list}</bdi> ${why}</li>`)}</ul>
    ${refused > first.length && html`<p>First ${count(first.length)} of ${counted(refused, 'rule')}.</p>`}
  <//>
`;
