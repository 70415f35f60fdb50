import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Card } from '../../ui/card.js';
import { SameWithCurl } from '../../ui/code.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Facts } from '../../ui/figures.js';
import { Failed, Notice } from '../../ui/states.js';
import { toast } from '../../ui/toast.js';

const ADDRESS = manage('/workspace');
const REST = 400;

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
        ['Largest IPv4 block', widest(body.min_prefix_v4, body.service.min_prefix_v4)],
        ['Largest IPv6 block', widest(body.min_prefix_v6, body.service.min_prefix_v6)],
        ['Never-block rules', body.subtract_allow === 'on' ? "subtracted from the workspace's feed" : 'not subtracted'],
      ]} />
      ${changing !== undefined && html`<${Change} workspace=${changing} onClose=${() => setChanging(undefined)} onDone=${onDone} />`}
    <//>
  `;
}

/** @type {Record<string, string>} */
const NAMED = {
  private: 'private networks',
  special: 'networks not reachable on the Internet',
  self: 'addresses of weir itself',
};

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

/** @param {string} text */
const wordsOf = (text) => text.split(/[\s,]+/).filter((word) => word !== '');

/** @param {{ workspace: Tagged, onClose: () => void, onDone: () => void }} props */
function Change({ workspace: { body, tag }, onClose, onDone }) {
  const [form, setForm] = useState({
    protect: body.protect.join('\n'),
    v4: String(body.min_prefix_v4),
    v6: String(body.min_prefix_v6),
    subtract: body.subtract_allow,
  });
  const { busy, error, run, clear } = useWork();
  const set = (field) => (text) => {
    clear();
    setForm((before) => ({ ...before, [field]: text }));
  };
  const words = wordsOf(form.protect);
  const wanted = { protect: words, min_prefix_v4: Number(form.v4), min_prefix_v6: Number(form.v6), subtract_allow: form.subtract };
  const changes = Object.fromEntries(
    Object.entries(wanted).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(body[field])),
  );
  const submit = async () => {
    const isDone = await run(async () => {
      await ask(ADDRESS, { method: 'PATCH', ifMatch: tag ?? '*', body: changes });
      toast('Guard rails changed.');
      onDone();
    });
    if (isDone) onClose();
  };
  const faults = error instanceof ApiError ? error.faults : [];
  const faultOf = (field) => faults.find((fault) => fault.field.split(/[.[]/)[0] === field)?.message;
  const isNothing = Object.keys(changes).length === 0;
  const footer = html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy} disabled=${isNothing}>Apply<//>`;
  const prefix = { inputmode: 'numeric', pattern: '[0-9]{1,3}', required: true };
  return html`
    <${Dialog} title="Change guard rails" wide onClose=${onClose} onSubmit=${submit} footer=${footer}>
      ${error !== undefined && faults.length === 0 && html`<${Failed} error=${error} />`}
      <${TextField} label="Protected networks" rows=${6} value=${form.protect} onValue=${set('protect')} autofocus fault=${faultOf('protect')}
        hint=${html`One network per line, such as <code>203.0.113.0/24</code>, or a name: <code>private</code>, <code>special</code>, <code>self</code>.`} />
      <div class="form-row">
        <${TextField} label="Shortest IPv4 prefix" hint="For example 8: no block larger than a /8. 0: any." value=${form.v4} onValue=${set('v4')} fault=${faultOf('min_prefix_v4')} ...${prefix} />
        <${TextField} label="Shortest IPv6 prefix" hint="0: any." value=${form.v6} onValue=${set('v6')} fault=${faultOf('min_prefix_v6')} ...${prefix} />
        <${SelectField} label="Never-block rules in the workspace's feed" value=${form.subtract} onValue=${set('subtract')} options=${SUBTRACT} />
      </div>
      <${Reached} before=${body.protect} after=${words} service=${body.service.protect} rails=${{ protect: words, min_prefix_v4: wanted.min_prefix_v4, min_prefix_v6: wanted.min_prefix_v6 }} />
      <${SameWithCurl} text=${curlOf('PATCH', ADDRESS, changes)} />
    <//>
  `;
}

/** @param {{ before: string[], after: string[], service: string[], rails: Rails }} props */
function Reached({ before, after, service, rails }) {
  const without = (words, others) => words.filter((word) => !others.includes(word) && !service.includes(word));
  const added = without(after, before);
  const gone = without(before, after);
  const [found, setFound] = useState(/** @type {any | undefined} */ (undefined));
  const asked = JSON.stringify(rails);
  useEffect(() => {
    const stop = new AbortController();
    setFound(undefined);
    const timer = setTimeout(() => {
      // Invalid networks are reported on submit.
      ask(manage('/workspace/preview'), { method: 'POST', body: rails, signal: stop.signal }).then(
        ({ body }) => setFound(body),
        () => {},
      );
    }, REST);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked]);
  return html`
    <section class="stack" aria-label="Preview" aria-live="polite">
      <h3>Preview</h3>
      ${added.length + gone.length === 0 && html`<p class="soft">No changes to protected networks.</p>`}
      ${added.length > 0 && html`<p>Newly protected: <span class="mono text">${added.join(', ')}</span>.</p>`}
      ${found !== undefined && found.refused + Number(!found.is_whole) > 0 && html`<${RefusedRules} found=${found} />`}
      ${gone.length > 0 && html`<${Notice} kind="warn">No longer protected: <span class="mono text">${gone.join(', ')}</span>; existing blocks return to feeds.<//>`}
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
