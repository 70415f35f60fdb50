import { html } from 'htm/preact';
import { count, counted } from '../../format.js';
import { countryName } from './targets.js';

/** `(Germany, AS64500 Example)`; for an ASN its name. @param {LookupAnswer} answer */
export function whereText({ target, where }) {
  const asn = where?.asn && [`AS${where.asn}`, where.asn_name].filter((part) => part && part !== target).join(' ');
  const parts = [where?.country && countryName(where.country), asn].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** @param {LookupAnswer} answer */
export const having = ({ feeds }) => feeds.filter(({ verdict }) => verdict !== 'out');

/** Feeds over their limit are not published (SPEC D45.4). @param {LookupAnswer} answer */
export const publishing = (answer) => having(answer).filter(({ over_cap: isOver }) => !isOver);

/** @param {{ answer: LookupAnswer }} props */
export function Sentence({ answer }) {
  const { target, action, feeds, enforced } = answer;
  const known = /^[A-Z]{2}$/.test(target)
    ? html`${countryName(target)} (${target})`
    : html`<bdi>${target}</bdi><bdi>${whereText(answer)}</bdi>`;
  const published = publishing(answer);
  const has = published.length;
  const complete = published.filter(({ verdict }) => verdict === 'in').length;
  const does = action === 'block' ? 'blocked' : 'allowed';
  if (having(answer).length === 0) return html`${known} is ${does} on no feed.${behindText(answer)}`;
  if (has === 0) return html`${known} is ${does} on no published feed.${unpublishedText(answer)}`;
  const on = `${complete === 0 ? 'in part ' : ''}${does} on ${counted(complete || has, 'feed')}${complete > 0 && has > complete ? `, and in part on ${has - complete}` : ''}`;
  const more = unpublishedText(answer);
  if (enforced === undefined) return html`${known} is ${on}.${more}`;
  if (enforced.of === 0) return html`${known} is ${on}, but no device fetches it yet.${more}`;
  const isUnsure = enforced.by < enforced.of && feeds.some(({ verdict, pulled_by: by }) => verdict !== 'out' && (by?.unknown ?? 0) > 0);
  return html`${known} is ${on}, enforced by ${isUnsure && 'at least '}${count(enforced.by)} of ${counted(enforced.of, 'device')}.${more}`;
}

/** @param {LookupAnswer} answer */
function unpublishedText(answer) {
  const feeds = having(answer).filter(({ over_cap: isOver }) => isOver);
  if (feeds.length === 0) return '';
  const sum = (/** @type {'has' | 'total'} */ name) => feeds.reduce((all, { pulled_by: by }) => all + (by?.[name] ?? 0), 0);
  const clients = sum('total');
  const hold =
    clients === 0
      ? ''
      : `: ${count(sum('has'))} of ${counted(clients, 'client')} still ${clients === 1 ? 'enforces' : 'enforce'} an earlier version with it`;
  return ` ${counted(feeds.length, 'more feed contains it but is', 'more feeds contain it but are')} not published (over the limit)${hold}.`;
}

/** @param {LookupAnswer} answer */
function behindText({ action, feeds }) {
  const behind = feeds.reduce((sum, { pulled_by: by }) => sum + (by?.behind ?? 0), 0);
  if (behind === 0 || action !== 'block') return '';
  return ` ${counted(behind, 'device')} may block it until the next fetch (update not confirmed yet).`;
}
