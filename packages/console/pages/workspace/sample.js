import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { count, counted, dateTime, size } from '../../format.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { Code } from '../../ui/code.js';
import { Confirm, FormDialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { useFields } from '../../ui/form.js';
import { Loaded, Notice } from '../../ui/states.js';
import { Ago } from '../../ui/time.js';

const ADDRESS = manage('/sample');
const RULES = [
  { value: 'generated', label: 'Generated rules' },
  { value: 'all', label: 'All blocking rules' },
];

/** @param {string} name */
const word = (name) => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

/** @param {{ workspace: string, session: Session }} props */
export function Sample({ workspace, session }) {
  const live = useLiveWork('sample', readSample);
  const [isDeleting, setDeleting] = useState(false);
  /** As of when the form opened: If-Match detects concurrent changes. */
  const [limiting, setLimiting] = useState(/** @type {Tagged | undefined} */ (undefined));
  const isManager = may(session, 'manage');
  const read = /** @type {Tagged | undefined} */ (live.value);
  const sample = read?.body;
  const hasOne = (sample?.requests ?? 0) > 0;
  const actions =
    isManager &&
    read !== undefined &&
    html`<span class="row">
      <${Button} tiny icon="edit" onClick=${() => setLimiting(read)}>Change limit<//>
      ${hasOne && html`<${Button} tiny kind="danger" icon="trash" onClick=${() => setDeleting(true)}>Delete sample<//>`}
    </span>`;
  return html`
    <${Card} title="Sample of good traffic" note="Known good requests. weir rejects a rule that would block too many of them." actions=${actions}>
      <${Loaded} live=${live}>${(/** @type {Tagged} */ { body: info }) => html`
        ${hasOne ? html`<${Facts} facts=${factsOf(info)} />` : html`<${Notice}>No sample yet: new rules are not tested before they apply.<//>`}
        ${
          isManager &&
          html`<details><summary>${hasOne ? 'Take a newer sample' : 'Take a sample'}</summary>
            <p class="small">Run this on the server with a log of any size. weir picks requests at random and masks query values, cookies and secrets.</p>
            <${Code} text=${`weir sample take --workspace ${word(workspace)} --max-share 0.1% access.log`} label="The command" />
          </details>`
        }
        ${limiting !== undefined && html`<${Limit} read=${limiting} onClose=${() => setLimiting(undefined)} onDone=${live.refresh} />`}
        ${isDeleting && html`<${Delete} info=${info} onClose=${() => setDeleting(false)} onDone=${live.refresh} />`}
      `}<//>
    <//>
  `;
}

/** @param {any} info @returns {[string, any][]} */
const factsOf = ({ requests, bytes, taken_at: at, max_sample_share: share, sample_rules: rules }) => [
  ['Requests', `${count(requests)} (${size(bytes)})`],
  ['Taken', html`${at !== null && dateTime(at)} (<${Ago} at=${at} />)`],
  [
    'A rule may block',
    share === null ? 'any number (shown in previews only)' : `${counted(Math.floor(share * requests), 'request')} (${percentOf(share)}%)`,
  ],
  ['Rules', share === null ? undefined : RULES.find(({ value }) => value === rules)?.label],
];

/** @param {number} share */
const percentOf = (share) => String(Number((share * 100).toPrecision(6)));

/** @returns {Promise<Tagged>} */
async function readSample() {
  const { body, tag } = await ask(ADDRESS);
  return { body, tag };
}

/** @param {{ read: Tagged, onClose: () => void, onDone: () => void }} props */
function Limit({ read: { body: info, tag }, onClose, onDone }) {
  const { values, input } = useFields('limitSample', {
    ...info,
    max_sample_share: info.max_sample_share && percentOf(info.max_sample_share),
  });
  const given = values.max_sample_share.trim().replace(/\s*%$/, '').replace(',', '.');
  const value = given === '' ? null : Number(given) / 100;
  const isBad = value !== null && !(value >= 0 && value <= 1);
  const body = { max_sample_share: value, sample_rules: values.sample_rules };
  return html`
    <${FormDialog} title="Limit for the sample" action="Apply" request=${{ address: ADDRESS, method: 'PATCH', ifMatch: tag ?? '*', body }}
      done=${() => 'Limit changed. It applies within two seconds.'} onDone=${onDone} onClose=${onClose} disabled=${isBad}>
      ${(faultOf) => html`
        ${input('max_sample_share', { pattern: undefined, inputmode: 'decimal', autofocus: true, hint: 'For example 0.1; empty: no limit.', fault: isBad ? 'must be a percentage from 0 to 100' : faultOf('max_sample_share') })}
        ${input('sample_rules', { hint: undefined, options: RULES })}
        ${!isBad && value !== null && info.requests > 0 && html`<p>${counted(Math.floor(value * info.requests), 'request')} of ${count(info.requests)}; weir rejects a rule that blocks more.</p>`}
      `}
    <//>
  `;
}

/** @param {{ info: any, onClose: () => void, onDone: () => void }} props */
const Delete = ({ info, onClose, onDone }) => html`
  <${Confirm} title="Delete sample?" action="Delete" danger request=${{ address: ADDRESS, method: 'DELETE' }} done=${() => 'Sample deleted.'}
    onDone=${onDone} onClose=${onClose}>
    <p>Its ${counted(info.requests, 'request')} and its limit are deleted permanently. New rules are no longer tested.</p>
  <//>
`;
