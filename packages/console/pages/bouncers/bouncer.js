import { html } from 'htm/preact';
import { count, counted, dateTime } from '../../format.js';
import { keyName } from '../../names.js';
import { Badge } from '../../ui/badge.js';
import { Dialog } from '../../ui/dialog.js';
import { Facts } from '../../ui/figures.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';
import { refusedText, whyRefused } from '../clients/refused.js';
import { linkToFeed } from '../feeds/read-feeds.js';
import { countsOf } from './usage.js';

/** Silence after which a bouncer that follows the stream counts as stopped, ms (SPEC D14.13). */
const PATIENCE = 3_600_000;
/** How long a repaired difference needs attention, ms. */
const LATELY = 86_400_000;

/** @param {string} agent */
export function programOf(agent) {
  const [, name, version] = /^([^/\s]+)\/(\S+)/.exec(agent) ?? [];
  return { name: name ?? (agent || 'unnamed'), version: version ?? '–' };
}

/** @param {Bouncer} bouncer @returns {{ kind: Kind, text: string, urgency: number }} */
export function stateOf({
  first_seen: first,
  last_pull: pulled,
  last_stream: stream,
  refusal,
  enforced,
  differed_at: differed,
  cannot_enforce: gap,
  depends_on_mode: mode,
}) {
  const silent = Date.now() - Date.parse(pulled ?? '');
  // A refused bouncer still polls, so it has not stopped.
  if (refusal !== null && silent < PATIENCE) return { kind: 'warn', text: refusedText(refusal.status), urgency: 2 };
  if (stream !== null && !(silent < PATIENCE)) {
    // A short trial never followed the stream, so it cannot stop.
    const followed = Date.parse(stream) - Date.parse(first) >= PATIENCE;
    return followed ? { kind: 'bad', text: 'stopped', urgency: 3 } : { kind: '', text: 'silent', urgency: 0 };
  }
  if (enforced?.verdict === 'different') return { kind: 'bad', text: 'different', urgency: 3 };
  if (Date.now() - Date.parse(differed ?? '') < LATELY) return { kind: 'warn', text: 'differed', urgency: 2 };
  if (gap !== null) return { kind: 'bad', text: 'incomplete', urgency: 2 };
  if (mode !== null) return { kind: 'warn', text: 'check mode', urgency: 1 };
  if (stream === null) return { kind: '', text: 'looks up', urgency: 0 };
  return { kind: 'good', text: enforced?.verdict === 'same' ? 'verified' : 'active', urgency: 0 };
}

/** @param {Bouncer} bouncer */
export const urgency = (bouncer) => stateOf(bouncer).urgency;

/** @param {{ bouncer: Bouncer }} props */
export function State({ bouncer }) {
  const { kind, text } = stateOf(bouncer);
  return html`<${Badge} kind=${kind}>${text}<//>`;
}

/** @param {{ bouncer: Bouncer, names: Names, onClose: () => void }} props */
export function BouncerDialog({ bouncer, names, onClose }) {
  const { user_agent: agent, address, feed_id: feedId, refusal, enforced, differed_at: differed, usage_metrics_at: countedAt } = bouncer;
  const { cannot_enforce: gap, depends_on_mode: mode, left_out_networks: leftOut, left_out_addresses: addresses } = bouncer;
  const feed = names.feedOf(feedId);
  const usage = countsOf(bouncer.usage_metrics);
  return html`
    <${Dialog} title=${keyName(bouncer)} wide onClose=${onClose}>
      ${refusal !== null && html`<${Notice} kind="warn">weir has refused its requests since <${Ago} at=${refusal.since} /> (${counted(refusal.count, 'time')}): ${whyRefused(refusal.status)}. It still enforces its last version.<//>`}
      ${gap !== null && html`<${Notice} kind="bad"><span class="text">It ${gap}.</span><//>`}
      ${mode !== null && html`<${Notice} kind="warn"><span class="text">It ${mode}.</span><//>`}
      <${Facts} facts=${[
        ['State', html`<${State} bouncer=${bouncer} />`],
        ['Program', html`<bdi>${agent || 'unnamed'}</bdi>`],
        ['Address', html`<span class="mono">${address}</span>`],
        ['Feed', html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`],
        ['Entries', holds(bouncer)],
        [
          'Firewall',
          enforced !== null &&
            html`<span>${VERDICTS[enforced.verdict]} <${Ago} at=${enforced.at} />: ${counted(enforced.count, 'network')}</span>`,
        ],
        ['Differed', differed !== null && html`<${Ago} at=${differed} />`],
        ['Not sent', leftOut > 0 && `${counted(leftOut, 'network')} with ${counted(addresses, 'address', 'addresses')}`],
        ['First seen', dateTime(bouncer.first_seen)],
        ['Last fetch', bouncer.last_pull && dateTime(bouncer.last_pull)],
        ['Metrics', countedAt === null ? 'none sent' : html`<${Ago} at=${countedAt} />`],
      ]} />
      ${usage.length > 0 && html`<${Table} label="Metrics" columns=${USAGE} rows=${usage} keyOf=${({ name }) => name} />`}
    <//>
  `;
}

/** Of what the firewall has, as the client has read it back (SPEC D50.6). */
const VERDICTS = { same: 'verified', different: 'different from its feed', unknown: 'reported' };

/** @param {Bouncer} bouncer */
function holds({ last_stream: at, decisions, networks, refusal }) {
  if (at === null && refusal !== null) return 'none yet';
  if (at === null) return 'none: it looks up each address on demand';
  return html`<span>${counted(decisions, 'decision')}, ${count(networks)} of them networks, as of <${Ago} at=${at} /></span>`;
}

/** @type {Column<UsageCount>[]} */
const USAGE = [
  { label: 'Metric', cell: ({ name }) => html`<bdi class="text">${name}</bdi>` },
  { label: 'Value', number: true, cell: ({ value }) => count(value) },
  { label: 'Unit', cell: ({ unit }) => unit },
];
