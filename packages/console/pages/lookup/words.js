import { html } from 'htm/preact';
import { andMore } from '../../format.js';
import { Badge } from '../../ui/badge.js';

const VERDICTS = /** @type {const} */ ({
  in: ['bad', 'in'],
  partly: ['warn', 'partly in'],
  out: ['', 'not in'],
  unknown: ['warn', 'unknown'],
});

/** `unknown`: only of an earlier time. @param {{ verdict: keyof typeof VERDICTS }} props */
export const Verdict = ({ verdict }) => html`<${Badge} kind=${VERDICTS[verdict][0]}>${VERDICTS[verdict][1]}<//>`;

/** @type {Record<string, string>} */
export const RELATIONS = {
  exact: 'exact match',
  covering: 'a network around it',
  covered: 'a part of it',
  country: 'its country',
  asn: 'its ASN',
  overlapping: 'a part of it',
};

const WHY_NAMED = 3;

/** @param {ExplainedFeed} feed */
export function whyText({ rules, unblock }) {
  const left = rules.filter(({ effect, id }) => effect === 'in' && !unblock.removes.includes(id));
  if (left.length === 0) return 'other rules match';
  const named = left
    .slice(0, WHY_NAMED)
    .map(
      ({ id, target, relation, list_name: list }, i) =>
        html`${i > 0 ? '; ' : ''}<bdi key=${id} class="mono">${target}</bdi>, ${RELATIONS[relation]}, is blocked in <bdi>${list}</bdi>`,
    );
  return html`${named}${andMore(left.length, WHY_NAMED)}`;
}

/** @param {NonNullable<ExplainedFeed['agreement']>} agreement */
export const agreementText = ({ min_sources: least, found, lists }) => html`
  ${found} of ${least} required lists: ${lists.map(
    ({ name, always, copies }, i) =>
      html`${i > 0 && ', '}<bdi key=${name}>${name}</bdi>${always ? ' (trusted)' : copies.length > 0 && ` (copies ${copies.join(', ')})`}`,
  )}.
`;

/** @type {Record<string, string>} */
export const IDLE = {
  not_cut_out: 'not subtracted',
  no_ranges: 'no addresses in the geo data',
  other_family: 'other address family',
  too_few_lists: 'too few lists',
  left_out: 'left out (over the limit)',
};

/** @type {Record<string, string>} */
export const CUTS = { on: 'on', workspace: 'workspace' };
