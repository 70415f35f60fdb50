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

const choices = (values) => [{ value: '', label: 'Default' }, ...values.map((value) => ({ value, label: value }))];

/** @type {{ field: string, label: string, hint?: string, longest?: number, options?: { value: string, label: string }[] }[]} */
export const LIST_SETTINGS = [
  { field: 'description', label: 'Description', hint: 'Shown in the header of the format commented.', longest: 2048 },
  { field: 'format', label: 'Format', options: choices(FORMATS) },
  { field: 'family', label: 'Family', options: choices(FAMILIES) },
  { field: 'action', label: 'Action', options: choices(ACTIONS) },
  { field: 'max_entries', label: 'Entry limit', hint: 'Default: that of the device, else 131,072.' },
  { field: 'confidence', label: 'Confidence', options: choices(LEVELS) },
  { field: 'severity', label: 'Severity', options: choices(LEVELS) },
  { field: 'subtract_allow', label: 'Subtract never-block rules', options: choices(['on', 'workspace', 'off']) },
  { field: 'target', label: 'Device', hint: 'Sets the defaults for format, family and limit.', options: choices(TARGETS) },
  {
    field: 'host_style',
    label: 'Address style',
    hint: 'bare: single addresses without a prefix length.',
    options: choices(['cidr', 'bare']),
  },
  { field: 'single_addresses', label: 'Single addresses', hint: 'For bouncers: the largest network to split into single addresses.' },
  {
    field: 'origins',
    label: 'Bouncers count by',
    hint: 'lists: bouncers get the list of each network.',
    options: choices(['weir', 'lists']),
  },
];

/** @type {typeof LIST_SETTINGS} */
export const FEED_SETTINGS = [
  ...LIST_SETTINGS,
  { field: 'min_sources', label: 'Minimum number of lists', hint: 'Block an address only if this many independent lists contain it.' },
  {
    field: 'fit',
    label: 'If over the limit',
    hint: 'lists: leave out the last lists; sources: require more lists to agree; none: publish nothing.',
    options: choices(['none', 'lists', 'sources']),
  },
];

export const PERMISSIONS = [
  { value: 'signal:write', label: 'Send signals', whole: false },
  { value: 'feed:read', label: 'Fetch feeds', whole: false },
  { value: 'rules:read', label: 'Read rules', whole: false },
  { value: 'config:read', label: 'Read agent configuration', whole: false },
  { value: 'rules:write', label: 'Change rules', whole: true },
  { value: 'manage', label: 'Manage lists, feeds and settings', whole: true },
  { value: 'keys:write', label: 'Create and revoke keys', whole: true },
];

/** @type {{ value: string, label: string, permissions: string[] }[]} */
export const ROLES = [
  {
    value: 'viewer',
    label: 'Viewer: sees everything, changes nothing',
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
