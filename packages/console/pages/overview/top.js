import { html } from 'htm/preact';
import { allPages, ask, manage } from '../../api.js';
import { useLive, useLiveWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Card } from '../../ui/card.js';
import { Bars } from '../../ui/gauge.js';
import { Loaded } from '../../ui/states.js';

/** ms: both answers read all rules. */
const EVERY = 300_000;

/** @param {{ session: Session }} props */
export function Top({ session }) {
  const reasons = useLive(manage('/rules/reasons', { kind: 'access_rule' }), { every: EVERY });
  const readsKeys = may(session, 'keys:write');
  const measure = useLiveWork(
    `top ${readsKeys}`,
    async () => {
      const [{ body }, keys] = await Promise.all([
        ask(manage('/measure'), { method: 'POST', body: {} }),
        readsKeys ? allPages('/keys', 'keys') : [],
      ]);
      return { measure: body.before, keys: keys.map(({ name }) => name) };
    },
    { every: EVERY },
  );
  return html`
    <div class="cards">
      <${Card} title="Top reasons" note="Active address rules.">
        <${Loaded} live=${reasons}>${({ reasons: most, rules, whole }) => html`
          <${Bars} bars=${most.map(({ reason, rules: number }) => ({ name: reason, number, href: rulesWith({ reason }) }))} none="No rule has a reason." />
          ${!whole && html`<p class="small soft">From ${count(rules)} rules; there are more.</p>`}`}<//>
      <//>
      <${Card} title="Top keys" note="Entries of the workspace's feed, before merging.">
        <${Loaded} live=${measure}>${({ measure: { by_key: byKey, of_rules: of, rules, action }, keys }) =>
          byKey === null
            ? html`<p class="soft">Not counted: this workspace has used its counting time. The next attempt follows in 5 minutes.</p>`
            : html`
              <${Bars} bars=${byKey.largest.map(({ name, entries: number }) => ({ name, number, href: keys.includes(name) && rulesWith({ key: name, action }) }))} none="No entries." />
              ${byKey.others.count > 0 && html`<p class="small soft">${counted(byKey.others.count, 'other')}: ${count(byKey.others.entries)}</p>`}
              ${of !== null && html`<p class="small soft">From the newest ${count(of)} of ${counted(rules, 'rule')}.</p>`}`}<//>
      <//>
      <${Card} title="Top countries and ASNs" note="Networks of country and ASN rules.">
        <${Loaded} live=${measure}>${({ measure: { costs, action } }) =>
          html`<${Bars} bars=${costs.map(({ name, networks: number }) => ({ name, number, href: rulesWith({ address: targetOf(name), match: 'exact', action }) }))} none="No country or ASN rules." />`}<//>
      <//>
    </div>
  `;
}

/** @param {Record<string, string>} query */
const rulesWith = (query) => `${link('/rules/access')}?${new URLSearchParams(query)}`;

/** Such as `country NL`, `AS64500`. @param {string} name */
const targetOf = (name) => name.split(' ').at(-1) ?? name;
