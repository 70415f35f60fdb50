import { html } from 'htm/preact';
import { setQuery } from '../../router.js';
import { EVENTS } from '../../tables.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/field.js';
import { Typed } from '../../ui/typed.js';

const FIELDS = ['event', 'by', 'key', 'object', 'since'];
const ANY = { value: '', label: 'Any' };
const SINCE = [ANY, { value: '1h', label: 'Last hour' }, { value: '24h', label: 'Last day' }, { value: '7d', label: 'Last 7 days' }];

/** @param {URLSearchParams} query @returns {Record<string, string>} */
export const auditConditions = (query) =>
  Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = query.get(field);
      return value ? [[field, value]] : [];
    }),
  );

/** @param {{ query: URLSearchParams, names: Names }} props */
export const AuditFilter = ({ query, names }) => {
  const choice = (field, label, options) => html`
    <${SelectField} label=${label} value=${query.get(field) ?? ''} onValue=${(value) => setQuery({ [field]: value })} options=${options} />
  `;
  return html`
    <form class="filter" role="search" aria-label="Audit log" onSubmit=${(event) => event.preventDefault()}>
      <div class="form-row">
        <${Typed} field="by" label="Person" value=${query.get('by') ?? ''} />
        ${names.keys.length > 0 && choice('key', 'Key', [ANY, ...names.keys])}
        ${choice('event', 'What', [ANY, ...EVENTS])}
        <${Typed} field="object" label="Object" value=${query.get('object') ?? ''} placeholder="Name" />
        ${choice('since', 'Time range', SINCE)}
      </div>
      ${Object.keys(auditConditions(query)).length > 0 && html`<div class="row"><${Button} tiny kind="quiet" icon="close" onClick=${() => setQuery(Object.fromEntries(FIELDS.map((field) => [field, undefined])))}>Clear filters<//></div>`}
    </form>
  `;
};
