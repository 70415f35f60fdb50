import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { setQuery } from '../../router.js';
import { LEVELS } from '../../tables.js';
import { Button } from '../../ui/button.js';
import { SelectField } from '../../ui/field.js';
import { Typed } from '../../ui/typed.js';

const ANY = { value: '', label: 'Any' };
const CHOICES = [ANY, ...LEVELS];
/** @type {readonly Condition[]} */
const OF_TARGETS = [
  {
    field: 'target_kind',
    label: 'Target',
    options: [ANY, { value: 'ip', label: 'Address or network' }, { value: 'asn', label: 'ASN' }, { value: 'country', label: 'Country' }],
  },
  { field: 'confidence', label: 'Confidence', options: CHOICES },
  { field: 'severity', label: 'Severity', options: CHOICES },
];
/** @type {readonly Condition[]} */
const OF_ALL = [
  { field: 'reason', label: 'Reason', hint: 'Exact text.' },
  { field: 'label', label: 'Label', hint: 'name:value' },
  {
    field: 'since',
    label: 'Changed',
    options: [ANY, { value: '1h', label: 'Last hour' }, { value: '24h', label: 'Last day' }, { value: '7d', label: 'Last 7 days' }],
  },
  { field: 'key', label: 'Key', hint: 'Name or id of the key of the last change.' },
  { field: 'person', label: 'Person', hint: 'Name of the author of the last change.' },
  { field: 'batch', label: 'Batch', hint: 'Id of the batch of the last change.' },
];
/** The list's name in the URL where it is unique, else its id. @param {Names} names @param {string} id */
const namedList = ({ lists }, id) => {
  const list = lists.find((each) => each.id === id || each.name === id);
  return list === undefined || lists.some((each) => each !== list && each.name === list.name) ? id : list.name;
};

/** @param {Condition} condition @param {Names} names @returns {Condition} */
const withNames = (condition, { keys }) =>
  condition.field === 'key' && keys.length > 0 ? { field: 'key', label: 'Key', options: [ANY, ...keys] } : condition;

const MATCHES = [
  { value: 'covering', label: 'containing this' },
  { value: 'exact', label: 'exactly this' },
  { value: 'covered', label: 'inside this' },
];

/** @param {boolean} isAccess */
const fieldsOf = (isAccess) => [
  'action',
  ...(isAccess ? ['address', 'list', ...OF_TARGETS.map(({ field }) => field)] : []),
  ...OF_ALL.map(({ field }) => field),
];

/** @param {URLSearchParams} query @param {boolean} isAccess @returns {Record<string, string | undefined>} */
export function conditionsOf(query, isAccess) {
  const given = Object.fromEntries(fieldsOf(isAccess).map((field) => [field, query.get(field) ?? undefined]));
  const isNetwork = given.address !== undefined && /[.:]/.test(given.address);
  return { ...given, ...(given.address !== undefined && { match: isNetwork ? (query.get('match') ?? 'covering') : 'exact' }) };
}

/** @param {Record<string, string | undefined>} conditions */
export const isNarrow = (conditions) => Object.values(conditions).some((value) => value !== undefined);

/**
 * @param {{ query: URLSearchParams, isAccess: boolean, actions: readonly string[], names: Names,
 * faultOf: (field: string) => string | undefined }} props
 */
export function RuleFilter({ query, isAccess, actions, names, faultOf }) {
  const more = [...(isAccess ? OF_TARGETS : []), ...OF_ALL];
  const [isOpen, setOpen] = useState(() => more.some(({ field }) => query.has(field)));
  const clear = () => setQuery(Object.fromEntries([...fieldsOf(isAccess), 'match'].map((field) => [field, undefined])));
  const choice = (field, label, options) => html`
    <${SelectField} label=${label} value=${field === 'list' ? namedList(names, query.get(field) ?? '') : (query.get(field) ?? '')} onValue=${(value) => setQuery({ [field]: value })}
      options=${options} />
  `;
  const typed = (field, label, rest = {}) => html`
    <${Typed} key=${field} field=${field} label=${label} value=${query.get(field) ?? ''} fault=${faultOf(field)} ...${rest} />
  `;
  return html`
    <form class="filter" role="search" aria-label="Rules" onSubmit=${(event) => event.preventDefault()}>
      <div class="form-row">
        ${isAccess && typed('address', 'Address', { placeholder: '192.0.2.7, AS64500, NL' })}
        ${
          isAccess &&
          html`<${SelectField} label="Rules" value=${query.get('match') ?? 'covering'}
          onValue=${(value) => setQuery({ match: value })} options=${MATCHES} />`
        }
        ${isAccess && choice('list', 'List', [{ value: '', label: 'All lists' }, ...names.lists.map(({ id, name }) => ({ value: namedList(names, id), label: name }))])}
        ${choice('action', 'Action', [ANY, ...actions])}
      </div>
      ${
        isOpen &&
        html`<div class="form-row">${more.map((each) => withNames(each, names)).map(({ field, label, options, hint }) => (options === undefined ? typed(field, label, { hint }) : choice(field, label, options)))}</div>`
      }
      <div class="row">
        <${Button} tiny kind="quiet" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${isOpen ? 'Fewer filters' : 'More filters'}<//>
        ${isNarrow(conditionsOf(query, isAccess)) && html`<${Button} tiny kind="quiet" icon="close" onClick=${clear}>Clear filters<//>`}
      </div>
    </form>
  `;
}
