/** What a look-up says in one sentence. */

import { html } from 'htm/preact';
import { count, counted } from '../../format.js';
import { countryName } from './targets.js';

/** @typedef {import('./path-model.js').Answer} Answer */

/** Where an address is: `(Germany, AS64500 Example)`; of an ASN its name. @param {Answer} answer */
export function whereText({ target, where }) {
  const asn = where?.asn && [`AS${where.asn}`, where.asn_name].filter((part) => part && part !== target).join(' ');
  const parts = [where?.country && countryName(where.country), asn].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

/** How many feeds have it. @param {Answer} answer */
export const having = ({ feeds }) => feeds.filter(({ verdict }) => verdict !== 'out');

/** @param {{ answer: Answer }} props */
export function Sentence({ answer }) {
  const { target, action, feeds, enforced } = answer;
  const known = /^[A-Z]{2}$/.test(target)
    ? html`${countryName(target)} (${target})`
    : html`<bdi>${target}</bdi><bdi>${whereText(answer)}</bdi>`;
  const has = having(answer).length;
  const whole = feeds.filter(({ verdict }) => verdict === 'in').length;
  const does = action === 'block' ? 'blocked' : 'allowed';
  if (has === 0) return html`${known} is ${does} on no feed.${lateText(answer)}`;
  const on = `${whole === 0 ? 'in part ' : ''}${does} on ${counted(whole || has, 'feed')}${whole > 0 && has > whole ? `, and in part on ${has - whole}` : ''}`;
  if (enforced === undefined) return html`${known} is ${on}.`;
  if (enforced.of === 0) return html`${known} is ${on}, which nothing pulls yet.`;
  const isUnsure = enforced.by < enforced.of && feeds.some(({ verdict, pulled_by: by }) => verdict !== 'out' && (by?.unknown ?? 0) > 0);
  return html`${known} is ${on}, enforced by ${count(enforced.by)} of ${counted(enforced.of, 'device')}${isUnsure && ', as far as is known'}.`;
}

/** What devices may still do that are not seen to have what the feed says now. @param {Answer} answer */
function lateText({ action, feeds }) {
  const late = feeds.reduce((sum, { pulled_by: by }) => sum + (by?.behind ?? 0), 0);
  if (late === 0 || action !== 'block') return '';
  return ` ${counted(late, 'device is', 'devices are')} not seen to let it through yet, and may block it until the next pull.`;
}
