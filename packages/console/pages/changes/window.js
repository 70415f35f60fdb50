import { html } from 'htm/preact';
import { setQuery } from '../../router.js';
import { SelectField, TextField } from '../../ui/field.js';
import { Typed } from '../../ui/typed.js';
import { KINDS } from './words.js';

export const SPANS = [
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];
const BETWEEN = { value: 'between', label: 'Custom range' };
const USUAL = '1d';
const DAY = 86_400_000;

/** @param {URLSearchParams} query @returns {ChangeWindow} */
export const windowOf = (query) => ({
  since: query.get('since') ?? USUAL,
  until: query.get('until') ?? undefined,
  feed: query.get('feed') ?? undefined,
  kind: query.get('kind') ?? undefined,
  person: query.get('person') ?? undefined,
  key: query.get('key') ?? undefined,
});

/** For a datetime-local field, in the reader's time zone. @param {string} at */
const localOf = (at) => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
/** @param {string} local */
const instantOf = (local) => (local === '' ? undefined : new Date(local).toISOString());

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
    <form class="filter" role="search" aria-label="What changed" onSubmit=${(event) => event.preventDefault()}>
      <div class="form-row">
        <${SelectField} label="Time range" value=${isSpan ? since : BETWEEN.value} onValue=${onSpan} options=${[...SPANS, BETWEEN]} />
        ${
          !isSpan &&
          html`
            <${TextField} label="From" type="datetime-local" value=${localOf(since)} onValue=${(value) => setQuery({ since: instantOf(value) })} />
            <${TextField} label="To" type="datetime-local" value=${localOf(until ?? new Date().toISOString())} onValue=${(value) => setQuery({ until: instantOf(value) })} />
          `
        }
        <${SelectField} label="Feed" value=${feed ?? ''} onValue=${(value) => setQuery({ feed: value })}
          options=${[{ value: '', label: 'The whole workspace' }, ...feeds.map(({ id, name }) => ({ value: id, label: name }))]} />
        <${SelectField} label="What" value=${kind ?? ''} onValue=${(value) => setQuery({ kind: value })}
          options=${[{ value: '', label: 'Everything' }, ...KINDS]} />
        <${Typed} field="person" label="Person" value=${person ?? ''} />
        ${keys.length > 0 && html`<${SelectField} label="Key" value=${key ?? ''} onValue=${(value) => setQuery({ key: value })} options=${[{ value: '', label: 'Any' }, ...keys]} />`}
      </div>
    </form>
  `;
}
