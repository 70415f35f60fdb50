import { dateTime, sentence } from '../../format.js';
import { helpAt, link } from '../../router.js';
import { may } from '../../session.js';
import { linkToFeed } from '../feeds/read-feeds.js';

/**
 * By prefix of an alert's key; `href` gets the rest of the key.
 * @type {readonly { begins: string, states?: readonly string[], permission: string, action: string, href: (of: string, feedOf: (id: string | null) => Pick<FeedRow, 'kind' | 'id'>) =>
 *   string }[]}
 */
const PLACES = [
  {
    begins: 'feed/',
    states: ['over_cap', 'near_cap'],
    permission: 'manage',
    action: 'Raise limit',
    href: (of, feedOf) => `${feedHref(of, feedOf)}?do=edit`,
  },
  { begins: 'feed/', permission: 'rules:read', action: 'Review', href: feedHref },
  { begins: 'source/', states: ['stopped', 'paused'], permission: 'manage', action: 'Resume', href: (id) => link('/sources', id) },
  { begins: 'source/', permission: 'rules:read', action: 'Review', href: (id) => link('/sources', id) },
  { begins: 'webhook/', permission: 'manage', action: 'Review', href: () => link('/webhooks') },
  { begins: 'device/', permission: 'rules:read', action: 'Review', href: deviceHref },
  { begins: 'device-cap/', permission: 'rules:read', action: 'Review', href: deviceHref },
  { begins: 'bouncer/', permission: 'rules:read', action: 'Review', href: () => link('/bouncers') },
  { begins: 'dead_letters', permission: 'manage', action: 'Review', href: () => link('/dead-letters') },
  { begins: 'guard_rails', permission: 'manage', action: 'Set guard rails', href: () => link('/workspace') },
  { begins: 'guard_rails', permission: 'rules:read', action: 'Review', href: () => link('/workspace') },
  { begins: 'key/', permission: 'keys:write', action: 'Review', href: () => link('/keys') },
  { begins: 'geo/', permission: 'rules:read', action: 'Review', href: () => link('/geo') },
  // Alerts of the service itself are for its operator.
  { begins: 'landing', permission: 'rules:read', action: 'How to fix', href: () => helpAt('docs/deployment.md#when-landing-has-stopped') },
  { begins: '', permission: 'rules:read', action: 'How to fix', href: () => helpAt('docs/operating.md#alerts') },
];

/** @param {string} of Workspace, feed, action, family. @param {(id: string | null) => Pick<FeedRow, 'kind' | 'id'>} feedOf */
function feedHref(of, feedOf) {
  const id = of.split('/')[1] ?? 'workspace';
  return linkToFeed(feedOf(id === 'workspace' ? null : id));
}

/** @param {string} id */
function deviceHref(id) {
  return `${link('/devices')}?${new URLSearchParams({ id })}`;
}

/** @param {AlertItem} item @param {Session} session @param {(id: string | null) => Pick<FeedRow, 'kind' | 'id'>} feedOf */
export function placeOf({ key, state }, session, feedOf) {
  const place = PLACES.find(
    ({ begins, states = [state], permission }) => key.startsWith(begins) && states.includes(state) && may(session, permission),
  );
  return place && { href: place.href(key.slice(place.begins.length), feedOf), action: place.action };
}

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const DOCUMENT = / \((docs\/[\w-]+\.md)\)/;

/** With instants in the reader's time zone, and without the document it names. @param {AlertItem} item */
export function sentenceOf({ text }) {
  const dated = text.replace(DOCUMENT, '').replaceAll(INSTANT, (at) => dateTime(at));
  return sentence(`${dated.charAt(0).toUpperCase()}${dated.slice(1)}`);
}

/** The document that an alert names. @param {AlertItem} item */
export const documentOf = ({ text }) => DOCUMENT.exec(text)?.[1];
