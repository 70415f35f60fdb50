import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { allPages, manage } from '../../api.js';
import { useLiveWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { FormDialog } from '../../ui/dialog.js';
import { TextField } from '../../ui/field.js';
import { useFields } from '../../ui/form.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
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

/** @param {{ kind: string, type: string, expression?: string, rule?: Rule, onClose: () => void, onDone: () => void }} props `rule`: to change. */
export function ExpressionRuleForm({ kind, type, expression = '', rule, onClose, onDone }) {
  const {
    values,
    set,
    body: given,
    input,
  } = useFields('putExpressionRule', {
    ...(rule ?? { type, action: 'block', expression }),
    ...{ kind, expires_in: secondsLeft(rule?.expires_at ?? null) },
  });
  const [configText, setConfig] = useState(rule?.config ? JSON.stringify(rule.config) : '');
  const { value: rules } = useLiveWork(`rules ${kind}`, () => allPages('/rules', 'rules', { kind }), { every: 60_000 });
  const tab = RULE_TABS.find((each) => each.kind === kind) ?? RULE_TABS[1];
  const config = configOf(configText);
  const body = { ...given, ...(config && { config }), ...(rule?.labels && { labels: rule.labels }) };
  const isGiven = body.rule_ref !== undefined && body.expression !== undefined && config !== null;
  const preview = usePreview(ADDRESS, isGiven ? { ...body, preview: true } : undefined);
  const before = rules?.find((/** @type {Rule} */ each) => each.rule_ref === body.rule_ref);
  const field = (name, rest = {}) => input(name, { hint: undefined, fault: preview.faultOf(name), ...rest });
  return html`
    <${FormDialog} title=${rule === undefined ? `Add ${tab.label} rule` : 'Change rule'} wide action=${before === undefined ? 'Add rule' : 'Apply'} request=${{ address: ADDRESS, body }}
      done=${({ landed }) => html`Rule <bdi>${body.rule_ref}</bdi> ${landed ? 'is active.' : 'was accepted and takes effect in a moment.'}`}
      onDone=${onDone} onClose=${onClose} disabled=${preview.answer === undefined}>
      <div class="form-row">
        ${field('rule_ref', { required: true, readonly: rule !== undefined, autofocus: rule === undefined, hint: 'Unique name. An existing rule with it is replaced.' })}
        ${field('name')}
        ${field('action', { options: tab.actions })}
        ${field('order', { hint: 'The lowest runs first; rules without an order run last.' })}
      </div>
      <${ExpressionField} kind=${kind} value=${values.expression} onValue=${(text) => set({ expression: text })} required />
      <div class="form-row">
        ${field('short_description')}${field('reason')}${field('type', { options: TYPES })}
        <${ExpiryField} value=${values.expires_in} onValue=${(expires) => set({ expires_in: expires })} usual="Never" />
      </div>
      ${(values.action === 'ratelimit' || configText !== '') && html`<${TextField} label="Config (JSON)" rows=${3} value=${configText} onValue=${setConfig} fault=${config === null ? 'is not a JSON object' : undefined} hint=${html`For example <code>{"rateLimit":{"period":"60","duration":"600","requests":"100"}}</code>`} />`}
      <${WhatChanges} preview=${preview} isGiven=${isGiven} isFault=${isAtField(preview)}>
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
  const valueText = (value) =>
    value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  const changes = fields
    .map((field) => ({ field, was: valueText(/** @type {any} */ (before)[field]), is: valueText(after[field]) }))
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
