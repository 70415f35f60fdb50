import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { manage } from '../api.js';
import { useLive, useLiveWork } from '../data.js';
import { count, counted, percent } from '../format.js';
import { link } from '../router.js';
import { Badge } from '../ui/badge.js';
import { Card } from '../ui/card.js';
import { SelectField } from '../ui/field.js';
import { Figure, Figures } from '../ui/figures.js';
import { Gauge } from '../ui/gauge.js';
import { later } from '../ui/later.js';
import { PageHead } from '../ui/page-head.js';
import { Plot } from '../ui/plot.js';
import { Empty, Loaded } from '../ui/states.js';
import { Ago } from '../ui/time.js';
import { seeChanges } from './changes/see.js';
import { builtOf, isOld, nameOfKind } from './feeds/feed-state.js';
import { linkToFeed, readFeeds } from './feeds/read-feeds.js';
import { Attention } from './overview/attention.js';
import { compared, sum } from './overview/compared.js';
import { FirstSteps } from './overview/first-steps.js';

const Pictures = later(() => import('./overview/pictures.js'), 'Pictures');

/** @param {PageProps} props */
export function Page({ session }) {
  return html`
    <${PageHead} title="Overview">Alerts and activity of this workspace.<//>
    <${Attention} session=${session} />
    <${FirstSteps} session=${session} />
    <${Now} />
    <${Pictures} session=${session} />
    <${Day} />
    <div class="cards">
      <${Days} />
      <${FullFeeds} />
    </div>
  `;
}

function Now() {
  const live = useLive(manage('/activity', { minutes: 120 }), { every: 30_000 });
  return html`
    <${Card} title="Last hour" note="Compared with the hour before.">
      <${Loaded} live=${live}>${(activity) => {
        const [before, now] = [(values) => sum(values.slice(0, -60)), (values) => sum(values.slice(-60))];
        const { accepted, failed, landed, pulls, not_modified: unchanged, refused } = activity;
        const answered = now(pulls) - now(refused);
        const figure = (label, values) =>
          html`<${Figure} label=${label} value=${count(now(values))} note=${compared(now(values), before(values))} />`;
        return html`
          <${Figures}>
            ${figure('Entries accepted', accepted)}
            ${figure('Entries failed', failed)}
            ${figure('Entries applied', landed)}
            ${figure('Fetches', pulls)}
            <${Figure} label="Unchanged (304)" value=${answered <= 0 ? '–' : percent(now(unchanged) / answered)} note="no new content" />
            ${now(refused) > 0 && html`<${Figure} label="Refused" value=${count(now(refused))} note="not included in the share" />`}
          <//>
          ${
            [accepted, failed, landed, pulls].every((values) => now(values) === 0) &&
            html`
            <p class="small soft">No activity. Send a signal with <code>POST /v1/signal</code>, or set up a device under <a href=${link('/feeds')}>Feeds</a>.</p>
          `
          }
        `;
      }}<//>
    <//>
  `;
}

/** Ranges in minutes; `step`: minutes per point. */
const RANGES = [
  { value: '60', label: '1 hour', step: 1 },
  { value: '1440', label: '24 hours', step: 10 },
  { value: '10080', label: '7 days', step: 60 },
  { value: '43200', label: '30 days', step: 360 },
];

function Day() {
  const [minutes, setMinutes] = useState('1440');
  const { label, step } = /** @type {typeof RANGES[number]} */ (RANGES.find(({ value }) => value === minutes));
  const live = useLive(manage('/activity', { minutes, step }), { every: 60_000 });
  const span = Number(minutes) * 60;
  return html`
    <div class="form-row" style=${{ maxWidth: '14rem' }}><${SelectField} label="Time range" value=${minutes} onValue=${setMinutes} options=${RANGES} /></div>
    <div class="cards">
      <${Loaded} live=${live}>${({ to, accepted, failed, landed, pulls, not_modified: unchanged, refused }) => {
        const end = Math.floor(Date.parse(to) / 60_000) * 60;
        const first = end - accepted.length * step * 60;
        const times = accepted.map((_, i) => first + (i + 1) * step * 60);
        const note =
          step === 1 ? 'Per minute.' : step < 60 ? `Per ${step} min.` : step === 60 ? 'Per hour.' : `Per ${counted(step / 60, 'hour')}.`;
        return html`
          <${Card} title=${`Entries, last ${label}`} note=${note}>
            <${Plot} key=${minutes} span=${span} onSpan=${seeChanges()} label=${`Entries of the last ${label}`} times=${times} series=${[
              { label: 'accepted', color: '--accent', fill: true, values: accepted },
              { label: 'applied', color: '--good', values: landed },
              { label: 'failed', color: '--bad', values: failed },
            ]} />
          <//>
          <${Card} title=${`Fetches, last ${label}`} note=${note}>
            <${Plot} key=${minutes} span=${span} onSpan=${seeChanges()} label=${`Fetches of the last ${label}`} times=${times} series=${[
              { label: 'all', color: '--accent', fill: true, values: pulls },
              { label: 'unchanged (304)', color: '--good', values: unchanged },
              { label: 'refused', color: '--warn', values: refused },
            ]} />
          <//>
        `;
      }}<//>
    </div>
  `;
}

/** Counts of a day. @type {readonly (Omit<Series, 'values'> & { of: (day: any) => number })[]} */
const ENDS = [
  { label: 'added', color: '--accent', fill: true, of: ({ added }) => added },
  { label: 'expired', color: '--warn', of: ({ expired }) => expired },
  { label: 'removed or undone', color: '--bad', of: ({ removed, undone }) => removed + undone },
];

/** Whole days, UTC. */
const ageOf = (/** @type {{ day: string }} */ { day }) => Math.floor((Date.now() - Date.parse(day)) / 86_400_000);
/** Seven days, the newest `age` days old. @param {readonly any[]} days @param {number} age */
const week = (days, age) => days.filter((each) => ageOf(each) >= age && ageOf(each) < age + 7);

function Days() {
  const live = useLive(manage('/history', { days: 90 }), { every: 60_000 });
  return html`
    <${Card} title="Entries, last 90 days" note="All lists, per day (UTC).">
      <${Loaded} live=${live}>${(/** @type {{ days: any[] }} */ { days }) =>
        days.length === 0
          ? html`<p class="soft">No entries yet.</p>`
          : html`
              <${Figures}>${ENDS.map(({ label, of }) => {
                const [now, before] = [week(days, 0), week(days, 7)].map((of7) => sum(of7.map(of)));
                return html`<${Figure} key=${label} label=${`Last 7 days, ${label}`} value=${count(now)} note=${ageOf(days[0]) >= 13 ? compared(now, before) : undefined} />`;
              })}<//>
              <${Plot} days span=${89 * 86_400} onSpan=${seeChanges()} label="Entries of the last 90 days" times=${days.map(({ day }) => Date.parse(day) / 1000)}
                series=${ENDS.map(({ of, ...each }) => ({ ...each, values: days.map(of) }))} />
            `}<//>
    <//>
  `;
}

function FullFeeds() {
  const live = useLiveWork('feeds', readFeeds, { every: 60_000 });
  return html`
    <${Card} title="Fullest feeds" actions=${html`<a class="small" href=${link('/feeds')}>All feeds</a>`}>
      <${Loaded} live=${live}>${(/** @type {FeedRow[]} */ feeds) => {
        const rows = feeds
          .flatMap((feed) => {
            const built = builtOf(feed);
            return built === undefined ? [] : [{ feed, built, share: built.entries / built.entry_limit }];
          })
          .toSorted((a, b) => b.share - a.share)
          .slice(0, 5);
        const unknown = feeds.filter((feed) => builtOf(feed) === undefined).length;
        if (rows.length === 0)
          return html`<${Empty} icon="feeds" title="No counts yet"><p>weir counts a feed when a device fetches it or someone opens Feeds.</p><//>`;
        return html`
          <ul class="full-feeds">
            ${rows.map(
              ({ feed, built }) => html`
                <li key=${feed.id}>
                  <span><a class="text" href=${linkToFeed(feed)}>${feed.name}</a> <span class="soft small">${nameOfKind(feed)}</span>${built.over_cap && html` <${Badge} kind="warn">not published<//>`}</span>
                  <span class="number">${count(built.entries)}${isOld(built) && html`<br /><span class="soft small">counted <${Ago} at=${built.built_at} /></span>`}</span>
                  <${Gauge} value=${built.entries} most=${built.entry_limit} label=${`Entries of ${feed.name}, ${nameOfKind(feed)}`} />
                </li>
              `,
            )}
          </ul>
          ${unknown > 0 && html`<p class="small soft">${counted(unknown, 'more feed')}. <a href=${link('/feeds')}>See all</a></p>`}
        `;
      }}<//>
    <//>
  `;
}
