/** One bouncer: what it holds as of when, what it cannot enforce, and what it has counted. */

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

/**
 * @typedef {object} Bouncer
 * @property {string} key_id
 * @property {string | null} key_name
 * @property {string | null} feed_id
 * @property {string} user_agent
 * @property {string} address
 * @property {string} first_seen
 * @property {string | null} last_pull
 * @property {string | null} last_stream When it pulled the stream; null: it looks addresses up.
 * @property {{ status: number, since: string, count: number } | null} refusal Its last pulls were refused.
 * @property {number} decisions
 * @property {number} networks
 * @property {number} left_out_networks
 * @property {number} left_out_addresses
 * @property {string | null} cannot_enforce
 * @property {string | null} depends_on_mode
 * @property {any} usage_metrics
 * @property {string | null} usage_metrics_at
 */

/** After so long without a pull one that follows the stream has stopped, ms: as the service has it (D14.13). */
const PATIENCE = 3_600_000;

/** The name and version in what a program calls itself. @param {string} agent */
export function programOf(agent) {
  const [, name, version] = /^([^/\s]+)\/(\S+)/.exec(agent) ?? [];
  return { name: name ?? (agent || 'no name'), version: version ?? '–' };
}

/** @typedef {{ kind: 'good' | 'warn' | 'bad' | '', text: string, urgency: number }} Judged */

/** How a bouncer is, in a word. @param {Bouncer} bouncer @returns {Judged} */
export function stateOf({
  first_seen: first,
  last_pull: pulled,
  last_stream: stream,
  refusal,
  cannot_enforce: gap,
  depends_on_mode: mode,
}) {
  const silent = Date.now() - Date.parse(pulled ?? '');
  // What is refused still asks: it has not stopped.
  if (refusal !== null && silent < PATIENCE) return { kind: 'warn', text: refusedText(refusal.status), urgency: 2 };
  if (stream !== null && !(silent < PATIENCE)) {
    // What has asked for a moment only, such as somebody who tried it, has not stopped.
    const followed = Date.parse(stream) - Date.parse(first) >= PATIENCE;
    return followed ? { kind: 'bad', text: 'stopped', urgency: 3 } : { kind: '', text: 'silent', urgency: 0 };
  }
  if (gap !== null) return { kind: 'bad', text: 'has a gap', urgency: 2 };
  if (mode !== null) return { kind: 'warn', text: 'look at its mode', urgency: 1 };
  return stream === null ? { kind: '', text: 'looks up', urgency: 0 } : { kind: 'good', text: 'pulls', urgency: 0 };
}

/** What comes first in the list. @param {Bouncer} bouncer */
export const urgency = (bouncer) => stateOf(bouncer).urgency;

/** @param {{ bouncer: Bouncer }} props */
export function State({ bouncer }) {
  const { kind, text } = stateOf(bouncer);
  return html`<${Badge} kind=${kind}>${text}<//>`;
}

/** @param {{ bouncer: Bouncer, names: import('../../names.js').Names, onClose: () => void }} props */
export function BouncerDialog({ bouncer, names, onClose }) {
  const { user_agent: agent, address, feed_id: feedId, refusal, usage_metrics_at: countedAt } = bouncer;
  const { cannot_enforce: gap, depends_on_mode: mode, left_out_networks: leftOut, left_out_addresses: addresses } = bouncer;
  const feed = names.feedOf(feedId);
  const usage = countsOf(bouncer.usage_metrics);
  return html`
    <${Dialog} title=${keyName(bouncer)} wide onClose=${onClose}>
      ${refusal !== null && html`<${Notice} kind="warn">Its fetches are refused since <${Ago} at=${refusal.since} />, ${counted(refusal.count, 'time')}: ${whyRefused(refusal.status)}. It keeps what it got before.<//>`}
      ${gap !== null && html`<${Notice} kind="bad"><span class="text">It ${gap}.</span><//>`}
      ${mode !== null && html`<${Notice} kind="warn"><span class="text">It ${mode}.</span><//>`}
      <${Facts} facts=${[
        ['State', html`<${State} bouncer=${bouncer} />`],
        ['Program', html`<bdi>${agent || 'no name'}</bdi>`],
        ['Address', html`<span class="mono">${address}</span>`],
        ['Feed', html`<a class="text" href=${linkToFeed(feed)}>${feed.name}</a>`],
        ['Holds', holds(bouncer)],
        ['Left out', leftOut > 0 && `${counted(leftOut, 'network')} with ${counted(addresses, 'address', 'addresses')}`],
        ['First seen', dateTime(bouncer.first_seen)],
        ['Last pull', bouncer.last_pull && dateTime(bouncer.last_pull)],
        ['Counted', countedAt === null ? 'it has sent no counts' : html`what stands below, <${Ago} at=${countedAt} />`],
      ]} />
      ${usage.length > 0 && html`<${Table} label="What it has counted" columns=${USAGE} rows=${usage} keyOf=${(/** @type {any} */ { name }) => name} />`}
    <//>
  `;
}

/** @param {Bouncer} bouncer */
function holds({ last_stream: at, decisions, networks, refusal }) {
  if (at === null && refusal !== null) return 'nothing yet';
  if (at === null) return 'nothing: it asks for each address, and is told what holds then';
  return html`<span>what its feed had <${Ago} at=${at} />: ${counted(decisions, 'decision')}, ${count(networks)} of them networks</span>`;
}

/** @type {import('../../ui/table.js').Column<import('./usage.js').Count>[]} */
const USAGE = [
  { label: 'Count', cell: ({ name }) => html`<bdi class="text">${name}</bdi>` },
  { label: 'Value', number: true, cell: ({ value }) => count(value) },
  { label: 'Unit', cell: ({ unit }) => unit },
];
