import { FORMATS } from '../../tables.js';

/** @type {Record<string, string>} */
const OTHERS = {
  config: 'agent configuration',
  rules: 'rules',
  decisions: 'bouncer decisions',
  manage: 'management',
  access_rule: 'access rules',
  waf_rule: 'WAF rules',
  smart_firewall_rule: 'smart firewall rules',
};

/** @param {Pick<DeviceDocument, 'format'>} document */
export const isFeed = ({ format }) => FORMATS.includes(format);

/** @param {any} refusal @param {string | null} feedId */
export const isRefusedFeed = ({ feed_id: id, feed_name: name, format }, feedId) =>
  id === feedId && (id !== null || name === null) && (format === null || isFeed({ format }));

/** @param {Pick<DeviceDocument, 'format' | 'family' | 'action'>} document */
export const documentText = ({ format, family, action }) => [OTHERS[format] ?? format, family, action].filter(Boolean).join(', ');
