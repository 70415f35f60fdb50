import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, ask, manage } from '../../api.js';
import { curlOf } from '../../curl.js';
import { useLiveWork, useWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Failed, Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { toast } from '../../ui/toast.js';
import { ExpiryField, secondsLeft } from './expiry.js';
import { ExpressionField } from './expression.js';
import { usePreview } from './preview.js';
import { RULE_TABS } from './tabs.js';
import { WhatChanges } from './what-changes.js';

const ADDRESS = manage('/rules/expressions');
const TYPES = [
  { value: 'custom', label: 'Custom' },
  { value: 'generated', label: 'AI' },
];

/**
 * @param {{ kind: string, type: string, expression?: string, rule?: Rule, onClose: () => void, onDone: () => void }} props `rule`: the one
 *   that is changed.
 */
export function ExpressionRuleForm({ kind, type, expression = '', rule, onClose, onDone }) {
  const [form, setForm] = useState(() => (rule === undefined ? newForm(kind, type, expression) : formOf(rule)));
  const set = (field) => (text) => setForm((before) => ({ ...before, [field]: text }));
  const [once] = useState(() => crypto.randomUUID());
  const { busy, error, run } = useWork();
  const { value: rules } = useLiveWork(`rules ${kind}`, () => allPages('/rules', 'rules', { kind }), { every: 60_000 });
  const tab = RULE_TABS.find((each) => each.kind === kind) ?? RULE_TABS[1];
  const config = configOf(form.config);
  /** @type {Record<string, any>} */
  const body = { ...bodyOf(form, config), ...(rule?.labels && { labels: rule.labels }) };
  const isGiven = body.rule_ref !== '' && form.expression.trim() !== '' && config !== null;
  const preview = usePreview(ADDRESS, isGiven ? { ...body, preview: true } : undefined);
  const before = rules?.find((/** @type {Rule} */ each) => each.rule_ref === body.rule_ref);
  const submit = () =>
    run(async () => {
      const { body: done } = await ask(ADDRESS, { method: 'POST', once, body });
      toast(html`Rule <bdi>${body.rule_ref}</bdi> ${done.landed ? 'is active.' : 'was accepted and takes effect in a moment.'}`);
      onDone();
      onClose();
    });
  const text = (field, label, rest = {}) => html`
    <${TextField} label=${label} value=${/** @type {any} */ (form)[field]} onValue=${set(field)}
      fault=${preview.faultOf(field)} ...${rest} />
  `;
  return html`
    <${Dialog}
      title=${rule === undefined ? `Add ${tab.label} rule` : 'Change rule'} wide onClose=${onClose} onSubmit=${submit}
      footer=${html`<${Button} onClick=${onClose}>Cancel<//><${Button} kind="main" type="submit" busy=${busy} disabled=${preview.answer === undefined}>${before === undefined ? 'Add rule' : 'Apply'}<//>`}
    >
      ${error !== undefined && html`<${Failed} error=${error} />`}
      <div class="form-row">
        ${text('rule_ref', 'Reference', { required: true, maxlength: 128, readonly: rule !== undefined, autofocus: rule === undefined, hint: 'Unique name. An existing rule with it is replaced.' })}
        ${text('name', 'Name', { maxlength: 256 })}
        <${SelectField} label="Action" value=${form.action} onValue=${set('action')}
          options=${tab.actions.map((action) => ({ value: action, label: action }))} />
        ${text('order', 'Order', { inputmode: 'numeric', hint: 'The lowest runs first; rules without an order run last.', pattern: '-?[0-9]*' })}
      </div>
      <${ExpressionField} kind=${kind} value=${form.expression} onValue=${set('expression')} required />
      <div class="form-row">
        ${text('short_description', 'Description', { maxlength: 2048 })}
        ${text('reason', 'Reason', { maxlength: 2048 })}
        <${SelectField} label="Written by" value=${form.type} onValue=${set('type')} options=${TYPES} />
        <${ExpiryField} value=${form.expires} onValue=${set('expires')} usual="Never" />
      </div>
      ${(form.action === 'ratelimit' || form.config !== '') && text('config', 'Config (JSON)', { rows: 3, fault: config === null ? 'is not a JSON object' : undefined, hint: html`For example <code>{"rateLimit":{"period":"60","duration":"600","requests":"100"}}</code>` })}
      <${WhatChanges} preview=${preview} isGiven=${isGiven} isFault=${isAtField(preview)} curl=${curlOf('POST', ADDRESS, body)}>
        ${(answer) => html`
          ${(answer.warnings ?? []).map((warning) => html`<${Notice} kind="warn" key=${warning}><span class="text">${warning}</span><//>`)}
          <${Difference} before=${before} after=${body} rules=${rules ?? []} />
        `}
      <//>
    <//>
  `;
}

/** @param {Preview} preview */
const isAtField = ({ faultOf }) => ['rule_ref', 'order', 'name', 'reason', 'expression'].some((field) => faultOf(field) !== undefined);

/** @param {{ before: Rule | undefined, after: Record<string, any>, rules: Rule[] }} props */
function Difference({ before, after, rules }) {
  if (before === undefined) {
    const ahead = rules.filter((each) => isAhead(each, after)).length;
    return html`<p>A new rule. ${ahead === 0 ? 'It runs first.' : `${count(ahead)} of ${counted(rules.length, 'rule')} run before it.`}</p>`;
  }
  const fields = ['action', 'expression', 'order', 'name', 'short_description', 'reason', 'type', 'config'];
  const shown = (value) => (value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value));
  const changes = fields
    .map((field) => ({ field, was: shown(/** @type {any} */ (before)[field]), is: shown(after[field]) }))
    .filter(({ was, is }) => was !== is);
  if (changes.length === 0) return html`<p>No changes.</p>`;
  return html`<p>Replaces the existing rule with this reference:</p><${Table} label="Changes" columns=${COLUMNS} rows=${changes}
    keyOf=${({ field }) => field} />`;
}

/** @type {Column<{ field: string, was: string, is: string }>[]} */
const COLUMNS = [
  { label: 'Field', cell: ({ field }) => field.replaceAll('_', ' ') },
  { label: 'Now', cell: ({ was }) => html`<bdi class="mono">${was || '–'}</bdi>` },
  { label: 'After', cell: ({ is }) => html`<bdi class="mono">${is || '–'}</bdi>` },
];

/** By order, then reference; rules without an order come last. @param {Rule} rule @param {Record<string, any>} other */
function isAhead({ order, rule_ref: ref }, other) {
  const [mine, its] = [order ?? Number.POSITIVE_INFINITY, other.order ?? Number.POSITIVE_INFINITY];
  return mine === its ? (ref ?? '') < other.rule_ref : mine < its;
}

/** @param {string} kind @param {string} type @param {string} expression @returns {Record<string, string>} */
const newForm = (kind, type, expression) => ({
  ...{
    kind,
    type,
    expression,
    action: 'block',
    rule_ref: '',
    order: '',
    name: '',
    short_description: '',
    reason: '',
    config: '',
    expires: '',
  },
});

/** @param {Rule} rule @returns {Record<string, string>} */
const formOf = (rule) => ({
  kind: rule.kind,
  type: rule.type ?? 'custom',
  expression: rule.expression ?? '',
  action: rule.action,
  rule_ref: rule.rule_ref ?? '',
  order: String(rule.order ?? ''),
  name: rule.name ?? '',
  short_description: rule.short_description ?? '',
  reason: rule.reason ?? '',
  config: rule.config === null ? '' : JSON.stringify(rule.config),
  expires: secondsLeft(rule.expires_at),
});

/** undefined for empty, null for anything but a JSON object. @param {string} text */
function configOf(text) {
  if (text.trim() === '') return undefined;
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** @param {Record<string, string>} form @param {object | null | undefined} config @returns {Record<string, any>} */
function bodyOf({ expires, order, rule_ref, config: _config, ...rest }, config) {
  const given = Object.fromEntries(Object.entries(rest).filter(([, text]) => text !== ''));
  return {
    ...given,
    rule_ref: rule_ref.trim(),
    ...(/^-?\d+$/.test(order.trim()) && { order: Number(order) }),
    ...(config && { config }),
    ...(expires !== '' && { expires_in: Number(expires) }),
  };
}
