import { html } from 'htm/preact';
import { may } from '../../session.js';
import { BlockForm } from './block.js';
import { ChangeRules } from './change-rules.js';
import { DeleteRules } from './delete-rules.js';
import { TryExpression } from './expression.js';
import { ExpressionRuleForm } from './expression-rule.js';
import { OrderRules } from './order.js';
import { PasteForm } from './paste/list.js';
import { ReportForm } from './paste/report.js';
import { RuleDialog } from './rule-dialog.js';
import { UnblockForm } from './unblock.js';

/**
 * @param {{ open: RulesForm, onOpen: (open: RulesForm | undefined) => void, tab: RuleTab, type: string,
 * names: Names, session: Session, onDone: () => Promise<void> }} props
 */
export function Opened({ open, onOpen, tab, type, names, session, onDone }) {
  const isAccess = tab.kind === 'access_rule';
  const close = () => onOpen(undefined);
  const opened = { names, session, onClose: close, onDone };
  return html`
    ${
      open.name === 'rule' &&
      html`<${RuleDialog} key=${open.rule.id} rule=${open.rule}
      onChange=${(/** @type {Rule} */ rule) => onOpen(isAccess ? { name: 'edit', selection: { kind: rule.kind, ids: [rule.id] } } : { name: 'change', rule })} ...${opened} />`
    }
    ${open.name === 'block' && html`<${BlockForm} ...${opened} />`}
    ${open.name === 'unblock' && html`<${UnblockForm} ...${opened} />`}
    ${open.name === 'paste' && html`<${PasteForm} ...${opened} />`}
    ${open.name === 'report' && html`<${ReportForm} text=${open.text ?? ''} ...${opened} />`}
    ${open.name === 'delete' && html`<${DeleteRules} conditions=${open.selection} ...${opened} />`}
    ${open.name === 'edit' && html`<${ChangeRules} selection=${open.selection} ...${opened} />`}
    ${
      open.name === 'try' &&
      html`<${TryExpression} kind=${tab.kind} onClose=${close}
      onUse=${may(session, 'rules:write') ? (kind, expression) => onOpen({ name: 'use', kind, expression }) : undefined} />`
    }
    ${open.name === 'order' && html`<${OrderRules} kind=${tab.kind} onClose=${close} onDone=${onDone} />`}
    ${open.name === 'add' && html`<${ExpressionRuleForm} kind=${tab.kind} type=${type} ...${opened} />`}
    ${open.name === 'use' && html`<${ExpressionRuleForm} kind=${open.kind} type="custom" expression=${open.expression} ...${opened} />`}
    ${open.name === 'change' && html`<${ExpressionRuleForm} kind=${open.rule.kind} type="custom" rule=${open.rule} ...${opened} />`}
  `;
}
