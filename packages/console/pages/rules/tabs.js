/** The kinds of rules as the console shows them. */

/**
 * @typedef {object} RuleTab
 * @property {string} path Below /rules.
 * @property {string} label
 * @property {'access_rule' | 'waf_rule' | 'smart_firewall_rule'} kind
 * @property {readonly string[]} actions What a rule of the kind may ask for.
 * @property {string} about What such rules are.
 */

/** @type {readonly RuleTab[]} */
export const RULE_TABS = [
  {
    path: 'access',
    label: 'Access',
    kind: 'access_rule',
    actions: ['block', 'allow'],
    about: 'Addresses, networks, ASNs and countries that feeds block, or never block.',
  },
  {
    path: 'waf',
    label: 'WAF',
    kind: 'waf_rule',
    actions: ['block', 'challenge', 'ratelimit', 'allow'],
    about: 'Filter expressions over HTTP requests, in the order in which agents enforce them.',
  },
  {
    path: 'smart-firewall',
    label: 'Smart firewall',
    kind: 'smart_firewall_rule',
    actions: ['block', 'allow'],
    about: 'Filter expressions over packets, in the order in which agents enforce them.',
  },
];

/** Who wrote expression rules: a person or a playbook, or a classifier. */
export const RULE_TYPES = [
  { path: 'custom', label: 'Custom', type: 'custom' },
  { path: 'ai', label: 'AI', type: 'generated' },
];

/**
 * The tab that a rule of some kind and type is in, as parts of an address.
 * @param {{ kind: string, type?: string }} rule
 * @returns {string[]}
 */
export function tabOf({ kind, type }) {
  const tab = RULE_TABS.find((each) => each.kind === kind) ?? RULE_TABS[0];
  return tab.kind === 'access_rule' ? [tab.path] : [tab.path, type === 'generated' ? 'ai' : 'custom'];
}

/**
 * @typedef {object} Rule A rule as the management API has it.
 * @property {number} id
 * @property {string} kind
 * @property {string | null} rule_ref
 * @property {string | null} name
 * @property {string} [list_id]
 * @property {string} [target]
 * @property {string | null} [confidence]
 * @property {string | null} [severity]
 * @property {string} [type]
 * @property {string} [expression]
 * @property {number | null} [order]
 * @property {string | null} [short_description]
 * @property {string} action
 * @property {string | null} reason
 * @property {Record<string, unknown> | null} labels
 * @property {Record<string, unknown> | null} config
 * @property {string | null} expires_at
 * @property {string} created_at
 * @property {string} updated_at
 * @property {string | null} batch_id
 * @property {string | null} key_id
 * @property {string | null} [key_name]
 * @property {string} [actor] The person who sent it, where he was named.
 * @property {string} [person] The provider that has named him, and who that is there.
 * @property {string} [warning]
 */

/** What a rule is called. @param {Rule} rule */
export const nameOf = (rule) => rule.target ?? rule.name ?? rule.rule_ref ?? String(rule.id);
