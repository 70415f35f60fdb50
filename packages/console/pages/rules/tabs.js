import { RULE_ACTIONS } from '../../tables.js';

/** @type {readonly RuleTab[]} */
export const RULE_TABS = [
  {
    path: 'access',
    label: 'Access',
    kind: 'access_rule',
    actions: RULE_ACTIONS.access_rule,
    about: 'Addresses, networks, ASNs and countries to block or never block.',
  },
  {
    path: 'waf',
    label: 'WAF',
    kind: 'waf_rule',
    actions: RULE_ACTIONS.waf_rule,
    about: 'Filter expressions on HTTP requests, in order of enforcement.',
  },
  {
    path: 'smart-firewall',
    label: 'Smart firewall',
    kind: 'smart_firewall_rule',
    actions: RULE_ACTIONS.smart_firewall_rule,
    about: 'Filter expressions on packets, in order of enforcement.',
  },
];

export const RULE_TYPES = [
  { path: 'custom', label: 'Custom', type: 'custom' },
  { path: 'ai', label: 'AI', type: 'generated' },
];

/** @param {{ kind: string, type?: string }} rule @returns {string[]} */
export function tabOf({ kind, type }) {
  const tab = RULE_TABS.find((each) => each.kind === kind) ?? RULE_TABS[0];
  return tab.kind === 'access_rule' ? [tab.path] : [tab.path, type === 'generated' ? 'ai' : 'custom'];
}

/** @param {Rule} rule */
export const nameOf = (rule) => rule.target ?? rule.name ?? rule.rule_ref ?? String(rule.id);
