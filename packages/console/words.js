import { FORMATS } from './formats.js';

export const FAMILIES = ['both', 'v4', 'v6'];
export const ACTIONS = ['block', 'allow'];
export const LEVELS = ['low', 'medium', 'high', 'critical'];

export const TARGETS = [
  'pan-os',
  'pan-os-large',
  'fortios-7.4.3',
  'fortios',
  'check-point',
  'check-point-ioc',
  'cisco-fmc',
  'srx',
  'sophos',
  'sonicwall-tz',
  'sonicwall-nsa',
  'opnsense',
  'mikrotik',
  'nftables',
  'ipset',
];

const choices = (values) => [{ value: '', label: 'not set' }, ...values.map((value) => ({ value, label: value }))];

/** @type {{ field: string, label: string, hint?: string, longest?: number, options?: { value: string, label: string }[] }[]} */
export const LIST_SETTINGS = [
  { field: 'description', label: 'Description', hint: 'In the header of the format commented.', longest: 2048 },
  { field: 'format', label: 'Format', options: choices(FORMATS) },
  { field: 'family', label: 'Family', options: choices(FAMILIES) },
  { field: 'action', label: 'Action', options: choices(ACTIONS) },
  { field: 'max_entries', label: 'Entry cap', hint: 'When not set: what the device takes, else 131,072.' },
  { field: 'confidence', label: 'Confidence', options: choices(LEVELS) },
  { field: 'severity', label: 'Severity', options: choices(LEVELS) },
  { field: 'subtract_allow', label: 'Cut out never-block rules', options: choices(['on', 'workspace', 'off']) },
  { field: 'target', label: 'Device', hint: 'Gives what is not set here: format, family, cap.', options: choices(TARGETS) },
  { field: 'host_style', label: 'Addresses', hint: 'bare: single addresses without a prefix length.', options: choices(['cidr', 'bare']) },
  { field: 'single_addresses', label: 'Single addresses', hint: 'Networks of up to so many addresses come as single ones.' },
  {
    field: 'origins',
    label: 'Bouncers count by',
    hint: 'lists: they are told of which list each network is.',
    options: choices(['weir', 'lists']),
  },
];

/** @type {typeof LIST_SETTINGS} */
export const FEED_SETTINGS = [
  ...LIST_SETTINGS,
  { field: 'min_sources', label: 'Lists that have to agree', hint: 'An address is blocked when so many independent lists have it.' },
  {
    field: 'fit',
    label: 'Over its cap',
    hint: 'lists: the last ones are left out; sources: more have to agree. What is left out is told.',
    options: choices(['none', 'lists', 'sources']),
  },
];

export const PERMISSIONS = [
  { value: 'signal:write', label: 'Send signals', whole: false },
  { value: 'feed:read', label: 'Pull feeds', whole: false },
  { value: 'rules:read', label: 'Read rules', whole: false },
  { value: 'config:read', label: 'Read the configuration of agents', whole: false },
  { value: 'rules:write', label: 'Change rules', whole: true },
  { value: 'manage', label: 'Manage lists, feeds and settings', whole: true },
  { value: 'keys:write', label: 'Make and revoke keys', whole: true },
];

/** @type {{ value: string, label: string, permissions: string[] }[]} */
export const ROLES = [
  {
    value: 'viewer',
    label: 'Viewer: sees rules, feeds and what pulls them, changes nothing',
    permissions: ['feed:read', 'rules:read', 'config:read'],
  },
  {
    value: 'operator',
    label: 'Operator: blocks, allows, undoes',
    permissions: ['feed:read', 'rules:read', 'config:read', 'signal:write', 'rules:write'],
  },
  { value: 'admin', label: 'Admin: everything', permissions: PERMISSIONS.map(({ value }) => value) },
];

export const WEBHOOK_STYLES = [
  { value: 'weir', label: 'Slack, Mattermost, programs (weir)' },
  { value: 'teams', label: 'Microsoft Teams (teams)' },
  { value: 'pagerduty', label: 'PagerDuty (pagerduty)' },
];
