import { html } from 'htm/preact';
import { setQuery } from '../../router.js';
import { Button } from '../../ui/button.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Typed } from '../../ui/typed.js';
import { KINDS } from './words.js';

const SPANS = [
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];
const BETWEEN = { value: 'between', label: 'Custom range' };
const USUAL = '1d';
const DAY = 86_400_000;
export const BATCHES = 'batches';

/** Batches are not counted by feed. @param {URLSearchParams} query @returns {ChangeWindow} */
export function windowOf(query) {
  const [until, feed, kind, person, key] = ['until', 'feed', 'kind', 'person', 'key'].map((name) => query.get(name) ?? undefined);
  return { since: query.get('since') ?? USUAL, until, feed: kind === BATCHES ? undefined : feed, kind, person, key };
}

const UNITS = { m: 60_000, h: 3_600_000, d: DAY, w: 7 * DAY };

/** @param {string} text An instant or an age. @param {number} now */
export function instantOf(text, now) {
  const [, number, unit] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  return unit === undefined ? Date.parse(text) : now - Number(number) * UNITS[/** @type {keyof typeof UNITS} */ (unit)];
}

/** @param {ChangeWindow} window @returns {(change: Change) => boolean} */
export function isWithin({ since, until, person, key }) {
  const now = Date.now();
  const [begin, end] = [instantOf(since, now), until === undefined ? Infinity : instantOf(until, now)];
  return (change) => {
    const at = Date.parse(change.at);
    const isBy =
      (person === undefined || change.actor === person || change.person === person) &&
      (key === undefined || change.key_name === key || change.key_id === key);
    return isBy && !(at < begin || at >= end);
  };
}

/** For a datetime-local field, in the reader's time zone. @param {string} at */
const localOf = (at) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
/** @param {string} local */
const instantAt = (local) => (local === '' ? undefined : new Date(local).toISOString());

/** @param {{ window: ChangeWindow, feeds: readonly { id: string, name: string }[], keys: readonly string[] }} props */
export function WindowFields({ window: { since, until, feed, kind, person, key }, feeds, keys }) {
  const isSpan = until === undefined && SPANS.some(({ value }) => value === since);
  const onSpan = (value) =>
    setQuery(
      value === BETWEEN.value
        ? { since: new Date(Date.now() - DAY).toISOString(), until: new Date().toISOString() }
        : { since: value, until: undefined },
    );
  return html`
    <form class="filter" role="search" aria-label="Timeline" onSubmit=${(event) => event.preventDefault()}>
      <div class="form-row">
        <${SelectField} label="Time range" value=${isSpan ? since : BETWEEN.value} onValue=${onSpan} options=${[...SPANS, BETWEEN]} />
        ${
          !isSpan &&
          html`
            <${TextField} label="From" type="datetime-local" value=${localOf(since)} onValue=${(value) => setQuery({ since: instantAt(value) })} />
            <${TextField} label="To" type="datetime-local" value=${localOf(until ?? new Date().toISOString())} onValue=${(value) => setQuery({ until: instantAt(value) })} />
          `
        }
        ${
          kind !== BATCHES &&
          html`<${SelectField} label="Feed" value=${feed ?? ''} onValue=${(value) => setQuery({ feed: value })}
          options=${[{ value: '', label: 'The whole workspace' }, ...feeds.map(({ id, name }) => ({ value: id, label: name }))]} />`
        }
        <${SelectField} label="What" value=${kind ?? ''} onValue=${(value) => setQuery({ kind: value })}
          options=${[{ value: '', label: 'Everything' }, ...KINDS]} />
        <${Typed} field="person" label="Person" value=${person ?? ''} />
        ${keys.length > 0 && html`<${SelectField} label="Key" value=${key ?? ''} onValue=${(value) => setQuery({ key: value })} options=${[{ value: '', label: 'Any' }, ...keys]} />`}
      </div>
      ${(feed ?? kind ?? person ?? key) !== undefined && html`<div class="row"><${Button} tiny kind="quiet" icon="close" onClick=${() => setQuery({ feed: undefined, kind: undefined, person: undefined, key: undefined })}>Clear filters<//></div>`}
    </form>
  `;
}
