/** What devices get: feeds, and what agents and programs pull besides, in words. */
import { FORMATS } from '../../formats.js';

/** @typedef {import('../devices.js').Device['documents'][number]} Document */

/** Documents that are no feeds. @type {Record<string, string>} */
const OTHERS = {
  config: 'the configuration of agents',
  rules: 'rules',
  decisions: 'decisions of bouncers',
  manage: 'management',
  access_rule: 'access rules as they are stored',
  waf_rule: 'WAF rules',
  smart_firewall_rule: 'smart firewall rules',
};

/** Whether it is a feed. @param {Pick<Document, 'format'>} document */
export const isFeed = ({ format }) => FORMATS.includes(format);

/** Whether this feed is refused; null: the workspace's. @param {any} refusal @param {string | null} feedId */
export const isRefusedFeed = ({ feed_id: id, feed_name: name, format }, feedId) =>
  id === feedId && (id !== null || name === null) && (format === null || isFeed({ format }));

/** What of all that a feed or the workspace has it is. @param {Pick<Document, 'format' | 'family' | 'action'>} document */
export const documentText = ({ format, family, action }) => [OTHERS[format] ?? format, family, action].filter(Boolean).join(', ');
