import { html } from 'htm/preact';
import { manage } from '../../api.js';
import { useLive } from '../../data.js';
import { link } from '../../router.js';
import { may } from '../../session.js';
import { Badge } from '../../ui/badge.js';
import { Card } from '../../ui/card.js';
import { Loaded, Notice } from '../../ui/states.js';

export function Webhooks() {
  const live = useLive(manage('/webhooks'));
  return html`
    <${Card} title="Webhooks" note="Receivers of alerts." actions=${html`<a class="small" href=${link('/webhooks')}>Change or test</a>`}>
      <${Loaded} live=${live}>${({ webhooks }) =>
        webhooks.length === 0
          ? html`<${Notice}>No webhooks yet.<//>`
          : html`<ul class="stack">${webhooks.map(
              ({ id, name, style }) => html`<li key=${id} class="row"><bdi class="text">${name}</bdi><${Badge}>${style}<//></li>`,
            )}</ul>`}<//>
    <//>
  `;
}

/** @param {{ people: string[], session: Session }} props */
export const Access = ({ people, session }) => html`
  <${Card} title="Access" note="Roles of identity-provider groups."
    actions=${html`<span class="row small">
      ${may(session, 'manage') && html`<a href=${link('/people')}>People</a>`}
      ${may(session, 'keys:write') && html`<a href=${link('/keys')}>Keys</a>`}
    </span>`}>
    ${
      people.length === 0
        ? html`<p class="soft">No group roles in this workspace. The service's settings may define some.</p>`
        : html`<ul class="stack">${people.map((row) => html`<li key=${row} class="mono text">${row}</li>`)}</ul>`
    }
  <//>
`;
