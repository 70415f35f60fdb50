/** The rules of the workspace, kind by kind, in the order in which they are enforced. */

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api.js';
import { count } from '../format.js';
import { useKeyset } from '../keyset.js';
import { useNames } from '../names.js';
import { link, useDo } from '../router.js';
import { may } from '../session.js';
import { Button } from '../ui/button.js';
import { LongList } from '../ui/long-list.js';
import { PageHead } from '../ui/page-head.js';
import { Empty, Failed, Loading, Notice } from '../ui/states.js';
import { Tabs } from '../ui/tabs.js';
import { Ago, Countdown } from '../ui/time.js';
import { Action } from './rules/action.js';
import { BlockForm } from './rules/block.js';
import { DeleteRules } from './rules/delete-rules.js';
import { TryExpression } from './rules/expression.js';
import { ExpressionRuleForm } from './rules/expression-rule.js';
import { conditionsOf, isNarrow, RuleFilter } from './rules/filter.js';
import { OrderRules } from './rules/order.js';
import { PasteForm } from './rules/paste.js';
import { RuleDialog } from './rules/rule-dialog.js';
import { RULE_TABS, RULE_TYPES } from './rules/tabs.js';
import { UnblockForm } from './rules/unblock.js';

/** @typedef {import('./rules/tabs.js').Rule} Rule */
/** @typedef {{ name: 'block' | 'unblock' | 'paste' | 'try' | 'add' | 'delete' | 'order' } | { name: 'rule' | 'change', rule: Rule } | { name: 'use', kind: string, expression: string }} Open What is open above the page. */

/** Rules of a page. */
const LIMIT = 500;

/** @param {import('../pages.js').PageProps} props */
export function Page({ session, place }) {
  const [open, setOpen] = useState(/** @type {Open | undefined} */ (undefined));
  const names = useNames(session);
  const tab = RULE_TABS.find(({ path }) => path === place.parts[0]) ?? RULE_TABS[0];
  const isAccess = tab.kind === 'access_rule';
  const type = RULE_TYPES.find(({ path }) => path === place.parts[1]) ?? RULE_TYPES[0];
  const narrowing = conditionsOf(place.query, isAccess);
  const conditions = { kind: tab.kind, ...(!isAccess && { type: type.type }), ...narrowing };
  const rules = useKeyset('/rules', 'rules', conditions, { limit: LIMIT, keyOf });

  useDo(place, (name) => {
    if (name === 'block' || name === 'unblock' || name === 'paste') setOpen({ name });
  });
  const close = () => setOpen(undefined);
  const opened = { names, session, onClose: close, onDone: rules.refresh };
  const actions = isAccess ? accessActions(session, setOpen) : expressionActions(session, setOpen);
  return html`
    <${PageHead} title="Rules" actions=${actions}>${tab.about}<//>
    <div class="stack">
      <${Tabs} label="Kinds of rules"
        tabs=${RULE_TABS.map((each) => ({ href: link('/rules', each.path), label: each.label, current: each === tab }))} />
      ${
        !isAccess &&
        html`<${Tabs} label="Who wrote them"
          tabs=${RULE_TYPES.map((each) => ({ href: link('/rules', tab.path, each.path), label: each.label, current: each === type }))} />`
      }
    </div>
    <${RuleFilter} key=${tab.path} query=${place.query} isAccess=${isAccess} actions=${tab.actions} names=${names}
      faultOf=${faultsOf(rules.error)} />
    <${Found} rules=${rules} tab=${tab} isFiltered=${isNarrow(narrowing)} names=${names} onRule=${(/** @type {Rule} */ rule) => setOpen({ name: 'rule', rule })}
      onDelete=${may(session, 'rules:write') ? () => setOpen({ name: 'delete' }) : undefined} mayWrite=${may(session, 'rules:write')} onAdd=${() => setOpen({ name: isAccess ? 'block' : 'add' })} />
    ${
      open?.name === 'rule' &&
      html`<${RuleDialog} key=${open.rule.id} rule=${open.rule}
      onChange=${(/** @type {Rule} */ rule) => setOpen({ name: 'change', rule })} ...${opened} />`
    }
    ${open?.name === 'block' && html`<${BlockForm} ...${opened} />`}
    ${open?.name === 'unblock' && html`<${UnblockForm} ...${opened} />`}
    ${open?.name === 'paste' && html`<${PasteForm} ...${opened} />`}
    ${open?.name === 'delete' && html`<${DeleteRules} conditions=${given(conditions)} ...${opened} />`}
    ${
      open?.name === 'try' &&
      html`<${TryExpression} kind=${tab.kind} onClose=${close}
      onUse=${may(session, 'rules:write') ? (/** @type {string} */ kind, /** @type {string} */ expression) => setOpen({ name: 'use', kind, expression }) : undefined} />`
    }
    ${open?.name === 'order' && html`<${OrderRules} kind=${tab.kind} onClose=${close} onDone=${rules.refresh} />`}
    ${open?.name === 'add' && html`<${ExpressionRuleForm} kind=${tab.kind} type=${type.type} ...${opened} />`}
    ${open?.name === 'use' && html`<${ExpressionRuleForm} kind=${open.kind} type="custom" expression=${open.expression} ...${opened} />`}
    ${open?.name === 'change' && html`<${ExpressionRuleForm} kind=${open.rule.kind} type="custom" rule=${open.rule} ...${opened} />`}
  `;
}

const keyOf = (/** @type {Rule} */ { id }) => id;
/** Without what is not given. @param {Record<string, any>} conditions */
const given = (conditions) => Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined));

/** @param {import('../session.js').Session} session @param {(open: Open) => void} open */
const accessActions = (session, open) =>
  may(session, 'rules:write') &&
  html`
    <${Button} onClick=${() => open({ name: 'paste' })}>Paste a list<//>
    <${Button} onClick=${() => open({ name: 'unblock' })}>Unblock<//>
    <${Button} kind="main" icon="plus" onClick=${() => open({ name: 'block' })}>Block or allow<//>
  `;

/** @param {import('../session.js').Session} session @param {(open: Open) => void} open */
const expressionActions = (session, open) => html`
  ${may(session, 'rules:write') && html`<${Button} onClick=${() => open({ name: 'order' })}>Change the order<//>`}
  <${Button} onClick=${() => open({ name: 'try' })}>Try an expression<//>
  ${may(session, 'rules:write') && html`<${Button} kind="main" icon="plus" onClick=${() => open({ name: 'add' })}>Add a rule<//>`}
`;

/** What is wrong with the conditions, at their fields. @param {Error | undefined} error */
const faultsOf = (error) => (/** @type {string} */ field) =>
  error instanceof ApiError ? error.faults.find((fault) => fault.field === field)?.message : undefined;

/**
 * @param {{ rules: import('../keyset.js').Keyset, tab: import('./rules/tabs.js').RuleTab, isFiltered: boolean, names: import('../names.js').Names,
 *   onRule: (rule: Rule) => void, onDelete?: () => void, mayWrite: boolean, onAdd: () => void }} props
 */
function Found({ rules: { items, isWhole, error, refresh, onSight }, tab, isFiltered, names, onRule, onDelete, mayWrite, onAdd }) {
  const isFault = error instanceof ApiError && error.faults.length > 0;
  if (isFault) return html`<p class="soft">Mend the conditions above to see rules.</p>`;
  if (items === undefined) return error === undefined ? html`<${Loading} />` : html`<${Failed} error=${error} retry=${refresh} />`;
  if (items.length === 0 && !isWhole) return html`<${Loading} />`;
  if (items.length === 0) return isFiltered ? html`<${NoneFound} />` : html`<${NoRules} tab=${tab} mayWrite=${mayWrite} onAdd=${onAdd} />`;
  const isAccess = tab.kind === 'access_rule';
  return html`
    ${error !== undefined && html`<${Notice} kind="warn">${error.message} What you see is older.<//>`}
    <div class="stack">
      <div class="list-head">
        <p class="small soft" role="status">${isWhole ? `${count(items.length)} ${items.length === 1 ? 'rule' : 'rules'}` : `The first ${count(items.length)} rules; more are read as you scroll`}</p>
        ${isFiltered && onDelete !== undefined && html`<${Button} tiny kind="danger" icon="trash" onClick=${onDelete}>Delete these<//>`}
      </div>
      <${LongList}
        key=${tab.path} label="Rules" columns=${isAccess ? accessColumns(names) : EXPRESSION_COLUMNS} rows=${items} keyOf=${keyOf} onRow=${onRule}
        onSight=${onSight} total=${isWhole ? items.length : -1}
      />
    </div>
  `;
}

const NoneFound = () =>
  html`<${Empty} icon="search" title="No rule meets these conditions"><p>Take some away, or look for rules "covering this" to find networks around an address.</p><//>`;

/** @param {{ tab: import('./rules/tabs.js').RuleTab, mayWrite: boolean, onAdd: () => void }} props */
const NoRules = ({ tab, mayWrite, onAdd }) => html`
  <${Empty} icon="rules" title=${`No ${tab.label} rules yet`}>
    <p>Signals make them: POST /v1/signal or /v2/signal. They show here as soon as they have landed.</p>
    ${mayWrite && html`<p><${Button} kind="main" icon="plus" onClick=${onAdd}>${tab.kind === 'access_rule' ? 'Block an address' : 'Add a rule'}<//></p>`}
  <//>
`;

/** @param {import('../names.js').Names} names @returns {import('../ui/long-list.js').LongColumn<Rule>[]} */
const accessColumns = (names) => [
  { label: 'Target', width: 'minmax(9rem, 1.4fr)', cell: ({ target }) => html`<bdi class="mono">${target}</bdi>` },
  { label: 'Action', width: '4.5rem', cell: ({ action }) => html`<${Action} action=${action} />` },
  { label: 'List', width: 'minmax(5rem, 0.8fr)', secondary: true, cell: ({ list_id: id }) => html`<bdi>${names.listName(id)}</bdi>` },
  { label: 'Reason', width: 'minmax(6rem, 2fr)', secondary: true, cell: ({ reason, name }) => html`<bdi>${reason ?? name ?? ''}</bdi>` },
  {
    label: 'Sent by',
    width: 'minmax(5rem, 0.8fr)',
    secondary: true,
    cell: ({ key_id: id, actor }) => html`<bdi class="soft">${actor ?? names.keyName(id)}</bdi>`,
  },
  { label: 'Changed', width: '6.5rem', number: true, secondary: true, cell: ({ updated_at: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Expires in',
    width: '6.5rem',
    number: true,
    cell: ({ expires_at: until }) => html`<${Countdown} until=${until} forever="never" />`,
  },
];

/** @type {import('../ui/long-list.js').LongColumn<Rule>[]} */
const EXPRESSION_COLUMNS = [
  {
    label: 'Order',
    width: '4rem',
    number: true,
    cell: ({ order }) => (order === null || order === undefined ? html`<span class="soft">–</span>` : count(order)),
  },
  {
    label: 'Rule',
    width: 'minmax(6rem, 1fr)',
    cell: ({ name, rule_ref: ref, warning }) =>
      html`<bdi>${name ?? ref}</bdi>${warning !== undefined && html` <span class="badge warn">warning</span>`}`,
  },
  { label: 'Action', width: '5.5rem', cell: ({ action }) => html`<${Action} action=${action} />` },
  {
    label: 'Expression',
    width: 'minmax(8rem, 2.5fr)',
    secondary: true,
    cell: ({ expression }) => html`<bdi class="mono">${expression}</bdi>`,
  },
  { label: 'Changed', width: '6.5rem', number: true, secondary: true, cell: ({ updated_at: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Expires in',
    width: '6.5rem',
    number: true,
    secondary: true,
    cell: ({ expires_at: until }) => html`<${Countdown} until=${until} forever="never" />`,
  },
];
