import { html } from 'htm/preact';
import { allPages, ask, manage } from '../../api.js';
import { useLive, useLiveWork } from '../../data.js';
import { count, counted } from '../../format.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Card } from '../../ui/card.js';
import { Loaded } from '../../ui/states.js';

/** ms: both answers read all rules. */
const EVERY = 300_000;

/** @typedef {{ name: string, number: number, query?: Record<string, string> | false }} Bar `query`: conditions of its rules. */

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
          <${Bars} bars=${most.map(({ reason, rules: number }) => ({ name: reason, number, query: { reason } }))} none="No rule has a reason." />
          ${!whole && html`<p class="small soft">From ${count(rules)} rules; there are more.</p>`}`}<//>
      <//>
      <${Card} title="Top keys" note="Entries of the workspace's feed, before merging.">
        <${Loaded} live=${measure}>${({ measure: { by_key: byKey, of_rules: of, rules, action }, keys }) =>
          byKey === null
            ? html`<p class="soft">Not counted: this workspace has used its counting time. The next attempt follows in 5 minutes.</p>`
            : html`
              <${Bars} bars=${byKey.largest.map(({ name, entries: number }) => ({ name, number, query: keys.includes(name) && { key: name, action } }))} none="No entries." />
              ${byKey.others.count > 0 && html`<p class="small soft">${counted(byKey.others.count, 'other')}: ${count(byKey.others.entries)}</p>`}
              ${of !== null && html`<p class="small soft">From the newest ${count(of)} of ${counted(rules, 'rule')}.</p>`}`}<//>
      <//>
      <${Card} title="Top countries and ASNs" note="Networks of country and ASN rules.">
        <${Loaded} live=${measure}>${({ measure: { costs, action } }) =>
          html`<${Bars} bars=${costs.map(({ name, networks: number }) => ({ name, number, query: { address: targetOf(name), match: 'exact', action } }))} none="No country or ASN rules." />`}<//>
      <//>
    </div>
  `;
}

/** Such as `country NL`, `AS64500`. @param {string} name */
const targetOf = (name) => name.split(' ').at(-1) ?? name;

/** @param {{ bars: readonly Bar[], none: string }} props */
function Bars({ bars, none }) {
  if (bars.length === 0) return html`<p class="soft">${none}</p>`;
  const most = Math.max(...bars.map(({ number }) => number));
  return html`
    <ul class="full-feeds">
      ${bars.map(
        ({ name, number, query }) => html`
          <li key=${name}>
            ${query ? html`<a class="text" title=${name} href=${`${link('/rules/access')}?${new URLSearchParams(query)}`}>${name}</a>` : html`<span class="text">${name}</span>`}
            <span class="number">${count(number)}</span>
            <div class="gauge"><svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect width=${(number / most) * 100} height="6" /></svg></div>
          </li>
        `,
      )}
    </ul>
  `;
}
