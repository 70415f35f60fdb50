import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { ApiError, manage } from '../../api.js';
import { isUnavailable, useLive } from '../../data.js';
import { count, sentence } from '../../format.js';
import { keyName } from '../../names.js';
import { link, setQuery } from '../../router.js';
import { Button } from '../../ui/button.js';
import { LongList } from '../../ui/long-list.js';
import { useSelection } from '../../ui/selection.js';
import { Empty, Failed, Loading, Notice } from '../../ui/states.js';
import { Ago, Countdown } from '../../ui/time.js';
import { Action } from './action.js';
import { ExportRules } from './export-rules.js';
import { nameOf } from './tabs.js';

/** @param {URLSearchParams} query @returns {Sort | undefined} */
export function sortOf(query) {
  const by = query.get('sort');
  return by === null ? undefined : { by, descending: query.get('descending') === 'true' };
}

/** Cycles a column: ascending, descending, unsorted. @param {Sort | undefined} sort @param {string} by */
function sortBy(sort, by) {
  if (sort?.by !== by) setQuery({ sort: by, descending: undefined });
  else setQuery(sort.descending ? { sort: undefined, descending: undefined } : { descending: 'true' });
}

const keyOf = (/** @type {Rule} */ { id }) => id;

/**
 * @param {{ rules: Keyset, tab: RuleTab, conditions: Record<string, any>, isFiltered:
 *   boolean,
 * sort: Sort | undefined, names: Names, mayWrite: boolean, onAdd: () => void,
 * onRule: (rule: Rule) => void, onChange: (selection: RuleSelection) => void, onDelete: (selection: RuleSelection) => void }} props
 */
export function RuleList({ rules, tab, conditions, isFiltered, sort, names, mayWrite, onAdd, onRule, onChange, onDelete }) {
  const { isComplete, error, refresh, onSight } = rules;
  const name = JSON.stringify(conditions);
  // Keep the old rows until the new order arrives: focus stays.
  const before = useRef({ name, items: rules.items });
  if (rules.items !== undefined || before.current.name !== name) before.current = { name, items: rules.items };
  const { items } = before.current;
  const counted = useLive(isComplete && items !== undefined ? null : manage('/rules/count', conditions));
  const selected = useSelection(items ?? [], keyOf, name);
  const isFault = error instanceof ApiError && (error.faults.length > 0 || error.status === 404);
  if (isFault) return html`<p class="soft">Fix the filter to see rules.</p>`;
  // The shell shows an unavailable service.
  const failure = error !== undefined && isUnavailable(error) ? undefined : error;
  if (items === undefined)
    return failure !== undefined
      ? html`<${Failed} error=${failure} retry=${refresh} />`
      : error === undefined
        ? html`<${Loading} />`
        : html`<p class="soft">Not loaded yet.</p>`;
  if (items.length === 0 && !isComplete) return html`<${Loading} />`;
  if (items.length === 0)
    return isFiltered
      ? html`<${NoneFound} tab=${tab} />`
      : html`<${NoRules} tab=${tab} type=${conditions.type} mayWrite=${mayWrite} onAdd=${onAdd} />`;
  const isAccess = tab.kind === 'access_rule';
  const columns = isAccess ? accessColumns(names) : EXPRESSION_COLUMNS;
  const total = isComplete ? { rules: items.length, whole: true } : counted.value;
  return html`
    ${failure !== undefined && html`<${Notice} kind="warn">${sentence(failure.message)} Showing older data.<//>`}
    <div class="stack">
      <div class="list-head">
        <p class="small soft" role="status">${totalText(total, items.length)}${sort !== undefined && !isComplete && '; the order may be a minute old'}</p>
        <div class="row">
          ${isAccess && html`<${ExportRules} conditions=${conditions} />`}
          ${isFiltered && mayWrite && html`<${Button} tiny onClick=${() => onChange(conditions)}>Change these<//>`}
          ${isFiltered && mayWrite && html`<${Button} tiny kind="danger" icon="trash" onClick=${() => onDelete(conditions)}>Delete these<//>`}
        </div>
      </div>
      ${
        selected.keys.size > 0 &&
        html`<${SelectedBar} selected=${selected} total=${isFiltered ? total : undefined} onAll=${() => onChange(conditions)}
          onChange=${() => onChange(idsOf(selected, tab))} onDelete=${() => onDelete(idsOf(selected, tab))} />`
      }
      <${LongList}
        key=${tab.path} label="Rules" columns=${columns} rows=${items} keyOf=${keyOf} onRow=${onRule} onSight=${onSight}
        total=${isComplete ? items.length : -1} sort=${sort} onSort=${(by) => sortBy(sort, by)} selection=${mayWrite ? selected.of(nameOf) : undefined}
      />
    </div>
  `;
}

/** @param {Selected} selected @param {RuleTab} tab */
const idsOf = ({ keys }, { kind }) => ({ kind, ids: /** @type {number[]} */ ([...keys]) });

/** @param {{ rules: number, whole: boolean } | undefined} total @param {number} read */
function totalText(total, read) {
  if (total === undefined) return `First ${count(read)} rules; scroll for more`;
  const { rules, whole } = total;
  return `${whole ? '' : 'More than '}${count(rules)} ${rules === 1 ? 'rule' : 'rules'}`;
}

/** Ids per request. */
const MOST_IDS = 4000;

/**
 * @param {{ selected: Selected, total: { rules: number, whole: boolean } | undefined, onAll: () => void,
 *   onChange: () => void, onDelete: () => void }} props
 */
const SelectedBar = ({ selected: { keys, clear }, total, onAll, onChange, onDelete }) => html`
  <div class="selected-bar" role="group" aria-label="Selected rules">
    <strong role="status">${count(keys.size)} selected</strong>
    ${keys.size > MOST_IDS && html`<span class="small">Limit: ${count(MOST_IDS)} selected rules. Use a filter for more.</span>`}
    <${Button} tiny kind="main" disabled=${keys.size > MOST_IDS} onClick=${onChange}>Change<//>
    <${Button} tiny kind="danger" icon="trash" disabled=${keys.size > MOST_IDS} onClick=${onDelete}>Delete<//>
    ${total !== undefined && total.rules > keys.size && html`<${Button} tiny kind="quiet" onClick=${onAll}>Change all ${total.whole ? '' : 'at least '}${count(total.rules)} that match the filter<//>`}
    <${Button} tiny kind="quiet" icon="close" onClick=${clear}>Clear<//>
  </div>
`;

/** @param {{ tab: RuleTab }} props */
const NoneFound = ({ tab }) =>
  html`<${Empty} icon="search" title="No matching rules"><p>Remove a filter${tab.kind === 'access_rule' && ': an address alone finds the networks containing it'}.</p><//>`;

/** @type {Record<string, string>} */
const WRITERS = { custom: ' by a person or a playbook', generated: ' by AI' };

/**
 * @param {{ tab: RuleTab, type?: string, mayWrite: boolean, onAdd: () => void }} props `type`: who wrote those that
 *   were asked for.
 */
const NoRules = ({ tab, type, mayWrite, onAdd }) => html`
  <${Empty} icon="rules" title=${`No active ${tab.label} rules${WRITERS[type ?? ''] ?? ''}`}>
    <p>Send signals with POST /v1/signal or /v2/signal, or add one here.</p>
    ${mayWrite && html`<p><${Button} kind="main" icon="plus" onClick=${onAdd}>${tab.kind === 'access_rule' ? 'Block an address' : 'Add rule'}<//></p>`}
  <//>
`;

/** @type {LongColumn<Rule>} */
const CHANGED = {
  label: 'Changed',
  sort: 'changed',
  width: '6.5rem',
  number: true,
  secondary: true,
  cell: ({ updated_at: at }) => html`<${Ago} at=${at} />`,
};
/** @type {LongColumn<Rule>} */
const EXPIRES = {
  label: 'Expires in',
  sort: 'expires',
  width: '6.5rem',
  number: true,
  cell: ({ expires_at: until, repeated }) => html`<span title=${repeated}><${Countdown} until=${until} forever="never" /></span>`,
};

/** A large number as a power of two; none for a country or an ASN. @param {string} target */
function addressesText(target) {
  if (!/[.:]/.test(target)) return html`<span class="soft">–</span>`;
  const width = target.includes(':') ? 128 : 32;
  const bits = width - Number(target.split('/')[1] ?? width);
  return bits > 32 ? html`2<sup>${bits}</sup>` : count(2 ** bits);
}

/** @param {Names} names @returns {LongColumn<Rule>[]} */
const accessColumns = (names) => [
  { label: 'Target', sort: 'target', width: 'minmax(9rem, 1.4fr)', cell: ({ target }) => html`<bdi class="mono">${target}</bdi>` },
  { label: 'Action', sort: 'action', width: '4.5rem', cell: ({ action }) => html`<${Action} action=${action} />` },
  {
    label: 'Addresses',
    sort: 'size',
    width: '6rem',
    number: true,
    secondary: true,
    cell: ({ target = '' }) => addressesText(target),
  },
  {
    label: 'List',
    sort: 'list',
    width: 'minmax(5rem, 0.8fr)',
    secondary: true,
    cell: ({ list_id: id }) => html`<a href=${link('/feeds', 'list', id ?? '')} tabindex="-1"
      onClick=${(event) => event.stopPropagation()}><bdi>${names.listName(id)}</bdi></a>`,
  },
  {
    label: 'Reason',
    sort: 'reason',
    width: 'minmax(6rem, 2fr)',
    secondary: true,
    cell: ({ reason, name }) => html`<bdi>${reason ?? name ?? ''}</bdi>`,
  },
  {
    label: 'Sent by',
    sort: 'key',
    width: 'minmax(5rem, 0.8fr)',
    secondary: true,
    cell: (rule) => html`<bdi class="soft">${rule.actor ?? keyName(rule)}</bdi>`,
  },
  CHANGED,
  EXPIRES,
];

/** @type {LongColumn<Rule>[]} */
const EXPRESSION_COLUMNS = [
  {
    label: 'Order',
    sort: 'order',
    width: '4rem',
    number: true,
    cell: ({ order }) => (order === null || order === undefined ? html`<span class="soft">–</span>` : count(order)),
  },
  {
    label: 'Rule',
    sort: 'name',
    width: 'minmax(6rem, 1fr)',
    cell: ({ name, rule_ref: ref, warning }) =>
      html`<bdi>${name ?? ref}</bdi>${warning !== undefined && html` <span class="badge warn">warning</span>`}`,
  },
  { label: 'Action', sort: 'action', width: '5.5rem', cell: ({ action }) => html`<${Action} action=${action} />` },
  {
    label: 'Expression',
    width: 'minmax(8rem, 2.5fr)',
    secondary: true,
    cell: ({ expression }) => html`<bdi class="mono">${expression}</bdi>`,
  },
  CHANGED,
  { ...EXPIRES, secondary: true },
];
