import { FORMATS } from '../../formats.js';

/** @type {Record<string, string>} */
const OTHERS = {
  config: 'the configuration of agents',
  rules: 'rules',
  decisions: 'decisions of bouncers',
  manage: 'management',
  access_rule: 'access rules as they are stored',
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
