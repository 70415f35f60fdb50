/** Why an address is in a feed, in words. */

import { html } from 'htm/preact';
import { andMore } from '../../format.js';
import { Badge } from '../../ui/badge.js';

/** @typedef {import('../rules/tabs.js').Rule & { effect: 'in' | 'out' | 'none', idle: 'not_cut_out' | 'no_ranges' | 'other_family' | 'too_few_lists' | 'left_out' | null, relation: string, list_name: string, key_name: string | null, source: { name: string, refresh: string, since: string } | null }} ExplainedRule */
/**
 * @typedef {object} ExplainedFeed
 * @property {'workspace' | 'list' | 'composed'} kind
 * @property {string | null} id
 * @property {string} name
 * @property {'in' | 'partly' | 'out'} verdict
 * @property {string} family
 * @property {number | null} entries
 * @property {number | null} max_entries
 * @property {boolean | null} over_cap
 * @property {ExplainedRule[]} rules
 * @property {number} rules_left_out
 * @property {string[]} protected_by
 * @property {{ min_sources: number, found: number, lists: { name: string, always: boolean, copies: string[] }[] } | null} agreement
 * @property {{ removes: number[], verdict: 'in' | 'partly' | 'out' }} unblock
 * @property {{ value: 'on' | 'workspace', verdict: 'in' | 'partly' | 'out' } | null} subtract_allow
 */

const VERDICTS = /** @type {const} */ ({ in: ['bad', 'in'], partly: ['warn', 'partly in'], out: ['', 'not in'] });

/** @param {{ verdict: 'in' | 'partly' | 'out' }} props */
export const Verdict = ({ verdict }) => html`<${Badge} kind=${VERDICTS[verdict][0]}>${VERDICTS[verdict][1]}<//>`;

/** How a rule concerns the target that is looked up. @type {Record<string, string>} */
export const RELATIONS = {
  exact: 'this very target',
  covering: 'a network around it',
  covered: 'a part of it',
  country: 'the country that it is in',
  asn: 'the ASN that it is in',
  overlapping: 'a part of it',
};

/** Rules that are named as a reason. */
const WHY_NAMED = 3;

/** Why a target would stay in a feed after an unblock: the rules that the unblock leaves. @param {ExplainedFeed} feed */
export function whyText({ rules, unblock }) {
  const left = rules.filter(({ effect, id }) => effect === 'in' && !unblock.removes.includes(id));
  if (left.length === 0) return 'of other rules';
  const named = left
    .slice(0, WHY_NAMED)
    .map(
      ({ id, target, relation, list_name: list }, i) =>
        html`${i > 0 ? '; ' : ''}<bdi key=${id} class="mono">${target}</bdi>, ${RELATIONS[relation]}, is blocked in <bdi>${list}</bdi>`,
    );
  return html`${named}${andMore(left.length, WHY_NAMED)}`;
}

/** How many lists have it, where lists have to agree. @param {NonNullable<ExplainedFeed['agreement']>} agreement */
export const agreementText = ({ min_sources: least, found, lists }) => html`
  ${found} of ${least} lists that must agree: ${lists.map(
    ({ name, always, copies }, i) =>
      html`${i > 0 && ', '}<bdi key=${name}>${name}</bdi>${always ? ' (enough by itself)' : copies.length > 0 && ` (copies ${copies.join(', ')})`}`,
  )}.
`;

/** Why a rule on the target changes nothing of a feed. @type {Record<string, string>} */
export const IDLE = {
  not_cut_out: 'not cut out',
  no_ranges: 'the geo data have no addresses for it',
  other_family: 'of the other family',
  too_few_lists: 'too few lists have it',
  left_out: 'its list is left out, to keep within the cap',
};

/** The choices of a feed's setting that cut never-block rules out. @type {Record<string, string>} */
export const CUTS = { on: 'on', workspace: 'workspace' };
