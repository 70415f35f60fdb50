import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../../api.js';
import { dateTime, endText } from '../../format.js';
import { keyName } from '../../names.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Button } from '../../ui/button.js';
import { Code } from '../../ui/code.js';
import { Confirm, Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Notice } from '../../ui/states.js';
import { Countdown } from '../../ui/time.js';
import { batchAt } from '../changes/see.js';
import { Action } from './action.js';
import { nameOf } from './tabs.js';

/**
 * @param {{ rule: Rule, names: Names, session: Session, onClose: () => void, onDone:
 *   () => void,
 * onChange: (rule: Rule) => void }} props `onChange` opens the form to change it.
 */
export function RuleDialog({ rule, names, session, onClose, onDone, onChange }) {
  const [isDeleting, setDeleting] = useState(false);
  const isExpression = rule.expression !== undefined;
  if (isDeleting) {
    return html`
      <${Confirm} title="Delete rule?" action="Delete" danger request=${{ address: manage(`/rules/${rule.kind}/${rule.id}`), method: 'DELETE' }}
        done=${() => html`Rule <bdi>${nameOf(rule)}</bdi> deleted.`} onDone=${onDone} onClose=${onClose}>
        <p>Delete the rule <bdi>${nameOf(rule)}</bdi> (${rule.action})? You can undo this batch for 7 days.</p>
      <//>
    `;
  }
  const footer = html`
    ${rule.target !== undefined && html`<a class="button" href=${`${link('/lookup')}?${new URLSearchParams({ target: rule.target, action: rule.action })}`}>Look up</a>`}
    ${isExpression && html`<a class="button" href=${`${link('/backtest')}?${new URLSearchParams({ kind: rule.kind, expression: rule.expression ?? '' })}`}>Backtest</a>`}
    ${may(session, 'rules:write') && html`<${Button} kind="danger" onClick=${() => setDeleting(true)}>Delete<//>`}
    ${may(session, 'rules:write') && html`<${Button} kind="main" onClick=${() => onChange(rule)}>Change<//>`}
  `;
  return html`
    <${Dialog} title=${nameOf(rule)} wide onClose=${onClose} footer=${footer}>
      ${rule.warning !== undefined && html`<${Notice} kind="warn"><span class="text">${rule.warning}</span><//>`}
      ${isExpression && html`<${Code} text=${rule.expression} label="Expression" />`}
      <${Facts} facts=${factsOf(rule, names)} />
    <//>
  `;
}

/** @param {Rule} rule @param {Names} names @returns {(readonly [string, any])[]} */
const factsOf = (rule, names) => [
  ['Action', html`<${Action} action=${rule.action} />`],
  ['List', rule.list_id && names.listName(rule.list_id)],
  ['Name', rule.name],
  ['Description', rule.short_description],
  ['Reference', rule.rule_ref],
  ['Order', rule.order],
  ['Reason', rule.reason],
  ['Confidence', rule.confidence],
  ['Severity', rule.severity],
  ['Written by', rule.type && (rule.type === 'generated' ? 'AI' : 'a person or a playbook')],
  ['Expires', expiryOf(rule.expires_at)],
  ['Lasts longer', rule.repeated ?? null],
  ['Created', dateTime(rule.created_at)],
  ['Changed', rule.updated_at === rule.created_at ? undefined : dateTime(rule.updated_at)],
  ['Person', rule.actor && (rule.person === undefined ? rule.actor : `${rule.actor} (${rule.person})`)],
  ['Key', rule.key_id && keyName(rule)],
  ['Batch', rule.batch_id && html`<a href=${batchAt(rule.batch_id)}>${rule.batch_id}</a>`],
  ['Labels', jsonOf(rule.labels)],
  ['Config', jsonOf(rule.config)],
  ['Id', rule.id],
];

/** @param {string | null} until */
function expiryOf(until) {
  const at = endText(until);
  return at === 'never' || Date.parse(until ?? '') <= Date.now() ? at : html`${at} (in <${Countdown} until=${until} />)`;
}

/** @param {object | null} value */
const jsonOf = (value) => value && Object.keys(value).length > 0 && html`<span class="mono">${JSON.stringify(value, null, 1)}</span>`;
