import { html } from 'htm/preact';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { count, counted } from '../../format.js';
import { Card } from '../../ui/card.js';
import { Figure, Figures } from '../../ui/figures.js';
import { Plot } from '../../ui/plot.js';
import { Loaded } from '../../ui/states.js';
import { seeChanges } from '../changes/see.js';
import { compared, sum } from './compared.js';

/** Lists with an area of their own. */
const MOST = 5;
const HOUR = 3600;

/** Rules by list over 30 days, and their changes by the hour. */
export function RulesHistory() {
  const live = useLive(manage('/history/rules', { days: 30, hours: 48 }), { every: 60_000 });
  return html`
    <div class="cards">
      <${Card} title="Rules by list, last 30 days" note="Active address rules at the end of each day (UTC)."><${Loaded} live=${live}>${(/** @type {RuleHistory} */ history) => html`<${Lists} history=${history} />`}<//><//>
      <${Card} title="Changes of rules, last 24 hours" note="Per hour, compared with the 24 hours before."><${Loaded} live=${live}>${(/** @type {RuleHistory} */ history) => html`<${Hours} history=${history} />`}<//><//>
    </div>
  `;
}

/** @param {{ history: RuleHistory }} props */
function Lists({ history: { days, lists, others } }) {
  if (lists.length === 0) return html`<p class="soft">No address rules yet.</p>`;
  const known = days.map((_, i) => i).filter((i) => lists[0].rules[i] !== null);
  const rest = lists.slice(MOST);
  const restCount = rest.length + others.lists;
  const at = (/** @type {readonly (number | null)[]} */ rules) => known.map((i) => rules[i] ?? 0);
  const others_ = known.map((i) => sum(rest.map(({ rules }) => rules[i] ?? 0)) + (others.rules[i] ?? 0));
  const series = [
    ...lists.slice(0, MOST).map(({ name, rules }) => ({ label: name, values: at(rules) })),
    ...(restCount > 0 ? [{ label: counted(restCount, 'other list'), values: others_ }] : []),
  ];
  return html`
    <${Plot} days kind="stack" span=${(days.length - 1) * 86_400} onSpan=${seeChanges()} label="Rules by list" times=${known.map((i) => Date.parse(days[i]) / 1000)}
      series=${series.map((each, i) => ({ ...each, color: `--series-${i < MOST ? i + 1 : 6}` }))} />
    ${known.length < days.length && html`<p class="small soft">Known since ${days[known[0]]}.</p>`}
  `;
}

/** @param {{ history: RuleHistory }} props */
function Hours({ history: { hours, hours_from: from } }) {
  const [before, now] = [hours.slice(0, -24), hours.slice(-24)];
  const first = Date.parse(from) / 1000 + before.length * HOUR;
  const figure = (/** @type {string} */ label, /** @type {'added' | 'removed' | 'expired'} */ field) => {
    const [was, is] = [before, now].map((all) => sum(all.map((each) => each[field])));
    return html`<${Figure} label=${label} value=${count(is)} note=${compared(is, was)} />`;
  };
  return html`
    <${Figures}>${figure('Added', 'added')}${figure('Removed', 'removed')}${figure('Expired', 'expired')}<//>
    <${Plot} kind="bars" onSpan=${seeChanges()} label="Changes of rules per hour" times=${now.map((_, i) => first + (i + 1) * HOUR)} series=${[
      { label: 'added', color: '--series-1', values: now.map(({ added }) => added) },
      { label: 'removed', color: '--series-5', values: now.map(({ removed }) => removed) },
      { label: 'expired', color: '--series-4', values: now.map(({ expired }) => expired) },
    ]} />
  `;
}
