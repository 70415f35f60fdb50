import { html } from 'htm/preact';
import { count, counted } from '../../format.js';
import { keyName } from '../../names.js';
import { setQuery } from '../../router.js';
import { SelectField, TextField } from '../../ui/field.js';

const MINUTE = 60_000;
/** Minimum silence, ms, by query value. @type {Record<string, number>} */
const SILENT = { '10m': 10 * MINUTE, '1h': 60 * MINUTE, '6h': 360 * MINUTE, '1d': 1440 * MINUTE, '7d': 10_080 * MINUTE };
const OPTIONS = [
  { value: '', label: 'Any time' },
  { value: '10m', label: '10 minutes' },
  { value: '1h', label: '1 hour' },
  { value: '6h', label: '6 hours' },
  { value: '1d', label: '1 day' },
  { value: '7d', label: '7 days' },
];

/** @template {Client} T @param {readonly T[]} clients @param {URLSearchParams} query @returns {T[]} */
export function chosen(clients, query) {
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const least = SILENT[query.get('silent') ?? ''] ?? 0;
  const since = Date.now() - least;
  return clients.filter((client) => {
    const { user_agent: agent, address, last_pull: at } = client;
    const text = `${keyName(client)} ${address} ${agent}`.toLowerCase();
    return words.every((word) => text.includes(word)) && (least === 0 || at === null || Date.parse(at) < since);
  });
}

/** @param {{ query: URLSearchParams, matching: number, all: number, what: string, children?: any }} props `what`: one of them. */
export const ClientFilter = ({ query, matching, all, what, children }) => html`
  <search class="filter">
    <div class="form-row">
      <${TextField} label="Find" type="search" placeholder="name, address or program" value=${query.get('q') ?? ''}
        onValue=${(q) => setQuery({ q })} maxlength="200" />
      <${SelectField} label="Silent for more than" value=${query.get('silent') ?? ''} options=${OPTIONS}
        onValue=${(silent) => setQuery({ silent })} />
      ${children}
    </div>
    <p class="small soft" role="status">${matching === all ? counted(all, what) : `${count(matching)} of ${counted(all, what)}`}</p>
  </search>
`;
