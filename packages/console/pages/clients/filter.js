import { html } from 'htm/preact';
import { count, counted } from '../../format.js';
import { keyName } from '../../names.js';
import { setQuery } from '../../router.js';
import { SelectField, TextField } from '../../ui/field.js';

const MINUTE = 60_000;
/** `least`: silence, ms. */
const SILENT = [
  { value: '', label: 'Any time', least: 0 },
  { value: '10m', label: '10 minutes', least: 10 * MINUTE },
  { value: '1h', label: '1 hour', least: 60 * MINUTE },
  { value: '6h', label: '6 hours', least: 360 * MINUTE },
  { value: '1d', label: '1 day', least: 1440 * MINUTE },
  { value: '7d', label: '7 days', least: 10_080 * MINUTE },
];

/** @template {Client} T @param {readonly T[]} clients @param {URLSearchParams} query @returns {T[]} */
export function chosen(clients, query) {
  const words = (query.get('q') ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const { least } = SILENT.find(({ value }) => value === query.get('silent')) ?? SILENT[0];
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
      <${SelectField} label="Silent for more than" value=${query.get('silent') ?? ''} options=${SILENT}
        onValue=${(silent) => setQuery({ silent })} />
      ${children}
    </div>
    <p class="small soft" role="status">${matching === all ? counted(all, what) : `${count(matching)} of ${counted(all, what)}`}</p>
  </search>
`;
