import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api.js';
import { useKeyset } from '../keyset.js';
import { useNames } from '../names.js';
import { link, useDo } from '../router.js';
import { may } from '../session.js';
import { Button } from '../ui/button.js';
import { later, useAhead } from '../ui/later.js';
import { PageHead } from '../ui/page-head.js';
import { Tabs } from '../ui/tabs.js';
import { conditionsOf, isNarrow, RuleFilter } from './rules/filter.js';
import { RuleList, sortOf } from './rules/rule-list.js';
import { RULE_TABS, RULE_TYPES } from './rules/tabs.js';

const LIMIT = 500;
/** Order of access rules without another one. @type {Sort} */
const NEWEST = { by: 'changed', descending: true };

const openedForms = () => import('./rules/opened.js');
const Opened = later(openedForms, 'Opened');

/** @param {PageProps} props */
export function Page({ session, place }) {
  const [open, setOpen] = useState(/** @type {RulesForm | undefined} */ (undefined));
  const names = useNames(session);
  const tab = RULE_TABS.find(({ path }) => path === place.parts[0]) ?? RULE_TABS[0];
  const isAccess = tab.kind === 'access_rule';
  const type = RULE_TYPES.find(({ path }) => path === place.parts[1]) ?? RULE_TYPES[0];
  const narrowing = conditionsOf(place.query, isAccess);
  const conditions = { kind: tab.kind, ...(!isAccess && { type: type.type }), ...narrowing };
  const [isHuge, setHuge] = useState(false);
  const [isFaulty, setFaulty] = useState(false);
  const sort = sortOf(place.query) ?? (isAccess && !isHuge ? NEWEST : undefined);
  const order = sort && { sort: sort.by, descending: sort.descending };
  const rules = useKeyset('/rules', 'rules', { ...conditions, ...order }, { limit: LIMIT, keyOf });

  // Too many rules to sort.
  const isRefused = sort === NEWEST && rules.error instanceof ApiError && rules.error.status === 409;
  useEffect(() => {
    if (isRefused) setHuge(true);
  }, [isRefused]);

  useDo(place, (name, text) => {
    if (name === 'report') setOpen({ name, text });
    if (name === 'block' || name === 'unblock' || name === 'paste') setOpen({ name });
  });
  useAhead(openedForms);
  const actions = isAccess ? accessActions(session, setOpen) : expressionActions(session, setOpen);
  return html`
    <${PageHead} title="Rules" actions=${actions}>${tab.about}<//>
    <div class="stack">
      <${Tabs} label="Kinds of rules"
        tabs=${RULE_TABS.map((each) => ({ href: link('/rules', each.path), label: each.label, current: each === tab }))} />
      ${
        !isAccess &&
        html`<${Tabs} label="Who wrote them"
          tabs=${RULE_TYPES.map((each) => ({ href: link('/rules', tab.path, each.path), label: each.label, current: each === type }))} />`
      }
    </div>
    <${RuleFilter} key=${tab.path} query=${place.query} isAccess=${isAccess} actions=${tab.actions} names=${names}
      faults=${faultsOf(rules.error)} onFaulty=${setFaulty} />
    ${
      isFaulty
        ? html`<p class="soft">Fix the filter to see rules.</p>`
        : html`<${RuleList} rules=${rules} tab=${tab} conditions=${given(conditions)} isFiltered=${isNarrow(narrowing)} sort=${sort} names=${names} mayWrite=${may(session, 'rules:write')}
      onRule=${(/** @type {Rule} */ rule) => setOpen({ name: 'rule', rule })} onAdd=${() => setOpen({ name: isAccess ? 'block' : 'add' })}
      onChange=${(/** @type {RuleSelection} */ selection) => setOpen({ name: 'edit', selection })} onDelete=${(/** @type {RuleSelection} */ selection) => setOpen({ name: 'delete', selection })} />`
    }
    ${open !== undefined && html`<${Opened} open=${open} onOpen=${setOpen} tab=${tab} type=${type.type} names=${names} session=${session} onDone=${rules.refresh} />`}
  `;
}

const keyOf = (/** @type {Rule} */ { id }) => id;
/** @param {Record<string, any>} conditions */
const given = (conditions) => Object.fromEntries(Object.entries(conditions).filter(([, value]) => value !== undefined));

/** @param {Session} session @param {(open: RulesForm) => void} open */
const accessActions = (session, open) =>
  may(session, 'rules:write') &&
  html`
    <${Button} onClick=${() => open({ name: 'report' })}>Paste report<//>
    <${Button} onClick=${() => open({ name: 'paste' })}>Paste list<//>
    <${Button} onClick=${() => open({ name: 'unblock' })}>Unblock<//>
    <${Button} kind="main" icon="plus" onClick=${() => open({ name: 'block' })}>Block or allow<//>
  `;

/** @param {Session} session @param {(open: RulesForm) => void} open */
const expressionActions = (session, open) => html`
  ${may(session, 'rules:write') && html`<${Button} onClick=${() => open({ name: 'order' })}>Change order<//>`}
  <${Button} onClick=${() => open({ name: 'try' })}>Test expression<//>
  ${may(session, 'rules:write') && html`<${Button} kind="main" icon="plus" onClick=${() => open({ name: 'add' })}>Add rule<//>`}
`;

/** @param {Error | undefined} error @returns {string[]} */
const faultsOf = (error) => {
  if (!(error instanceof ApiError)) return [];
  return error.faults.length > 0
    ? error.faults.map(({ field, message }) => `${field} ${message}`)
    : error.status === 404
      ? [error.message]
      : [];
};
