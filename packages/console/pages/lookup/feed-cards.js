import { html } from 'htm/preact';
import { count, counted, dateTime } from '../../format.js';
import { senderName } from '../../names.js';
import { link } from '../../router.js';
import { Badge } from '../../ui/badge.js';
import { Card } from '../../ui/card.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago, Countdown } from '../../ui/time.js';
import { batchAt } from '../changes/see.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { agreementText, CUTS, IDLE, RELATIONS, Verdict, whyText } from './words.js';

/** @param {{ target: string, action: string, feeds: ExplainedFeed[] }} props */
export function FeedByFeed({ target, action, feeds }) {
  const concerned = feeds.filter(({ rules, protected_by: guards, verdict }) => rules.length > 0 || guards.length > 0 || verdict !== 'out');
  const others = feeds.filter((feed) => !concerned.includes(feed));
  return html`
    ${concerned.map((feed) => html`<${FeedCard} key=${feed.id} feed=${feed} action=${action} target=${target} />`)}
    ${
      others.length > 0 &&
      html`<p class="soft">No rules match in ${others.map(({ id, kind, name }, i) => html`${i > 0 ? ', ' : ''}<a key=${id} class="text" href=${linkToFeed({ kind, id: id ?? '' })}>${name}</a>`)}.</p>`
    }
  `;
}

const KINDS = { workspace: 'the whole workspace', list: 'list', composed: 'composed feed' };

/** @param {{ feed: ExplainedFeed, action: string, target: string }} props */
function FeedCard({ feed, action, target }) {
  const title = html`<a class="text" href=${linkToFeed({ kind: feed.kind, id: feed.id ?? '' })}>${feed.name}</a> <span class="soft small">${KINDS[feed.kind]}${feed.family !== 'both' && `, ${feed.family} only`}</span>`;
  const size =
    feed.entries === null
      ? undefined
      : html`${count(feed.entries)} of ${count(feed.max_entries ?? 0)} entries${feed.over_cap ? ', over the limit: devices get no update (HTTP 413)' : ''}`;
  return html`
    <${Card} title=${title} actions=${feed.over_cap && feed.verdict !== 'out' ? html`<${Badge} kind="warn">not published<//>` : html`<${Verdict} verdict=${feed.verdict} />`} note=${size}>
      ${feed.frozen_since != null && html`<${Notice} kind="warn"><span>Frozen <${Ago} at=${feed.frozen_since} />: it serves the rules of that time. This card is about the current rules.</span><//>`}
      ${feed.protected_by.map((network) => html`<${Notice} key=${network}>Excluded by the protected network <bdi class="mono">${network}</bdi>.<//>`)}
      ${feed.rank !== null && html`<${Notice} kind="warn">Left out: the feed is full (rank ${count(feed.rank.rank)} of ${count(feed.rank.limit)}).<//>`}
      ${feed.agreement !== null && html`<p class="small">${agreementText(feed.agreement)}</p>`}
      ${feed.verdict !== 'out' && action === 'block' && html`<p class="small">${unblockText(feed, target)}</p>`}
      ${feed.subtract_allow !== null && html`<${Notice} kind="warn">${subtractText(feed.subtract_allow)}<//>`}
      ${
        feed.rules.length > 0 &&
        html`<${Table} label=${`Matching rules in ${feed.name}, ${KINDS[feed.kind]}`} columns=${COLUMNS} rows=${feed.rules}
        keyOf=${(/** @type {ExplainedRule} */ { id }) => id} />`
      }
      ${feed.rules_left_out > 0 && html`<p class="small soft">And ${counted(feed.rules_left_out, 'more rule')}.</p>`}
    <//>
  `;
}

/** @param {ExplainedFeed} feed @param {string} target */
function unblockText(feed, target) {
  const { removes, verdict } = feed.unblock;
  if (removes.length === 0) return html`Unblocking <bdi>${target}</bdi> changes nothing here: ${whyText(feed)}.`;
  const does = `Unblocking removes ${counted(removes.length, 'rule')} here`;
  return verdict === 'out' ? `${does} and takes it out of the feed.` : html`${does}, but it stays blocked: ${whyText(feed)}.`;
}

/** @param {NonNullable<ExplainedFeed['subtract_allow']>} subtract */
const subtractText = ({ value, verdict }) =>
  `This feed ignores a matching never-block rule. Set “Subtract never-block rules” to “${CUTS[value]}” to remove ${verdict === 'out' ? 'it' : 'a part of it'}.`;

/** @param {string | null} text */
const textOf = (text) => (text === null ? '' : html`<bdi>${text}</bdi>`);

/** @type {Record<string, [kind: string, text: string]>} */
const EFFECTS = { in: ['bad', 'includes it'], out: ['good', 'excludes it'], none: ['', ''] };

/** @type {Column<ExplainedRule>[]} */
const COLUMNS = [
  {
    label: 'Rule',
    cell: ({ target, list_id: list, served_as: served, not_widened: near }) =>
      html`<a class="mono text" href=${`${link('/rules/access')}?${new URLSearchParams({ address: target ?? '', match: 'exact', list: list ?? '' })}`}>${target}</a>${served && html`<div class="small soft">served as <bdi class="mono">${served}</bdi></div>`}${near.length > 0 && html`<div class="small soft">served as sent: its network may not be blocked: <bdi class="mono">${near.join(', ')}</bdi></div>`}`,
  },
  {
    label: 'Effect',
    cell: ({ effect, idle }) => html`<${Badge} kind=${EFFECTS[effect][0]}>${idle === null ? EFFECTS[effect][1] : IDLE[idle]}<//>`,
  },
  { label: 'Match', cell: ({ relation }) => RELATIONS[relation] },
  { label: 'List', cell: ({ list_name: name }) => html`<bdi>${name}</bdi>` },
  { label: 'Reason', cell: ({ reason, rule_ref: ref }) => textOf(reason ?? ref) },
  {
    label: 'Sent by',
    cell: (rule) => html`
      ${rule.batch_id === null ? html`<bdi>${senderName(rule)}</bdi>` : html`<a class="text" href=${batchAt(rule.batch_id)}>${senderName(rule)}</a>`}
      ${rule.source && html`<div class="small soft">source <bdi>${rule.source.name}</bdi>, listed since ${dateTime(rule.source.since)}, refreshed ${dateTime(rule.source.refresh)}</div>`}`,
  },
  { label: 'Created', cell: ({ created_at: at }) => html`<${Ago} at=${at} />` },
  {
    label: 'Expires in',
    number: true,
    cell: ({ expires_at: until, repeated }) =>
      html`<${Countdown} until=${until} forever="never" />${repeated && html`<div class="small soft">${repeated}</div>`}`,
  },
];
