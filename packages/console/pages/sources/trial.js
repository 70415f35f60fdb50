import { html } from 'htm/preact';
import { andMore, count, counted } from '../../format.js';
import { Badge } from '../../ui/badge.js';
import { Facts } from '../../ui/figures.js';
import { Notice } from '../../ui/states.js';
import { Table } from '../../ui/table.js';
import { Ago } from '../../ui/time.js';

const WHOLE = { said: 'yes', last_line: 'yes (complete last line)', not_known: 'unknown: the last line may be cut' };
const SHOWN = 5;

/** @param {{ trial: any }} props The answer of POST /sources/try. */
export function TrialResult({ trial: { fault, content, trial } }) {
  if (content === null) return html`<${Notice} kind="bad">The source cannot be used: <span class="text">${fault}</span><//>`;
  const overlaps = trial.overlaps.slice(0, SHOWN);
  return html`
    <section class="stack" aria-label="Test result">
      ${trial.holds.map((reason) => html`<${Notice} key=${reason} kind="warn">weir would put this refresh on hold: <span class="text">${reason}</span><//>`)}
      <${Facts} facts=${[
        ['Entries', `${count(content.entries)} (${kinds(content)})`],
        ['Largest networks', [content.widest_v4, content.widest_v6].filter(Boolean).join(', ')],
        ['As of', content.last_modified === null ? 'unknown' : html`<${Ago} at=${content.last_modified} />`],
        ['Complete', WHOLE[/** @type {keyof typeof WHOLE} */ (content.whole)]],
        ['Duplicates', content.doubled > 0 ? count(content.doubled) : null],
        ['Invalid', faultsText(content.faults)],
        ['Refused by guard rails', faultsText(content.refused)],
        ['Overlaps protected networks', content.protected.join(', ')],
        ['Overlaps never-block rules', trial.never_block.count === 0 ? null : neverText(trial.never_block)],
        ['Overlaps', overlaps.length === 0 ? 'none' : `${overlaps.map(overlapText).join('; ')}${andMore(trial.overlaps.length, SHOWN)}`],
        ['Not checked', trial.left_out > 0 ? counted(trial.left_out, 'list or feed', 'lists and feeds') : null],
      ]} />
      <${Table} label="Effect on feeds" columns=${FEEDS} rows=${trial.feeds} keyOf=${(each) => `${each.kind} ${each.name} ${each.action}`} />
    </section>
  `;
}

/** @param {any} content */
function kinds({ v4, v6, countries, asns }) {
  const parts = [
    v4 > 0 && `${count(v4)} IPv4`,
    v6 > 0 && `${count(v6)} IPv6`,
    countries > 0 && counted(countries, 'country', 'countries'),
    asns > 0 && counted(asns, 'ASN'),
  ];
  return parts.filter(Boolean).join(', ') || 'none';
}

/** @param {{ count: number, first: { place: string, message: string }[] }} faults */
const faultsText = ({ count: all, first: [first] }) => (all === 0 ? null : `${count(all)}, first ${first?.place}: ${first?.message}`);

/** @param {{ count: number, first: { list: string, value: string }[] }} rules */
function neverText({ count: all, first }) {
  const named = first.slice(0, SHOWN);
  return `${count(all)}: ${named.map(({ list, value }) => `${value} (${list})`).join(', ')}${andMore(all, named.length)}`;
}

/** @param {any} overlap */
const overlapText = ({ name, entries }) => `${name} (${counted(entries, 'entry', 'entries')})`;

/** @type {Column<any>[]} */
export const FEEDS = [
  { label: 'Feed', cell: ({ name, action }) => html`<span><bdi>${name}</bdi> <span class="soft small">${action}</span></span>` },
  { label: 'Entries now', number: true, cell: ({ entries_before: entries }) => count(entries) },
  { label: 'After', number: true, cell: ({ entries_after: entries }) => count(entries) },
  { label: 'Limit', number: true, cell: ({ entry_limit: most }) => count(most) },
  {
    label: '',
    cell: ({ entries_after: entries, entry_limit: most, left_out: left }) =>
      left != null
        ? html`<${Badge} kind="warn">would leave out ${left}<//>`
        : entries <= most
          ? html`<${Badge} kind="good">within limit<//>`
          : html`<${Badge} kind="bad">over limit<//>`,
  },
];
