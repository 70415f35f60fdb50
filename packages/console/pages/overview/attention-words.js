import { dateTime, sentence } from '../../format.js';
import { helpAt, link } from '../../router.js';
import { may } from '../../session.js';
import { linkToFeed } from '../feeds/read-feeds.js';

/** The workspace's feed has no limit of its own. */
const OWN_LIMIT = /^feed\/[^/]+\/(?!workspace\/)/;

/** @typedef {(id: string | null) => Pick<FeedRow, 'kind' | 'id'> & { name?: string | undefined }} FeedOf `name` empty: not known yet. */

/**
 * By prefix or pattern of an alert's key; `href` gets the key after its first part.
 * @type {readonly { of: string | RegExp, states?: readonly string[], permission: string, action: string, href: (of: string, feedOf: FeedOf) => string | undefined }[]}
 */
const PLACES = [
  {
    of: OWN_LIMIT,
    states: ['over_cap', 'near_cap'],
    permission: 'manage',
    action: 'Raise limit',
    href: (of, feedOf) => feedHref(of, feedOf, '?do=edit'),
  },
  { of: 'freeze/', states: ['frozen'], permission: 'manage', action: 'Thaw', href: (of, feedOf) => feedHref(of, feedOf, '?do=thaw') },
  { of: 'freeze/', permission: 'rules:read', action: 'Review', href: feedHref },
  { of: 'feed/', permission: 'rules:read', action: 'Review', href: feedHref },
  {
    of: 'source/',
    states: ['stopped', 'paused'],
    permission: 'manage',
    action: 'Resume',
    href: (id) => `${link('/sources', id)}?do=resume`,
  },
  { of: 'source/', permission: 'rules:read', action: 'Review', href: (id) => link('/sources', id) },
  { of: 'webhook/', permission: 'manage', action: 'Review', href: () => link('/webhooks') },
  { of: 'device/', permission: 'rules:read', action: 'Review', href: deviceHref },
  { of: 'device-cap/', permission: 'rules:read', action: 'Review', href: deviceHref },
  { of: 'bouncer/', permission: 'rules:read', action: 'Review', href: () => link('/bouncers') },
  { of: 'approvals/', permission: 'rules:read', action: 'Review', href: () => link('/approvals') },
  { of: 'dead_letters', permission: 'manage', action: 'Review', href: () => link('/dead-letters') },
  { of: 'guard_rails', permission: 'manage', action: 'Set guard rails', href: () => link('/workspace') },
  { of: 'guard_rails', permission: 'rules:read', action: 'Review', href: () => link('/workspace') },
  { of: 'key/', permission: 'keys:write', action: 'Review', href: () => link('/keys') },
  { of: 'geo/', permission: 'rules:read', action: 'Review', href: () => link('/geo') },
  // Alerts of the service itself are for its operator.
  { of: 'landing', permission: 'rules:read', action: 'How to fix', href: () => helpAt('docs/deployment.md#when-landing-has-stopped') },
  { of: '', permission: 'rules:read', action: 'How to fix', href: () => helpAt('docs/operating.md#alerts') },
];

/** @param {string} of Workspace, feed, action, family. @param {FeedOf} feedOf @param {string} [query] */
function feedHref(of, feedOf, query = '') {
  const id = of.split('/')[1] ?? 'workspace';
  const feed = feedOf(id === 'workspace' ? null : id);
  return feed.name === '' ? undefined : `${linkToFeed(feed)}${query}`;
}

/** @param {string} id */
function deviceHref(id) {
  return `${link('/devices')}?${new URLSearchParams({ id })}`;
}

/** @param {AlertItem} item @param {Session} session @param {FeedOf} feedOf */
export function placeOf({ key, state }, session, feedOf) {
  const place = PLACES.find(
    ({ of, states = [state], permission }) =>
      (typeof of === 'string' ? key.startsWith(of) : of.test(key)) && states.includes(state) && may(session, permission),
  );
  const href = place?.href(key.slice(key.indexOf('/') + 1), feedOf);
  return place && href !== undefined ? { href, action: place.action } : undefined;
}

const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const DOCUMENT = / \((docs\/[\w-]+\.md)\)/;
const COMMAND = / \(weir [^)]*\)$/;

/** With instants in the reader's time zone, and without the document and the command it names. @param {AlertItem} item */
export function sentenceOf({ text }) {
  const dated = text
    .replace(DOCUMENT, '')
    .replace(COMMAND, '')
    .replaceAll(INSTANT, (at) => dateTime(at));
  return sentence(`${dated.charAt(0).toUpperCase()}${dated.slice(1)}`);
}

/** The document that an alert names. @param {AlertItem} item */
export const documentOf = ({ text }) => DOCUMENT.exec(text)?.[1];
